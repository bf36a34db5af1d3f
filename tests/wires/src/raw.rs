//! A server that sends exactly these bytes, for faults that an HTTP library does not produce.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

/// The behavior of the server after it has sent its bytes.
#[derive(Debug)]
pub enum Then {
    /// Hangs up.
    Close,
    /// Sends nothing more and waits for the client to hang up.
    Hold(Watch),
}

/// Notifies a test of what its server has seen.
#[derive(Debug)]
pub struct Watch {
    /// A request has arrived.
    pub asked: oneshot::Sender<()>,
    /// The client has hung up.
    pub gone: oneshot::Sender<()>,
}

/// Holds the connection open, without a watch.
pub fn hold() -> Then {
    let (asked, _) = oneshot::channel();
    let (gone, _) = oneshot::channel();
    Then::Hold(Watch { asked, gone })
}

/// Answers the first request with `bytes`. Returns the server's base URL.
pub async fn serve(bytes: impl Into<Vec<u8>>, then: Then) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bytes = bytes.into();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_request(&mut socket).await;
        socket.write_all(&bytes).await.unwrap();
        if let Then::Hold(watch) = then {
            // A test that does not watch has dropped its receivers.
            let _unwatched = watch.asked.send(());
            let mut rest = Vec::new();
            let _end = socket.read_to_end(&mut rest).await;
            let _unwatched = watch.gone.send(());
        }
    });
    format!("http://{address}")
}

/// Reads a request to its end.
pub async fn read_request(socket: &mut TcpStream) {
    let mut seen = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = socket.read(&mut buffer).await.unwrap();
        seen.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&seen);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap()
            .parse()
            .unwrap();
        if body.len() >= length {
            return;
        }
    }
}
