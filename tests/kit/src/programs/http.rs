//! Plain HTTP, as much as asking a server on this machine needs.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

/// Sends a request, such as `GET /health`, and gives the answer with its head.
///
/// # Panics
///
/// If nobody answers.
#[must_use]
pub fn ask(url: &str, request: &str, body: &str) -> String {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    // HTTP/1.0: the answer ends with the connection.
    write!(
        stream,
        "{request} HTTP/1.0\r\nhost: {host}\r\naccept: application/json\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The JSON of an answer.
#[must_use]
pub fn json(answer: &str) -> Option<serde_json::Value> {
    let (_, body) = answer.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}

/// Whether the answer has this status.
#[must_use]
pub fn has_status(answer: &str, status: u16) -> bool {
    let line = answer.lines().next().unwrap_or_default();
    line.split(' ').nth(1) == Some(status.to_string().as_str())
}
