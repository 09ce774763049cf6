//! What a server container is: image, command, variables, ports and volume, as plain data.

use crate::names::ServerKind;

/// Ports of one server on 127.0.0.1, all chosen before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// Where workers connect: the runner's own listener, which the server advertises.
    pub link: u16,
    /// Host port behind the link, mapped to the server's client port.
    pub behind_link: u16,
    /// Host port of the observer, which goes straight to the server.
    pub observer: u16,
}

/// A container as data; images built here and upstream ones take exactly the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    pub kind: ServerKind,
    pub pin: String,
    /// `ackproof/kafka:4.3.1`.
    pub local_image: String,
    /// `apache/kafka:4.3.1`; a registry prefix may be put in front of it.
    pub upstream_image: String,
    pub command: Vec<String>,
    pub env: Vec<(String, String)>,
    /// (host port, container port), bound to 127.0.0.1.
    pub ports: Vec<(u16, u16)>,
    /// Path inside the container at which a labelled named volume keeps the data.
    pub data_path: String,
    /// What a line of its log says when that volume is full.
    pub full_disk: &'static [&'static str],
    /// The files that its software consists of, as words of a shell inside the image.
    pub contents: &'static str,
    /// Command inside the running container whose output names the software that runs, if the
    /// protocol does not.
    pub attest_command: Option<Vec<String>>,
}
