//! Plain HTTP, as far as requests to a server on this machine need it.

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

/// How long [`try_ask`] waits for an answer.
const SILENCE: Duration = Duration::from_secs(10); // Who asks asks again.

/// Sends a request, such as `GET /health`, and returns the answer with its head.
///
/// # Panics
///
/// If the server does not answer.
#[must_use]
pub fn ask(url: &str, request: &str, body: &str) -> String {
    let host = url.strip_prefix("http://").unwrap();
    exchange(host, request, body, None).unwrap()
}

/// Sends a request as [`ask`] does. Returns `None` if there is no answer within 10 s.
#[must_use]
pub fn try_ask(url: &str, request: &str, body: &str) -> Option<String> {
    let host = url.strip_prefix("http://")?;
    exchange(host, request, body, Some(SILENCE)).ok()
}

/// Returns the status and the body of a GET at `host:port`; `None` if the server does not answer.
#[must_use]
pub fn get(address: &str, path: &str) -> Option<(u16, String)> {
    let answer = exchange(address, &format!("GET {path}"), "", None).ok()?;
    let status = answer.split_whitespace().nth(1)?.parse().ok()?;
    let body = answer.split_once("\r\n\r\n")?.1.to_owned();
    Some((status, body))
}

/// Sends a request to `host:port` and returns the answer with its head. With a time, it is an error if nothing arrives
/// for that long.
pub(crate) fn exchange(
    host: &str,
    request: &str,
    body: &str,
    time: Option<Duration>,
) -> io::Result<String> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(time)?;
    let length = body.len();
    // HTTP/1.0: the answer has no chunks and ends with the connection.
    write!(
        stream,
        "{request} HTTP/1.0\r\nhost: {host}\r\naccept: application/json\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Returns the JSON of an answer.
#[must_use]
pub fn json(answer: &str) -> Option<serde_json::Value> {
    let (_, body) = answer.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}

/// Returns whether the answer has this status.
#[must_use]
pub fn has_status(answer: &str, status: u16) -> bool {
    let line = answer.lines().next().unwrap_or_default();
    line.split(' ').nth(1) == Some(status.to_string().as_str())
}
