//! Asking until there is an answer, and asking over HTTP.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use neuron_patience::patience;

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Asks until there is an answer.
///
/// # Panics
///
/// If there is none within [`patience`].
pub async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    let answer = tokio::time::timeout(patience(), asking).await;
    answer.expect("it happens in time")
}

/// An address of this machine that nobody listens at, as `host:port`.
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// The status and the body of a GET at `host:port`; `None` if nobody answers.
#[must_use]
pub fn http_get(address: &str, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    // HTTP/1.0: the answer ends with the connection.
    write!(stream, "GET {path} HTTP/1.0\r\nhost: {address}\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let status = answer.split_whitespace().nth(1)?.parse().ok()?;
    let body = answer.split_once("\r\n\r\n")?.1.to_owned();
    Some((status, body))
}
