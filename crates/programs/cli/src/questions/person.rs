//! Asks the person at the terminal the questions of MCP servers, while the run continues.

use std::{
    io,
    sync::{Arc, OnceLock},
};

use neuron_config::OpenOptions;
use neuron_mcp::{ElicitationAnswer, ElicitationRequest, McpClientHandler, McpError};
use neuron_types::WasmBoxedFuture;

use crate::{
    questions::elicitation, terminal::keyboard::can_ask, terminal::line_reader::LineReader,
    terminal::output::note, terminal::progress::Progress,
};

/// The person at the terminal, as the servers of one agent file see them.
#[derive(Debug, Default)]
pub(crate) struct Person {
    progress: OnceLock<Arc<Progress>>,
}

impl Person {
    /// Lets the servers of agents that are opened with these options ask, if a person is present.
    pub(crate) fn introduce(options: OpenOptions) -> (OpenOptions, Arc<Self>) {
        let person = Arc::new(Self::default());
        let options = match can_ask() {
            true => options.person(Arc::clone(&person) as Arc<dyn McpClientHandler>),
            false => options,
        };
        (options, person)
    }

    /// Sets the picture that makes room for the questions.
    pub(crate) fn watches(&self, progress: &Arc<Progress>) {
        // There is one run, and so one picture.
        self.progress.set(Arc::clone(progress)).ok();
    }

    async fn put(&self, request: ElicitationRequest) -> io::Result<ElicitationAnswer> {
        let (reader, _question) = LineReader::new().await?;
        let mut room = Room::make(self.progress.get().cloned());
        let asking = tokio::task::spawn_blocking(move || elicitation::ask(&reader, &request));
        let answer = asking.await.map_err(io::Error::other)?;
        room.is_left_open = false;
        answer
    }
}

impl McpClientHandler for Person {
    fn offers_elicitation(&self) -> bool {
        true
    }

    fn handle_elicitation_request(
        &self,
        request: ElicitationRequest,
    ) -> WasmBoxedFuture<'_, Result<ElicitationAnswer, McpError>> {
        Box::pin(async move {
            let answer = self.put(request).await;
            answer.map_err(|error| McpError::Handler(format!("the terminal failed: {error}")))
        })
    }
}

/// Room for a question. The picture resumes when this is dropped.
struct Room {
    progress: Option<Arc<Progress>>,
    /// Whether the line break of the last question was not typed.
    is_left_open: bool,
}

impl Room {
    fn make(progress: Option<Arc<Progress>>) -> Self {
        if let Some(progress) = &progress {
            progress.pause();
        }
        Self {
            progress,
            is_left_open: true,
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.is_left_open {
            note("");
        }
        if let Some(progress) = &self.progress {
            progress.resume();
        }
    }
}
