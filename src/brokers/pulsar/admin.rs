//! Pulsar's admin REST interface: one request, one answer, nothing interpreted twice.
//! Path segments come in; status and text, or a parsed answer, come out.
//! It must never be given a path that creates a cursor, except `subscription` of a unit's own.

use std::time::{Duration, Instant};

use reqwest::{Client, Method, Response, StatusCode, Url, redirect};
use serde::de::DeserializeOwned;

use crate::brokers::{Answer, BrokerError};
use crate::names::BrokerKind;
use crate::wait::{self, Seen};

/// Bound of one request; the server's own admin timeouts are longer.
const REQUEST_LIMIT: Duration = Duration::from_secs(9);
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// How often something that is about to change is looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a topic may be nobody's: while its owner is looked up the server may redirect (307) to
/// the port that it knows of itself.
const OWNER_LIMIT: Duration = Duration::from_secs(8);
/// Longest part of an answer that is kept as text.
const SHOWN: usize = 200;

/// A client of `http://host:port/admin/v2`.
pub(super) struct Admin {
    base: Url,
    http: Client,
}

/// What the server said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub status: u16,
    pub text: String,
}

impl Reply {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A request to make something that was there already.
    pub fn made_or_there(&self) -> bool {
        self.is_success() || self.status == 409
    }

    /// `204`, or `404 Topic … not found`.
    pub fn shown(&self) -> String {
        let reason = serde_json::from_str::<Reason>(&self.text).map(|r| r.reason);
        let text = reason.unwrap_or_else(|_| self.text.clone());
        // Stack traces come as the reason; its message is enough.
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text: String = text.chars().take(SHOWN).collect();
        format!("{} {text}", self.status).trim_end().to_owned()
    }

    pub fn answer(&self, what: &str) -> Answer {
        Answer { text: format!("{what}: {}", self.shown()), holds: self.is_success() }
    }
}

#[derive(serde::Deserialize)]
struct Reason {
    reason: String,
}

impl Admin {
    /// `base` is `http://127.0.0.1:PORT`, without a path.
    pub fn new(base: &str) -> Result<Self, BrokerError> {
        let what = "make an admin client";
        let mut url = Url::parse(base).map_err(|e| trouble(what, &e))?;
        url.set_path("/admin/v2");
        if url.cannot_be_a_base() {
            return Err(trouble(what, &format!("{base} is no base address")));
        }
        let http = Client::builder()
            // Proxies of the user's environment know nothing of a server on this machine.
            .no_proxy()
            // A redirect names the server's own port (8080), where on this host anything else
            // may listen.
            .redirect(redirect::Policy::none())
            // The server closes idle connections, at times just as the next request is sent on one;
            // on this machine a new one costs nothing.
            .pool_max_idle_per_host(0)
            .timeout(REQUEST_LIMIT)
            .connect_timeout(CONNECT_LIMIT)
            .build()
            .map_err(|e| trouble(what, &e))?;
        Ok(Self { base: url, http })
    }

    /// Each segment is escaped, so that no name can reach another path.
    fn url(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// The server's answer, which is never a redirect to itself.
    pub async fn response(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&str>,
    ) -> Result<Response, BrokerError> {
        let what = format!("{method} {}", path.join("/"));
        let url = self.url(path, query);
        let waited = format!("an owner for {what}");
        wait::until(&waited, Instant::now() + OWNER_LIMIT, LOOK_EVERY, || async {
            let mut request = self.http.request(method.clone(), url.clone());
            if let Some(body) = body {
                request = request.header("content-type", "application/json").body(body.to_owned());
            }
            match request.send().await.map_err(|e| trouble(&what, &with_causes(&e))) {
                Ok(response) if response.status() == StatusCode::TEMPORARY_REDIRECT => {
                    Seen::NotYet(String::from("redirected: no broker owns it"))
                }
                answered => Seen::Done(answered),
            }
        })
        .await
        .map_err(|e| trouble(&what, &e.to_string()))?
    }

    pub async fn call(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&str>,
    ) -> Result<Reply, BrokerError> {
        reply(self.response(method, path, &[], body).await?).await
    }

    /// `None` for 404, an error for every other answer that is no success.
    pub async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Option<T>, BrokerError> {
        let what = format!("GET {}", path.join("/"));
        let reply = reply(self.response(Method::GET, path, query, None).await?).await?;
        if reply.status == 404 {
            return Ok(None);
        }
        if !reply.is_success() {
            return Err(trouble(&what, &reply.shown()));
        }
        serde_json::from_str(&reply.text).map(Some).map_err(|e| trouble(&what, &e))
    }
}

pub(super) async fn reply(response: Response) -> Result<Reply, BrokerError> {
    let status = response.status().as_u16();
    let text = response.text().await.map_err(|e| trouble("read an answer", &with_causes(&e)))?;
    Ok(Reply { status, text })
}

/// reqwest's own text leaves out why (refused, reset, timed out).
pub(super) fn with_causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

pub(super) fn trouble(what: &str, detail: &(impl std::fmt::Display + ?Sized)) -> BrokerError {
    BrokerError { broker: BrokerKind::Pulsar, what: what.to_owned(), detail: detail.to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn no_name_reaches_another_path() {
        let admin = Admin::new("http://127.0.0.1:1").unwrap();
        let url = admin.url(&["persistent", "a/../b", "c?d#e", "ü %"], &[("x", "1&y=2")]);
        assert_eq!(
            url.as_str(),
            "http://127.0.0.1:1/admin/v2/persistent/a%2F..%2Fb/c%3Fd%23e/%C3%BC%20%25?x=1%26y%3D2"
        );
    }

    #[test]
    fn what_is_no_base_is_refused() {
        for base in ["", "127.0.0.1:8080", "mailto:x"] {
            assert!(Admin::new(base).is_err(), "{base:?}");
        }
    }

    /// A server that first points at its own port and then answers.
    #[test]
    fn a_redirect_is_not_followed_but_asked_again() {
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let location = format!("http://{}/", elsewhere.local_addr().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let moved = format!("307 Temporary Redirect\r\nLocation: {location}");
            for (status, body) in [(moved.as_str(), ""), ("200 OK", "4.2.4")] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 4096];
                assert!(stream.read(&mut request).unwrap() > 0);
                let length = body.len();
                let head = format!("Content-Length: {length}\r\nConnection: close");
                write!(stream, "HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}").unwrap();
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reply = runtime.block_on(async {
            let admin = Admin::new(&base).unwrap();
            admin.call(Method::GET, &["brokers", "version"], None).await.unwrap()
        });
        assert_eq!(reply, Reply { status: 200, text: "4.2.4".to_owned() });
        server.join().unwrap();
        assert!(elsewhere.accept().is_err(), "nobody went elsewhere");
    }

    #[test]
    fn answers_are_shown_in_the_server_s_words() {
        let reply = |status, text: &str| Reply { status, text: text.to_owned() };
        assert_eq!(reply(204, "").shown(), "204");
        assert_eq!(
            reply(404, r#"{"reason":"Topic x not found"}"#).shown(),
            "404 Topic x not found"
        );
        assert_eq!(reply(500, "<html>\n\n oh").shown(), "500 <html> oh");
        assert!(reply(500, &"x".repeat(5000)).shown().len() < 210);
        assert!(reply(409, "").made_or_there() && !reply(409, "").is_success());
        assert!(!reply(412, "").made_or_there());
    }
}
