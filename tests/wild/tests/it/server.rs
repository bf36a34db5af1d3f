use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// A server that gives every request the answer that it was told last, and counts them.
pub(crate) struct Server {
    pub(crate) url: String,
    answer: Arc<Mutex<Vec<u8>>>,
    requests: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = Self {
            url,
            answer: Arc::default(),
            requests: Arc::default(),
        };
        let (answer, requests) = (Arc::clone(&server.answer), Arc::clone(&server.requests));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                read_request(&mut socket).await;
                requests.fetch_add(1, Ordering::SeqCst);
                let answer = answer.lock().unwrap().clone();
                // A client that has read enough may be gone.
                let _gone = socket.write_all(&answer).await;
            }
        });
        server
    }

    pub(crate) fn answer(&self, status: u16, headers: &BTreeMap<String, String>, body: &[u8]) {
        let mut head = format!("HTTP/1.1 {status} -\r\nconnection: close\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        *self.answer.lock().unwrap() = [head.as_bytes(), body].concat();
    }

    /// How many requests came since this was asked last.
    pub(crate) fn requests(&self) -> usize {
        self.requests.swap(0, Ordering::SeqCst)
    }
}

async fn read_request(socket: &mut TcpStream) {
    let mut seen = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let count = socket.read(&mut buffer).await.unwrap();
        seen.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&seen);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let mut lengths = head
            .lines()
            .filter_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= lengths.next().unwrap().parse().unwrap() {
            return;
        }
    }
}
