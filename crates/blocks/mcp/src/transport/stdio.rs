//! Messages over a server's standard input and output, one a line.

use std::{io, sync::Arc};

use neuron_types::read_json;
use rmcp::{
    RoleClient,
    model::ServerJsonRpcMessage,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::de::IgnoredAny;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader},
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::Mutex,
};
use tokio_util::sync::DropGuard;
use tracing::debug;

use crate::{
    transport::MAX_UNASKED,
    transport::awaited::Awaited,
    transport::incoming::{Incoming, read},
    transport::process::{Pipes, ServerProcess},
    wire::fault::Fault,
};

/// How many bytes that are no message a server may print between two messages: greetings, not floods.
const MAX_NOISE_BYTES: usize = 1024 * 1024;
/// How much of a line on standard error is kept.
const MAX_ERROR_LINE_BYTES: usize = 4096;

/// The client's side of a server that runs here. Ends the server when it is closed or dropped.
pub(crate) struct StdioTransport {
    server: String,
    process: ServerProcess,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    stdout: BufReader<ChildStdout>,
    /// What came of the line that is being read: a read may be given up and begun again.
    line: Vec<u8>,
    max_message_bytes: usize,
    awaited: Awaited,
    noise: usize,
    unasked: usize,
    fault: Fault,
}

impl StdioTransport {
    pub(crate) fn new(
        server: &str,
        process: ServerProcess,
        pipes: Pipes,
        max_message_bytes: usize,
        fault: Fault,
    ) -> Self {
        let silent = fault.listening().drop_guard();
        tokio::spawn(listen(
            server.to_owned(),
            pipes.stderr,
            fault.clone(),
            silent,
        ));
        Self {
            server: server.to_owned(),
            process,
            stdin: Arc::new(Mutex::new(Some(pipes.stdin))),
            stdout: BufReader::with_capacity(64 * 1024, pipes.stdout),
            line: Vec::new(),
            max_message_bytes,
            awaited: Awaited::default(),
            noise: 0,
            unasked: 0,
            fault,
        }
    }

    fn accept(&mut self, message: ServerJsonRpcMessage) -> Option<ServerJsonRpcMessage> {
        self.noise = 0;
        let id = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if id.is_some_and(|id| self.awaited.find(id).is_some()) {
            self.unasked = 0;
        } else {
            self.unasked += 1;
        }
        if let Some(id) = id {
            self.awaited.ends(id);
        }
        if self.unasked > MAX_UNASKED {
            let reason = format!("it sent {MAX_UNASKED} messages without answering anything");
            self.fault.broke_protocol(reason);
            return None;
        }
        Some(message)
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let stdin = Arc::clone(&self.stdin);
        self.awaited.sends(&item);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut stdin = stdin.lock().await;
            let Some(stdin) = stdin.as_mut() else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            stdin.write_all(&line).await?;
            stdin.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match read_line(&mut self.stdout, &mut self.line, self.max_message_bytes).await {
                Read::Line => {}
                Read::TooLong => {
                    let most = self.max_message_bytes;
                    let reason = format!("it sent a message of more than {most} bytes");
                    self.fault.broke_protocol(reason);
                    return None;
                }
                // What is whole is an answer, also without the end of its line. What breaks off is not an answer.
                Read::End if is_whole(&self.line) => {}
                Read::End => return None,
            }
            let incoming = read(&self.line, &self.awaited, self.fault.secrets());
            if matches!(incoming, Incoming::Noise) {
                self.noise += self.line.len();
                let line = String::from_utf8_lossy(&self.line);
                let line = self.fault.secrets().shown(&line, 200);
                debug!(server = self.server, line, "no MCP");
            }
            self.line.clear();
            match incoming {
                Incoming::Message(message) | Incoming::Mended(message) => {
                    return self.accept(*message);
                }
                Incoming::Noise if self.noise > MAX_NOISE_BYTES => {
                    let reason =
                        format!("it printed more than {MAX_NOISE_BYTES} bytes that are no MCP");
                    self.fault.broke_protocol(reason);
                    return None;
                }
                Incoming::Noise => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // A send that hangs holds the lock, and the end of the process frees it.
        if let Ok(mut stdin) = self.stdin.try_lock() {
            drop(stdin.take());
        }
        self.process.stop().await;
        Ok(())
    }
}

/// Returns whether a line is JSON to its end.
fn is_whole(line: &[u8]) -> bool {
    !line.trim_ascii().is_empty() && read_json::<IgnoredAny>(line).is_ok()
}

enum Read {
    Line,
    TooLong,
    End,
}

/// Reads on to the end of the line. May be dropped and called again: what was read is in `line`.
async fn read_line<R: AsyncRead + Unpin>(
    reader: &mut BufReader<R>,
    line: &mut Vec<u8>,
    most: usize,
) -> Read {
    loop {
        let Ok(available) = reader.fill_buf().await else {
            return Read::End;
        };
        if available.is_empty() {
            return Read::End;
        }
        let newline = available.iter().position(|byte| *byte == b'\n');
        let taken = newline.map_or(available.len(), |at| at + 1);
        let room = most.saturating_sub(line.len());
        line.extend_from_slice(available.get(..taken.min(room)).unwrap_or_default());
        reader.consume(taken);
        if taken > room {
            return Read::TooLong;
        }
        if newline.is_some() {
            return Read::Line;
        }
    }
}

/// Reads what the server complains about, for as long as it runs.
async fn listen(server: String, stderr: ChildStderr, fault: Fault, _silent: DropGuard) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        let read = read_line(&mut reader, &mut line, MAX_ERROR_LINE_BYTES).await;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if !text.is_empty() {
            fault.said(text);
            let line = fault.secrets().shown(text, 500);
            debug!(server, line, "an MCP server complains");
        }
        line.clear();
        if matches!(read, Read::End) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reads_lines_up_to_the_limit() {
        let input = b"{}\nabcd\nabcdefgh\n".as_slice();
        let mut reader = BufReader::with_capacity(3, input);
        let mut line = Vec::new();
        assert!(matches!(
            read_line(&mut reader, &mut line, 5).await,
            Read::Line
        ));
        assert_eq!(line, b"{}\n");
        line.clear();
        assert!(matches!(
            read_line(&mut reader, &mut line, 5).await,
            Read::Line
        ));
        assert_eq!(line, b"abcd\n");
        line.clear();
        assert!(matches!(
            read_line(&mut reader, &mut line, 5).await,
            Read::TooLong
        ));
        assert!(line.len() <= 5);
    }
}
