//! Whose TCP sockets go where, by the kernel's own tables.
//! A process id comes in; the remote addresses of its connected sockets come out.
//! It must never trust a worker's word, nor a port number alone: the inode ties socket to process.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Remote ends of the connected TCP sockets of a process. Empty if the process is gone.
pub fn remotes_of(pid: u32) -> Vec<SocketAddr> {
    let inodes = socket_inodes(pid);
    let mut remotes = Vec::new();
    for table in ["tcp", "tcp6"] {
        let path = format!("/proc/{pid}/net/{table}");
        let Ok(text) = fs::read_to_string(path) else { continue };
        remotes.extend(
            text.lines()
                .skip(1)
                .filter_map(parse_line)
                .filter(|(inode, _)| inodes.contains(inode))
                .map(|(_, remote)| remote),
        );
    }
    remotes
}

fn socket_inodes(pid: u32) -> BTreeSet<u64> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return BTreeSet::new() };
    entries
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|target| {
            let name = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned();
            name.parse().ok()
        })
        .collect()
}

/// One line of `/proc/net/tcp`: its inode and remote address, if it is connected somewhere.
fn parse_line(line: &str) -> Option<(u64, SocketAddr)> {
    /// States in which no peer is at the other end.
    const LISTEN: &str = "0A";
    const CLOSED: &str = "07";
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (remote, state, inode) = (fields.get(2)?, fields.get(3)?, fields.get(9)?);
    if *state == LISTEN || *state == CLOSED {
        return None;
    }
    Some((inode.parse().ok()?, parse_address(remote)?))
}

fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words = address
        .as_bytes()
        .chunks(8)
        .map(|chunk| u32::from_str_radix(std::str::from_utf8(chunk).ok()?, 16).ok())
        .collect::<Option<Vec<u32>>>()?;
    let address = match words.as_slice() {
        [word] => IpAddr::V4(Ipv4Addr::from(word.to_ne_bytes())),
        [a, b, c, d] => {
            let mut bytes = [0; 16];
            for (slot, word) in bytes.chunks_mut(4).zip([a, b, c, d]) {
                slot.copy_from_slice(&word.to_ne_bytes());
            }
            let address = Ipv6Addr::from(bytes);
            address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4)
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn our_own_connection_is_seen_and_a_listener_is_not() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("bound");
        let address = listener.local_addr().expect("address");
        let before = remotes_of(std::process::id());
        assert!(!before.contains(&address), "a listener is no connection");
        let _stream = TcpStream::connect(address).expect("connected");
        assert!(remotes_of(std::process::id()).contains(&address));
    }

    #[test]
    fn lines_that_are_no_sockets_are_skipped() {
        for line in ["", "sl local_address", "0: 0100007F:1F90 zz:1F90 01 0 0 0 0 0 7"] {
            assert!(parse_line(line).is_none(), "{line}");
        }
    }
}
