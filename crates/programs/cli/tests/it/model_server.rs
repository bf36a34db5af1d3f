//! A server of Chat Completions that streams its answers as the test wants them.

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};

use neuron_patience::patience;
use serde_json::{Value, json};

use crate::support::Home;

/// A part of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// More text.
    Text(&'static str),
    /// A call of `bash` with this command, which ends the answer.
    Bash(&'static str),
    /// Nothing, until the test calls [`ModelServer::go_on`].
    Wait,
    /// The end of the answer.
    End,
    /// The end of the connection.
    Cut,
    /// Nothing, until the client disconnects.
    Hang,
}

#[derive(Default)]
struct State {
    answers: VecDeque<Vec<Part>>,
    bodies: Vec<Value>,
    /// How many continuations of the test no answer has used yet.
    going_on: usize,
    /// How often the client disconnected while an answer hung.
    left: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Serves on a port of its own until the test process ends.
pub(crate) struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl ModelServer {
    /// Starts a server. The n-th request is answered with the n-th of these.
    pub(crate) fn start(answers: impl IntoIterator<Item = Vec<Part>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        shared.lock().answers.extend(answers);
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let server = Arc::clone(&server);
                // The client may disconnect at any time: that is what the tests are about.
                thread::spawn(move || stream.and_then(|stream| server.serve(stream)).ok());
            }
        });
        Self { address, shared }
    }

    /// Returns a directory whose agent `default` asks this server, and has `bash`.
    pub(crate) fn home(&self) -> Home {
        let home = Home::new();
        home.write(
            "neuron.toml",
            &format!(
                "[providers.fake]\nkind = \"openai-chat\"\nbase_url = {:?}\n\n\
                 [agents.default]\nmodel = \"fake/fake-1\"\ntools = [\"bash\"]\n\n\
                 [agents.default.retry]\ninitial = \"10ms\"\n", // Only so that it does not take long.
                self.url()
            ),
        );
        home
    }

    /// Returns the URL of its API.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn go_on(&self) {
        self.shared.lock().going_on += 1;
        self.shared.changed.notify_all();
    }

    /// Returns whether each request asked for a stream.
    pub(crate) fn streamed(&self) -> Vec<bool> {
        let bodies = &self.shared.lock().bodies;
        bodies.iter().map(|body| body["stream"] == true).collect()
    }

    /// Returns the requests that it got.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.shared.lock().bodies.clone()
    }

    pub(crate) fn left(&self) -> usize {
        self.shared.lock().left
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        let Some(body) = receive(&mut reader)? else {
            return Ok(());
        };
        let mut stream = reader.into_inner();
        let is_streamed = body["stream"] == true;
        let parts = {
            let mut state = self.lock();
            state.bodies.push(body);
            state.answers.pop_front().unwrap_or_default()
        };
        if is_streamed {
            self.stream(&mut stream, parts)
        } else {
            let text: String = parts.iter().filter_map(Part::text).collect();
            let answer = json!({
                "id": "a1", "object": "chat.completion", "created": 1, "model": "fake-1",
                "choices": [{
                    "index": 0,
                    "message": { "role": "assistant", "content": text },
                    "finish_reason": "stop",
                }],
            })
            .to_string();
            let length = answer.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {length}\r\n\r\n{answer}"
            )
        }
    }

    fn stream(&self, stream: &mut TcpStream, parts: Vec<Part>) -> io::Result<()> {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )?;
        for part in parts {
            match part {
                Part::Text(text) => chunk(stream, &json!({ "content": text }), None)?,
                Part::Bash(command) => {
                    let call = json!({
                        "index": 0, "id": "c1", "type": "function",
                        "function": {
                            "name": "bash",
                            "arguments": json!({ "command": command }).to_string(),
                        },
                    });
                    chunk(stream, &json!({ "tool_calls": [call] }), None)?;
                    chunk(stream, &json!({}), Some("tool_calls"))?;
                    write!(stream, "data: [DONE]\n\n")?;
                }
                Part::Wait => {
                    let waits = |state: &mut State| state.going_on == 0;
                    let waited = self
                        .changed
                        .wait_timeout_while(self.lock(), patience(), waits);
                    let (mut state, timeout) = waited.unwrap();
                    if timeout.timed_out() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    state.going_on -= 1;
                }
                Part::End => {
                    chunk(stream, &json!({}), Some("stop"))?;
                    write!(stream, "data: [DONE]\n\n")?;
                }
                Part::Cut => return Ok(()),
                Part::Hang => {
                    // The request is complete, so this ends when the client disconnects.
                    io::copy(stream, &mut io::sink()).ok();
                    self.lock().left += 1;
                }
            }
        }
        Ok(())
    }
}

impl Part {
    fn text(&self) -> Option<&'static str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn chunk(stream: &mut TcpStream, delta: &Value, finish: Option<&str>) -> io::Result<()> {
    let chunk = json!({
        "id": "a1", "object": "chat.completion.chunk", "created": 1, "model": "fake-1",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    });
    write!(stream, "data: {chunk}\n\n")?;
    stream.flush()
}

fn receive(reader: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}
