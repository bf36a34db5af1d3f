//! Access to a world from the process of a worker: one TCP connection for each attempt.
//!
//! A connection that is closed before the answer is an attempt that was dropped, so the world notices when a
//! worker is killed.

use std::{
    io::{self, BufRead as _, Write as _},
    net::{self, SocketAddr},
    sync::Arc,
};

use futures::future::BoxFuture;
use neuron_approvers::ApproverEntry;
use neuron_executor::Executor;
use neuron_types::{
    CompletionRequest, CompletionResponse, FailureKind, HookError, Message, ProviderError,
    RequestHead, Spent, StepFailure, ToolDefinition, ToolOutput,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

use super::{
    abridge::abridged,
    acting::executor,
    line::{Line, Reach, ToolAsk},
    tool_fault::ToolFault,
};

/// Returns an executor that acts on a [`World`](crate::World) in another process. Its provider's name is `world`.
#[must_use]
pub fn executor_at(address: SocketAddr) -> Executor {
    executor(&line_to(address))
}

/// Returns a line to a world in another process.
pub(crate) fn line_to(address: SocketAddr) -> Line {
    Arc::new(There(address))
}

/// A world in another process.
#[derive(Debug)]
struct There(SocketAddr);

#[derive(Serialize, Deserialize)]
enum Ask {
    Model {
        model: String,
        messages: Vec<Message>,
        tools: Vec<ToolDefinition>,
    },
    Tool(ToolAsk),
    Approvers,
    Note(String),
}

impl Reach for There {
    fn ask_model<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionResponse, ProviderError>> {
        let ask = Ask::Model {
            model: request.model.clone(),
            messages: abridged(&request.messages),
            tools: request.tools.clone(),
        };
        Box::pin(async move {
            let answer: Result<CompletionResponse, StepFailure> =
                call(self.0, &ask).await.map_err(|error| {
                    ProviderError::new(FailureKind::Network, "the world is gone").with_source(error)
                })?;
            answer.map_err(provider_error)
        })
    }

    fn ask_tool(&self, ask: ToolAsk) -> BoxFuture<'_, Result<ToolOutput, ToolFault>> {
        Box::pin(async move {
            call(self.0, &Ask::Tool(ask))
                .await
                .map_err(|error| ToolFault::unavailable(format!("the world is gone: {error}")))?
        })
    }

    fn approvers(&self) -> io::Result<Vec<ApproverEntry>> {
        let mut stream = net::TcpStream::connect(self.0)?;
        let mut line = serde_json::to_vec(&Ask::Approvers)?;
        line.push(b'\n');
        stream.write_all(&line)?;
        let mut answer = String::new();
        io::BufReader::new(stream).read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }

    fn note(&self, note: String) -> BoxFuture<'_, Result<(), HookError>> {
        Box::pin(async move {
            call::<()>(self.0, &Ask::Note(note))
                .await
                .map_err(|error| HookError {
                    message: "the world is gone".to_owned(),
                    source: Some(error.into()),
                })
        })
    }
}

/// Returns the error that a failure was made from.
fn provider_error(failure: StepFailure) -> ProviderError {
    let StepFailure {
        kind,
        message,
        status,
        retry_after,
        spent,
        ..
    } = failure;
    let mut error = match status {
        None => ProviderError::new(kind, message),
        Some(status) => {
            // The error appends its status to its message.
            let suffix = format!(" (HTTP {status})");
            let message = message.strip_suffix(&suffix).unwrap_or(&message);
            ProviderError::new(kind, message).with_status(status)
        }
    };
    if let Some(delay) = retry_after {
        error = error.with_retry_after(delay);
    }
    if let Some(spent) = spent {
        error = error.with_usage(spent.usage);
    }
    error
}

/// Returns the failure that transports an error.
fn failure(error: ProviderError) -> StepFailure {
    let used = error
        .usage()
        .map(|usage| Box::new(Spent::new(usage.clone(), None)));
    StepFailure::from(error).with_spent(used)
}

async fn call<T: DeserializeOwned>(address: SocketAddr, ask: &Ask) -> io::Result<T> {
    let mut stream = TcpStream::connect(address).await?;
    let mut line = serde_json::to_vec(ask)?;
    line.push(b'\n');
    stream.write_all(&line).await?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).await?;
    Ok(serde_json::from_str(&answer)?)
}

/// Serves a world until the task is aborted or the world is gone.
pub(crate) async fn serve(
    world: impl Fn() -> Option<Line> + Send + 'static,
) -> (SocketAddr, AbortHandle) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Some(world) = world() else {
                return;
            };
            tokio::spawn(async move {
                // The client may be gone.
                answer(stream, &*world).await.ok();
            });
        }
    });
    (address, task.abort_handle())
}

async fn answer(mut stream: TcpStream, world: &dyn Reach) -> io::Result<()> {
    let (reader, mut writer) = stream.split();
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let ask: Ask = serde_json::from_str(&line)?;
    line.clear();
    let mut answer = tokio::select! {
        biased;
        answer = perform(world, ask) => answer?,
        // The client sends nothing more, so this is the end of the connection.
        _ = reader.read_line(&mut line) => return Ok(()),
    };
    answer.push(b'\n');
    writer.write_all(&answer).await
}

async fn perform(world: &dyn Reach, ask: Ask) -> serde_json::Result<Vec<u8>> {
    match ask {
        Ask::Model {
            model,
            messages,
            tools,
        } => {
            let head = RequestHead {
                tools,
                ..RequestHead::new(model)
            };
            let request = CompletionRequest::new(head, messages);
            let answer = world.ask_model(&request).await;
            serde_json::to_vec(&answer.map_err(failure))
        }
        Ask::Tool(ask) => serde_json::to_vec(&world.ask_tool(ask).await),
        Ask::Approvers => {
            // A world has a list of its approvers.
            serde_json::to_vec(&world.approvers().unwrap_or_default())
        }
        Ask::Note(note) => {
            // A world does not reject a note.
            world.note(note).await.ok();
            serde_json::to_vec(&())
        }
    }
}
