//! Reaching a world from the process of a worker: one TCP connection for each attempt.
//!
//! A connection that is closed before the answer is an attempt that was dropped, so the world notices when a
//! worker is killed.

use std::{io, net::SocketAddr, sync::Weak, time::Duration};

use neuron_runtime::Executor;
use neuron_types::{
    CompletionRequest, CompletionResponse, FailureKind, HookError, Message, ProviderError,
    StepFailure, ToolOutput,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

use crate::{
    ScriptedModel, World,
    abridge::abridged,
    hook::WorldHook,
    tools::{self, ToolFault},
    world::Inner,
};

/// An executor that acts on a [`World`] in another process. Its provider's name is `world`.
#[must_use]
pub fn executor_at(address: SocketAddr) -> Executor {
    executor(Line::There(address))
}

pub(crate) fn executor(line: Line) -> Executor {
    Executor::builder()
        .tools(tools::registry(&line))
        .hook(WorldHook { line: line.clone() })
        .provider("world", ScriptedModel { line })
        .build()
}

/// How a model or a tool reaches its world.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    Here(World),
    There(SocketAddr),
}

/// What a tool asks of the world.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ToolAsk {
    pub(crate) tool: String,
    pub(crate) run_id: String,
    pub(crate) key: String,
    pub(crate) input: serde_json::Value,
}

#[derive(Serialize, Deserialize)]
enum Ask {
    Model {
        model: String,
        messages: Vec<Message>,
    },
    Tool(ToolAsk),
    Note(String),
}

impl Line {
    pub(crate) async fn ask_model(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let address = match self {
            Self::Here(world) => return world.answer_model(request).await,
            Self::There(address) => *address,
        };
        let ask = Ask::Model {
            model: request.model.clone(),
            messages: abridged(&request.messages),
        };
        let answer: Result<CompletionResponse, StepFailure> =
            call(address, &ask).await.map_err(|error| {
                ProviderError::new(FailureKind::Network, "the world is gone").with_source(error)
            })?;
        answer.map_err(provider_error)
    }

    pub(crate) async fn ask_tool(&self, ask: ToolAsk) -> Result<ToolOutput, ToolFault> {
        match self {
            Self::Here(world) => world.answer_tool(ask).await,
            Self::There(address) => call(*address, &Ask::Tool(ask))
                .await
                .map_err(|error| ToolFault::unavailable(format!("the world is gone: {error}")))?,
        }
    }
}

impl Line {
    /// Tells the world what a hook heard.
    pub(crate) async fn note(&self, note: String) -> Result<(), HookError> {
        match self {
            Self::Here(world) => world.note(note),
            Self::There(address) => {
                call::<()>(*address, &Ask::Note(note))
                    .await
                    .map_err(|error| HookError {
                        message: "the world is gone".to_owned(),
                        source: Some(error.into()),
                    })?;
            }
        }
        Ok(())
    }
}

/// The error that a failure was made of.
fn provider_error(failure: StepFailure) -> ProviderError {
    let StepFailure {
        kind,
        message,
        status,
        retry_after,
        ..
    } = failure;
    let Some(status) = status else {
        return with_retry_after(ProviderError::new(kind, message), retry_after);
    };
    // The error puts its status behind its message.
    let suffix = format!(" (HTTP {status})");
    let message = message.strip_suffix(&suffix).unwrap_or(&message);
    with_retry_after(
        ProviderError::new(kind, message).with_status(status),
        retry_after,
    )
}

fn with_retry_after(error: ProviderError, retry_after: Option<Duration>) -> ProviderError {
    match retry_after {
        Some(delay) => error.with_retry_after(delay),
        None => error,
    }
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
pub(crate) async fn serve(world: Weak<Inner>) -> (SocketAddr, AbortHandle) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Some(world) = world.upgrade().map(World::from_inner) else {
                return;
            };
            tokio::spawn(async move {
                // Who asked may be gone.
                answer(stream, &world).await.ok();
            });
        }
    });
    (address, task.abort_handle())
}

async fn answer(mut stream: TcpStream, world: &World) -> io::Result<()> {
    let (reader, mut writer) = stream.split();
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let ask: Ask = serde_json::from_str(&line)?;
    line.clear();
    let mut answer = tokio::select! {
        biased;
        answer = perform(world, ask) => answer?,
        // Nothing more is said, so this is the end of the connection.
        _ = reader.read_line(&mut line) => return Ok(()),
    };
    answer.push(b'\n');
    writer.write_all(&answer).await
}

async fn perform(world: &World, ask: Ask) -> serde_json::Result<Vec<u8>> {
    match ask {
        Ask::Model { model, messages } => {
            let request = CompletionRequest {
                model,
                messages,
                ..CompletionRequest::default()
            };
            let answer = world.answer_model(&request).await;
            serde_json::to_vec(&answer.map_err(StepFailure::from))
        }
        Ask::Tool(ask) => serde_json::to_vec(&world.answer_tool(ask).await),
        Ask::Note(note) => {
            world.note(note);
            serde_json::to_vec(&())
        }
    }
}
