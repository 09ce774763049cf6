//! Which Kafka answers: no request names the software's version, so its jar does.
//! The output of `sha256sum` in the running container and an ApiVersions answer come in, an
//! attestation comes out. It must never take the pin for an answer.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::brokers::Attestation;
use crate::names::Grade;

/// Longest ApiVersions answer that is read; real ones have about 700 bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// Prints hash and path of the server's jars, from inside the container.
pub(super) fn command() -> Vec<String> {
    let script = "cd /opt/kafka/libs && sha256sum kafka_2.13-*.jar kafka-clients-*.jar";
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

/// Version and hash from the output of [`command`]; `Err` says what is wrong with it.
pub(super) fn from_jars(output: &str) -> Result<Attestation, String> {
    let mut servers = Vec::new();
    let mut clients = Vec::new();
    for line in output.lines() {
        let Some(jar) = jar_of(line) else { continue };
        match jar {
            Jar { server: true, .. } => servers.push(jar),
            _ => clients.push(jar),
        }
    }
    let [server] = servers.as_slice() else {
        let shown: String = output.chars().take(200).collect();
        return Err(format!("{} server jars in: {shown}", servers.len()));
    };
    if let Some(other) = clients.iter().find(|jar| jar.version != server.version) {
        return Err(format!("{} beside {}", other.name, server.name));
    }
    Ok(Attestation {
        version: server.version.to_owned(),
        grade: Grade::Artifact,
        artifact: Some(format!("{} sha256:{}", server.name, server.sha256)),
        plausibility: None,
    })
}

#[derive(Debug, PartialEq, Eq)]
struct Jar<'a> {
    server: bool,
    name: &'a str,
    version: &'a str,
    sha256: &'a str,
}

/// `<64 hex>  kafka_2.13-4.3.1.jar`, also with a path or `sha256sum`'s `*` before the name.
fn jar_of(line: &str) -> Option<Jar<'_>> {
    let (sha256, path) = line.trim().split_once(char::is_whitespace)?;
    let hex = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit());
    let name = path.trim().trim_start_matches('*').rsplit('/').next()?;
    let stem = name.strip_suffix(".jar")?;
    let (server, version) = match stem.strip_prefix("kafka_2.13-") {
        Some(version) => (true, version),
        None => (false, stem.strip_prefix("kafka-clients-")?),
    };
    let plain = version.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b));
    // `kafka_2.13-4.3.1-test.jar` and `-sources` are not the server.
    let named = ["-test", "-sources", "-javadoc", "-scaladoc"].iter().any(|x| version.ends_with(x));
    (hex && plain && !named && version.starts_with(|c: char| c.is_ascii_digit())).then_some(Jar {
        server,
        name,
        version,
        sha256,
    })
}

/// Asks for the API versions and sums them up: `api keys: 66, highest 92`.
pub(super) async fn api_versions(address: &str, limit: Duration) -> Result<String, String> {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(&REQUEST).await?;
        let size = stream.read_i32().await?;
        let size = usize::try_from(size).ok().filter(|size| *size <= MAX_ANSWER);
        let Some(size) = size else { return Ok(Vec::new()) };
        let mut answer = vec![0; size];
        stream.read_exact(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answer = timeout(limit, exchange)
        .await
        .map_err(|_| format!("no answer in {} ms", limit.as_millis()))?
        .map_err(|error| error.to_string())?;
    let keys = parse_answer(&answer).ok_or("the answer is no ApiVersions answer")?;
    let highest = keys.iter().max().copied().unwrap_or_default();
    Ok(format!("api keys: {}, highest {highest}", keys.len()))
}

/// ApiVersions (key 18) version 0, correlation id 7, client id `ackproof`.
const REQUEST: [u8; 22] =
    [0, 0, 0, 18, 0, 18, 0, 0, 0, 0, 0, 7, 0, 8, b'a', b'c', b'k', b'p', b'r', b'o', b'o', b'f'];

/// The API keys of an ApiVersions v0 answer, without its size field.
fn parse_answer(bytes: &[u8]) -> Option<Vec<i16>> {
    let short = |at: usize| Some(i16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if word(0)? != 7 || short(4)? != 0 {
        return None;
    }
    let count = usize::try_from(word(6)?).ok()?;
    if bytes.len() != 10 + count.checked_mul(6)? {
        return None;
    }
    (0..count).map(|i| short(10 + 6 * i)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn line(name: &str) -> String {
        format!("{}  {name}\n", "0a".repeat(32))
    }

    #[test]
    fn the_server_s_jar_names_the_version() {
        let output = line("kafka_2.13-4.3.1.jar") + &line("kafka-clients-4.3.1.jar");
        let attestation = from_jars(&output).unwrap();
        assert_eq!(attestation.version, "4.3.1");
        assert_eq!(attestation.grade, Grade::Artifact);
        let artifact = attestation.artifact.unwrap();
        assert_eq!(artifact, format!("kafka_2.13-4.3.1.jar sha256:{}", "0a".repeat(32)));
        let rc = from_jars(&line("/opt/kafka/libs/kafka_2.13-4.4.0-rc1.jar")).unwrap();
        assert_eq!(rc.version, "4.4.0-rc1");
    }

    #[test]
    fn what_does_not_name_one_version_is_refused() {
        let two = line("kafka_2.13-4.3.1.jar") + &line("kafka_2.13-4.4.0.jar");
        let mixed = line("kafka_2.13-4.3.1.jar") + &line("kafka-clients-4.2.0.jar");
        let hashless = "deadbeef  kafka_2.13-4.3.1.jar\n".to_owned();
        let hostile = line("kafka_2.13-4.3.1\u{1b}[2J.jar");
        let tests = line("kafka_2.13-4.3.1-test.jar");
        let empty = String::new();
        let no_version = line("kafka_2.13-.jar");
        for output in [two, mixed, hashless, hostile, tests, empty, no_version] {
            assert!(from_jars(&output).is_err(), "{output:?}");
        }
    }

    #[test]
    fn api_versions_are_counted() {
        let mut bytes = vec![0, 0, 0, 7, 0, 0, 0, 0, 0, 2];
        bytes.extend([0, 1, 0, 0, 0, 9, 0, 68, 0, 0, 0, 1]);
        assert_eq!(parse_answer(&bytes), Some(vec![1, 68]));
    }

    #[test]
    fn another_answer_is_refused() {
        let good = [0, 0, 0, 7, 0, 0, 0, 0, 0, 0];
        assert_eq!(parse_answer(&good), Some(vec![]));
        let mut huge = good;
        huge[6] = 0x7f;
        let mut failed = good;
        failed[5] = 35;
        let mut other = good;
        other[3] = 8;
        for bytes in [&huge[..], &failed, &other, &good[..9], &[]] {
            assert_eq!(parse_answer(bytes), None, "{bytes:?}");
        }
        assert_eq!(usize::from(REQUEST[3]), REQUEST.len() - 4);
    }
}
