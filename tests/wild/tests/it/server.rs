use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use neuron_wires::raw::read_request;
use tokio::{io::AsyncWriteExt as _, net::TcpListener};

/// A server that gives every request the answer that was set last, and counts the requests.
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
