//! A model API whose every answer the test decides: its time, its status, or that it never arrives.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, BufRead, BufReader, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use neuron_patience::lag;
use serde_json::Value;

use crate::{chat, eventually};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Request {
    /// The number of the request, counted from 1.
    pub number: usize,
    /// When the request was complete.
    pub at: Instant,
    /// The path, with its query.
    pub path: String,
    /// The headers, their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Value,
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A whole answer.
    Answer {
        /// The status.
        status: u16,
        /// Headers besides the usual ones.
        headers: Vec<(String, String)>,
        /// The body.
        body: Value,
    },
    /// No answer, until the client disconnects.
    Hang,
    /// The connection is closed without an answer.
    Cut,
    /// The connection is closed in the middle of this body.
    Half(Value),
}

impl Reply {
    /// Returns a success with this body.
    #[must_use]
    pub fn ok(body: Value) -> Self {
        Self::status(200, body)
    }

    /// Returns an answer with this status and this body.
    #[must_use]
    pub fn status(status: u16, body: Value) -> Self {
        Self::Answer {
            status,
            headers: Vec::new(),
            body,
        }
    }

    /// Returns the same answer with another header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.into()));
        }
        self
    }
}

/// A server on a port of its own. Dropping it closes the port.
pub struct FakeModel {
    address: SocketAddr,
    shared: Arc<Shared>,
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

struct Shared {
    handler: Box<Handler>,
    requests: Mutex<Vec<Request>>,
    /// The number of requests.
    count: AtomicUsize,
    /// Whether requests are kept.
    keeps: bool,
    /// The number of requests whose client disconnected before the answer.
    left: AtomicUsize,
    closed: AtomicBool,
}

impl FakeModel {
    /// Starts a server whose answers `handler` returns. The handler is called on the request's own thread, so it may
    /// block.
    ///
    /// # Panics
    ///
    /// If no port is free.
    #[must_use]
    pub fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::serving(Box::new(handler), true)
    }

    /// Starts a server that discards each request after its answer: for so many requests that they would fill the
    /// memory.
    ///
    /// # Panics
    ///
    /// The panics of [`start`](Self::start).
    #[must_use]
    pub fn forgetful(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::serving(Box::new(handler), false)
    }

    /// Starts a server that gives these Chat Completions, one a turn, but leaves the first request of the last turn
    /// unanswered until the client disconnects.
    ///
    /// # Panics
    ///
    /// The panics of [`start`](Self::start).
    #[must_use]
    pub fn hanging_in_the_last(turns: Vec<Value>) -> Self {
        let has_hung = AtomicBool::new(false);
        Self::start(move |request| {
            let turn = chat::turn(&request.body);
            if turn == turns.len() && !has_hung.swap(true, Ordering::SeqCst) {
                return Reply::Hang;
            }
            Reply::ok(turns[turn - 1].clone())
        })
    }

    fn serving(handler: Box<Handler>, keeps: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            handler,
            requests: Mutex::default(),
            count: AtomicUsize::new(0),
            keeps,
            left: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        });
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if server.closed.load(Ordering::SeqCst) {
                    return;
                }
                let server = Arc::clone(&server);
                // The client may disconnect at any time: that is what many tests are about.
                thread::spawn(move || stream.and_then(|stream| server.serve(stream)).ok());
            }
        });
        Self { address, shared }
    }

    /// Returns its address, as `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Returns the address without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns every request so far, in the order of arrival.
    ///
    /// # Panics
    ///
    /// If a handler panicked.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Returns the bodies of every request so far.
    #[must_use]
    pub fn bodies(&self) -> Vec<Value> {
        self.requests()
            .into_iter()
            .map(|request| request.body)
            .collect()
    }

    /// Waits until this many requests arrived.
    pub fn reached(&self, count: usize) {
        eventually(&format!("request number {count}"), || {
            (self.requests().len() >= count).then_some(())
        });
    }

    /// Returns how many unanswered requests the client dropped.
    #[must_use]
    pub fn left(&self) -> usize {
        self.shared.left.load(Ordering::SeqCst)
    }

    /// Returns an agent file with one agent, which uses this server in the Chat Completions form and needs no key.
    /// `keys` are the agent's own; sub-tables may follow in them.
    #[must_use]
    pub fn agent_file(&self, keys: &str) -> String {
        format!(
            "[providers.fake]\nkind = \"openai-chat\"\nbase_url = \"{}/v1\"\n\n\
             [agents.default]\nmodel = \"fake/fake-1\"\n{keys}",
            self.url()
        )
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        // The connection wakes the thread that waits for connections.
        TcpStream::connect(self.address).ok();
    }
}

impl fmt::Debug for FakeModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeModel")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        let Some(request) = self.receive(&mut reader)? else {
            return Ok(());
        };
        let mut stream = reader.into_inner();
        let reply = (self.handler)(&request);
        thread::sleep(lag()); // Nothing, unless tests are to be disturbed.
        match reply {
            Reply::Answer {
                status,
                headers,
                body,
            } => {
                let body = body.to_string();
                stream.write_all(head(status, &headers, body.len()).as_bytes())?;
                stream.write_all(body.as_bytes())?;
            }
            Reply::Half(body) => {
                let body = body.to_string();
                let half = body.len() / 2;
                stream.write_all(head(200, &[], body.len()).as_bytes())?;
                stream.write_all(&body.as_bytes()[..half])?;
            }
            Reply::Hang => {
                // The client sends nothing more, so this ends when it disconnects.
                io::copy(&mut stream, &mut io::sink()).ok();
                self.left.fetch_add(1, Ordering::SeqCst);
            }
            Reply::Cut => {}
        }
        stream.shutdown(Shutdown::Both)
    }

    fn receive(&self, reader: &mut impl BufRead) -> io::Result<Option<Request>> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some(path) = line.split(' ').nth(1).map(str::to_owned) else {
            return Ok(None);
        };
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => {
                    headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
                }
                None => break,
            }
        }
        let length = headers.get("content-length").map_or("0", String::as_str);
        let mut body = vec![0; length.parse().map_err(io::Error::other)?];
        reader.read_exact(&mut body)?;
        let mut requests = self.requests.lock().unwrap();
        let request = Request {
            number: self.count.fetch_add(1, Ordering::SeqCst) + 1,
            at: Instant::now(),
            path,
            headers,
            body: serde_json::from_slice(&body)?,
        };
        if self.keeps {
            requests.push(request.clone());
        }
        Ok(Some(request))
    }
}

fn head(status: u16, headers: &[(String, String)], length: usize) -> String {
    let mut head = format!(
        "HTTP/1.1 {status} Fake\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {length}\r\n"
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head
}
