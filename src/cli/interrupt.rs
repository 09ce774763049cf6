//! Interruptions: the first SIGINT, SIGTERM or SIGHUP asks the program to end in good order.
//! Signals come in; a value that becomes true comes out, and stays readable.
//! It must never end the process itself: servers are removed and reports written first.

use tokio::sync::watch;

use super::output;

/// Becomes true at the first signal; what is being done is said on standard error.
pub fn on_signal(doing: &'static str) -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
            signal(SignalKind::hangup()),
        ) else {
            // Signals keep their default; a closed channel would look like one that came.
            return std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        output::message(&format!("interrupted: {doing} …"));
        let _ = sender.send(true);
        std::future::pending::<()>().await;
    });
    receiver
}
