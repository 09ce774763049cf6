//! The one way to wait: a named condition, a deadline, and what was last seen when it ran out.
//! A probe comes in and is asked again and again; its value or a `WaitError` comes out.
//! It must never be used to let time pass: whoever waits names what must become true.

use std::future::Future;
use std::time::{Duration, Instant};

/// What a probe saw.
#[derive(Debug)]
pub enum Seen<T> {
    /// The condition holds.
    Done(T),
    /// It does not hold yet; what was seen instead, for the error.
    NotYet(String),
}

/// A condition that did not become true in time.
#[derive(Debug, Clone, thiserror::Error)]
#[error("waited {} ms for {what}; last seen: {last_seen}", waited.as_millis())]
pub struct WaitError {
    pub what: String,
    pub waited: Duration,
    pub last_seen: String,
}

/// Asks `probe` every `every` until it says `Done`, at most until `deadline`; it is always asked at
/// least once, and once more at the deadline. A probe that hangs is cut off at the deadline.
///
/// # Errors
/// When the deadline passes; the error says what was last seen.
pub async fn until<T, F, Fut>(
    what: &str,
    deadline: Instant,
    every: Duration,
    mut probe: F,
) -> Result<T, WaitError>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Seen<T>>,
{
    let started = Instant::now();
    let mut last_seen = String::from("nothing: the first look did not return");
    let error = |last_seen: String| WaitError {
        what: what.to_owned(),
        waited: started.elapsed(),
        last_seen,
    };
    loop {
        // A look may begin just before the deadline; it gets a moment to return.
        let patience = deadline.saturating_duration_since(Instant::now()) + every;
        match tokio::time::timeout(patience, probe()).await {
            Ok(Seen::Done(value)) => return Ok(value),
            Ok(Seen::NotYet(seen)) => last_seen = seen,
            Err(_) => return Err(error(format!("{last_seen} (a later look did not return)"))),
        }
        if Instant::now() >= deadline {
            return Err(error(last_seen));
        }
        tokio::time::sleep(every).await;
    }
}

/// One period of a clock that measures the runner itself (the health track); it waits for nothing.
pub fn tick(period: Duration) {
    std::thread::sleep(period);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_value_comes_out_once_the_condition_holds() {
        let mut looks = 0;
        let value = until("three looks", soon(), Duration::from_millis(1), || {
            looks += 1;
            let seen = if looks < 3 { Seen::NotYet(format!("{looks}")) } else { Seen::Done(looks) };
            async move { seen }
        })
        .await;
        assert_eq!(value.expect("reached"), 3);
    }

    #[tokio::test]
    async fn the_error_says_what_was_last_seen() {
        let error = until("rain", Instant::now(), Duration::from_millis(1), || async {
            Seen::<()>::NotYet(String::from("sun"))
        })
        .await
        .expect_err("never");
        assert!(error.to_string().contains("for rain; last seen: sun"), "{error}");
    }

    #[tokio::test]
    async fn a_probe_that_hangs_is_cut_off() {
        let error = until("an answer", Instant::now(), Duration::from_millis(1), || {
            std::future::pending::<Seen<()>>()
        })
        .await
        .expect_err("never");
        assert!(error.to_string().contains("did not return"), "{error}");
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }
}
