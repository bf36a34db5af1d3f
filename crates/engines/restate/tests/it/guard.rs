//! A guard in front of a server: it checks tokens, as a proxy does, and does not forward them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{self, AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

/// A proxy in front of one port of a server. Clones share its counts. It ends when it is dropped.
pub(crate) struct Guard {
    pub(crate) url: String,
    counts: Arc<Counts>,
    task: AbortHandle,
}

#[derive(Default)]
struct Counts {
    refused: AtomicUsize,
    shown: AtomicUsize,
    passed: AtomicUsize,
}

/// How it handles a request.
#[derive(Clone)]
struct Rule {
    /// `host:port` of the server.
    server: String,
    token: &'static str,
    refuses: Option<Refusal>,
}

/// The condition of a rejection. Without one, all requests pass as they are.
#[derive(Clone, Copy)]
enum Refusal {
    /// Requests without the token get this status. The others pass without it.
    Untrusted(u16),
    /// The first so many requests get this status.
    First(usize, u16),
}

impl Guard {
    /// Returns a guard that takes the token out of requests, and answers those without with this status.
    pub(crate) async fn demanding(token: &'static str, url: &str, status: u16) -> Self {
        Self::start(token, url, Some(Refusal::Untrusted(status))).await
    }

    /// Returns a guard that answers so many requests with this status, and lets all others pass.
    pub(crate) async fn refusing_first(count: usize, url: &str, status: u16) -> Self {
        Self::start("", url, Some(Refusal::First(count, status))).await
    }

    /// Returns a guard that demands nothing, and counts the tokens that it gets.
    pub(crate) async fn watching(token: &'static str, url: &str) -> Self {
        Self::start(token, url, None).await
    }

    async fn start(token: &'static str, url: &str, refuses: Option<Refusal>) -> Self {
        let rule = Rule {
            server: url.strip_prefix("http://").unwrap().to_owned(),
            token,
            refuses,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let counts = Arc::<Counts>::default();
        let shared = Arc::clone(&counts);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (rule, counts) = (rule.clone(), Arc::clone(&shared));
                // The client sees the result.
                tokio::spawn(async move { rule.answer(stream, &counts).await.ok() });
            }
        });
        Self {
            url,
            counts,
            task: task.abort_handle(),
        }
    }

    /// Returns how many requests it rejected.
    pub(crate) fn refused(&self) -> usize {
        self.counts.refused.load(Ordering::SeqCst)
    }

    /// Returns how many requests had any token.
    pub(crate) fn shown(&self) -> usize {
        self.counts.shown.load(Ordering::SeqCst)
    }

    /// Returns how many requests the server got.
    pub(crate) fn passed(&self) -> usize {
        self.counts.passed.load(Ordering::SeqCst)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Rule {
    /// Answers the one request of a connection.
    async fn answer(&self, mut stream: TcpStream, counts: &Counts) -> io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8(head).map_err(io::Error::other)?;
        let value = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        };
        let length = value("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let shown = value("authorization");
        counts
            .shown
            .fetch_add(usize::from(shown.is_some()), Ordering::SeqCst);
        let wanted = format!("Bearer {}", self.token);
        let refused = match self.refuses {
            Some(Refusal::Untrusted(status)) => (shown != Some(&wanted)).then_some(status),
            Some(Refusal::First(count, status)) => {
                (counts.refused.load(Ordering::SeqCst) < count).then_some(status)
            }
            None => None,
        };
        if let Some(status) = refused {
            counts.refused.fetch_add(1, Ordering::SeqCst);
            let answer =
                format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            return stream.write_all(answer.as_bytes()).await;
        }
        counts.passed.fetch_add(1, Ordering::SeqCst);
        let kept = head.trim_end().lines().filter(|line| {
            let is = |name: &str| line.to_ascii_lowercase().starts_with(name);
            let is_kept = !matches!(self.refuses, Some(Refusal::Untrusted(_)));
            !is("connection:") && (is_kept || !is("authorization:"))
        });
        let mut request: String = kept.flat_map(|line| [line, "\r\n"]).collect();
        request.push_str("connection: close\r\n\r\n");
        let mut server = TcpStream::connect(&self.server).await?;
        server.write_all(request.as_bytes()).await?;
        server.write_all(&body).await?;
        // The answer ends with the connection.
        io::copy(&mut server, &mut stream).await?;
        stream.shutdown().await
    }
}
