//! One topic of a unit on Pulsar: its shape, its statistics, and its entries one by one.
//! A name like `public/u-1/orders` comes in; statistics and log entries come out.
//! It must never read through a cursor: entries are fetched by ledger and entry id.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::Method;

use super::admin::{Admin, reply, trouble, with_causes};
use super::entry::{self, EntryHead};
use super::stats::{Internal, Partitioned, Stats};
use crate::brokers::BrokerError;
use crate::evidence::cursor::EntryId;
use crate::evidence::event::LogEntry;
use crate::names::TopicRole;
use crate::wait::{self, Seen};

/// Entries that are asked for at once; the server has eight HTTP threads.
const AT_ONCE: usize = 4;
/// After this part of a read no entry is asked for again.
const RETRY_LIMIT: Duration = Duration::from_secs(30);
/// How often it is asked for again until then.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What the server says of a topic's existence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Absent,
    Plain,
    Partitioned(u32),
}

/// A topic under its logical name.
pub(super) struct Topic<'a> {
    admin: &'a Admin,
    name: &'a str,
}

impl<'a> Topic<'a> {
    pub fn new(admin: &'a Admin, name: &'a str) -> Self {
        Self { admin, name }
    }

    /// `persistent/public/u-1/orders/…`.
    pub fn path<'b>(&'b self, rest: &[&'b str]) -> Vec<&'b str> {
        path_of(self.name, rest)
    }

    pub async fn shape(&self) -> Result<Shape, BrokerError> {
        Ok(match (self.stats_of(self.name).await?, self.partitions().await?) {
            (_, partitions @ 1..) => Shape::Partitioned(partitions),
            (Some(_), 0) => Shape::Plain,
            (None, 0) => Shape::Absent,
        })
    }

    /// 0 for a topic without partitions, and for none at all (4.2 says 404 there, 4.0 says 0).
    async fn partitions(&self) -> Result<u32, BrokerError> {
        let found: Option<Partitioned> = self.admin.get(&self.path(&["partitions"]), &[]).await?;
        Ok(found.map_or(0, |found| found.partitions))
    }

    /// Physical names of the partitions, none for a topic without.
    async fn parts(&self) -> Result<Vec<String>, BrokerError> {
        let count = self.partitions().await?;
        Ok((0..count).map(|part| format!("{}-partition-{part}", self.name)).collect())
    }

    /// Statistics of every part; empty if the topic is absent.
    ///
    /// The topic itself is asked first: mostly it has no partitions, and gates ask often.
    pub async fn stats(&self) -> Result<Vec<Stats>, BrokerError> {
        let mut all: Vec<Stats> = self.stats_of(self.name).await?.into_iter().collect();
        if all.is_empty() {
            for part in self.parts().await? {
                all.extend(self.stats_of(&part).await?);
            }
        }
        Ok(all)
    }

    async fn stats_of(&self, part: &str) -> Result<Option<Stats>, BrokerError> {
        // Without it the backlog is an estimate after acknowledgments out of order.
        self.admin.get(&path_of(part, &["stats"]), &[("getPreciseBacklog", "true")]).await
    }

    /// Ledgers and cursors of every part with its physical name; empty if the topic is absent.
    pub async fn internal(&self) -> Result<Vec<(String, Internal)>, BrokerError> {
        let itself = self.internal_of(self.name).await?;
        let mut all: Vec<(String, Internal)> =
            itself.into_iter().map(|internal| (self.name.to_owned(), internal)).collect();
        if all.is_empty() {
            for part in self.parts().await? {
                let internal = self.internal_of(&part).await?;
                all.extend(internal.map(|internal| (part, internal)));
            }
        }
        Ok(all)
    }

    async fn internal_of(&self, part: &str) -> Result<Option<Internal>, BrokerError> {
        self.admin.get(&path_of(part, &["internalStats"]), &[]).await
    }

    /// Every message that the topic still holds, by partition and then in log order.
    pub async fn read(&self, role: TopicRole) -> Result<Vec<LogEntry>, BrokerError> {
        let deadline = Instant::now() + RETRY_LIMIT;
        let mut log = Vec::new();
        for (part, internal) in self.internal().await? {
            let ids = internal.entries().map_err(|e| trouble("read internalStats", &e))?;
            let part = part.as_str();
            let read: Vec<Vec<LogEntry>> = stream::iter(ids)
                .map(|id| self.entry(role, part, id, deadline))
                .buffered(AT_ONCE)
                .try_collect()
                .await?;
            log.extend(read.into_iter().flatten());
        }
        Ok(log)
    }

    /// One entry, asked for again while time is left: right after a crash of the server its
    /// storage may leave a first read without any answer.
    async fn entry(
        &self,
        role: TopicRole,
        part: &str,
        id: EntryId,
        deadline: Instant,
    ) -> Result<Vec<LogEntry>, BrokerError> {
        let what = format!("entry {}:{} of {part}", id.0, id.1);
        wait::until(&what, deadline, LOOK_EVERY, || async {
            match self.try_entry(role, part, id).await {
                Ok(messages) => Seen::Done(Ok(messages)),
                Err(Failure::Passing(error)) => Seen::NotYet(error.to_string()),
                Err(Failure::Lasting(error)) => Seen::Done(Err(error)),
            }
        })
        .await
        .map_err(|e| trouble("read an entry", &e.to_string()))?
    }

    async fn try_entry(
        &self,
        role: TopicRole,
        part: &str,
        (ledger, number): EntryId,
    ) -> Result<Vec<LogEntry>, Failure> {
        let wrong = |detail: String| {
            trouble("read an entry", &format!("{part} {ledger}:{number}: {detail}"))
        };
        let lasting = |detail: String| Failure::Lasting(wrong(detail));
        let (in_ledger, at) = (ledger.to_string(), number.to_string());
        let path = path_of(part, &["ledger", &in_ledger, "entry", &at]);
        let response =
            self.admin.response(Method::GET, &path, &[], None).await.map_err(Failure::Passing)?;
        let status = response.status();
        if !status.is_success() {
            let shown = reply(response).await.map_err(Failure::Passing)?.shown();
            let passing = status.is_server_error();
            return Err(if passing { Failure::Passing(wrong(shown)) } else { lasting(shown) });
        }
        let head = EntryHead::of(response.headers()).map_err(lasting)?;
        let body = response.bytes().await.map_err(|e| Failure::Passing(wrong(with_causes(&e))))?;
        entry::messages(role, self.name, (ledger, number), head, &body).map_err(lasting)
    }
}

/// Why an entry was not read, and so whether asking again can help.
enum Failure {
    Passing(BrokerError),
    Lasting(BrokerError),
}

fn path_of<'b>(topic: &'b str, rest: &[&'b str]) -> Vec<&'b str> {
    // Namespace and topic: the topic's own part may hold what it likes.
    let segments = topic.splitn(3, '/');
    ["persistent"].into_iter().chain(segments).chain(rest.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// Reads one entry from a server that gives these answers, one a connection, and then ends.
    fn read_entry(answers: &'static [(&str, &str)]) -> Result<usize, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for (status, body) in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 4096];
                assert!(stream.read(&mut request).unwrap() > 0);
                let length = body.len();
                let head = format!("Content-Length: {length}\r\nConnection: close");
                write!(stream, "HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}").unwrap();
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let admin = Admin::new(&base).unwrap();
            let topic = Topic::new(&admin, "public/u-1/orders");
            let deadline = Instant::now() + Duration::from_secs(2);
            let read = topic.entry(TopicRole::Source, topic.name, (3, 0), deadline).await;
            read.map(|messages| messages.len()).map_err(|error| error.to_string())
        })
    }

    #[test]
    fn what_passes_is_asked_again_and_what_lasts_is_not() {
        assert_eq!(read_entry(&[("500 Server Error", "{}"), ("200 OK", "x")]), Ok(1));
        // Asked again it would end with a refused connection.
        let error = read_entry(&[("404 Not Found", "{}")]).unwrap_err();
        assert!(error.contains("3:0: 404"), "{error}");
    }

    #[test]
    fn a_topic_s_path_has_its_three_parts() {
        assert_eq!(
            path_of("public/u-1/orders", &["stats"]),
            ["persistent", "public", "u-1", "orders", "stats"]
        );
        assert_eq!(path_of("a/b/c/d", &[]), ["persistent", "a", "b", "c/d"]);
    }
}
