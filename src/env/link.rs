//! A link: the runner's own TCP proxy, the only address of a server that workers ever learn.
//! Connections of workers come in; they go on, byte for byte, to the server behind it.
//! It must never change, drop or reorder a byte, and must keep half-closes and back-pressure.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::EnvError;

/// A listener bound before its server starts, because the server advertises its address.
#[derive(Debug)]
pub struct BoundLink {
    listener: TcpListener,
    port: u16,
}

/// A link that passes connections on, until it is dropped.
#[derive(Debug)]
pub struct Link {
    port: u16,
    counters: Arc<Counters>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Counters {
    connections: AtomicU64,
}

impl BoundLink {
    /// Binds a listener on 127.0.0.1 at this port; 0 lets the kernel choose a free one.
    ///
    /// # Errors
    /// When it cannot be bound.
    pub async fn bind(port: u16) -> Result<Self, EnvError> {
        let what = format!("cannot bind a link on 127.0.0.1:{port}");
        let error = |e: std::io::Error| EnvError::new(&what, e);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(error)?;
        let port = listener.local_addr().map_err(error)?.port();
        Ok(Self { listener, port })
    }

    /// The port that the server has to advertise.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts to pass connections on to 127.0.0.1 at `server`.
    pub fn open(self, server: u16) -> Link {
        let counters = Arc::new(Counters::default());
        let task = tokio::spawn(accept(self.listener, server, Arc::clone(&counters)));
        Link { port: self.port, counters, task }
    }
}

impl Link {
    /// Where workers connect.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> u64 {
        self.counters.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: u16, counters: Arc<Counters>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((worker, _)) => {
                    counters.connections.fetch_add(1, Ordering::Relaxed);
                    connections.spawn(pass(worker, server));
                }
                Err(error) => tracing::warn!(%error, "a link could not accept a connection"),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn pass(mut worker: TcpStream, server: u16) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server));
    // A server that is not there must look to the worker as it does without a link: closed.
    let Ok(mut upstream) = TcpStream::connect(address).await else { return };
    let _ = (worker.set_nodelay(true), upstream.set_nodelay(true));
    if let Err(error) = tokio::io::copy_bidirectional(&mut worker, &mut upstream).await {
        tracing::debug!(%error, "a connection on a link ended");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn bytes_pass_unchanged_and_half_closes_are_kept() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("bound");
        let port = server.local_addr().expect("address").port();
        let echo = tokio::spawn(async move {
            let (mut stream, _) = server.accept().await.expect("accepted");
            let mut all = Vec::new();
            // Reads to the end first: this hangs unless the half-close comes through.
            stream.read_to_end(&mut all).await.expect("read");
            stream.write_all(&all).await.expect("written");
        });
        let link = BoundLink::bind(0).await.expect("bound").open(port);
        let mut worker =
            TcpStream::connect((Ipv4Addr::LOCALHOST, link.port())).await.expect("connected");
        let sent: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        worker.write_all(&sent).await.expect("written");
        worker.shutdown().await.expect("half-closed");
        let mut back = Vec::new();
        worker.read_to_end(&mut back).await.expect("read");
        assert!(back == sent, "{} bytes of {} came back changed", back.len(), sent.len());
        assert_eq!(link.connections(), 1);
        echo.await.expect("echoed");
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_a_closed_connection() {
        let port = super::super::ports::Ports::new(None).free().expect("a port");
        let link = BoundLink::bind(0).await.expect("bound").open(port);
        let mut worker =
            TcpStream::connect((Ipv4Addr::LOCALHOST, link.port())).await.expect("connected");
        let mut buffer = [0; 1];
        // Closed or reset, but never an answer and never a hang.
        assert!(matches!(worker.read(&mut buffer).await, Ok(0) | Err(_)));
    }
}
