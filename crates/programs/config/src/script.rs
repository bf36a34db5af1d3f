//! A model that replays a file of turns: for tests, demonstrations and benchmarks.
//!
//! # The file
//!
//! One JSON object with the model's turns, in order:
//!
//! ```json
//! {
//!   "turns": [
//!     {
//!       "text": "Let me look.",
//!       "tool_calls": [{ "name": "bash", "input": { "command": "ls" }, "id": "my-id" }],
//!       "stop_reason": "tool_use",
//!       "usage": { "input_tokens": 1200, "output_tokens": 40 },
//!       "cost_usd": "0.01",
//!       "delay_ms": 50,
//!       "fail": [
//!         { "kind": "rate_limited", "status": 429, "retry_after_ms": 200, "message": "slow down" }
//!       ]
//!     },
//!     { "text": "Done." }
//!   ]
//! }
//! ```
//!
//! | Key of a turn | Means | Default |
//! | --- | --- | --- |
//! | `text` | what the model says | nothing |
//! | `tool_calls` | the calls that it asks for: `name`, `input` (`{}`), `id` (made up) | none |
//! | `stop_reason` | why the answer ends, as journals write it | `tool_use` with calls, else `end_turn` |
//! | `usage` | `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_creation_tokens`, `reasoning_tokens` | not reported |
//! | `cost_usd` | what the call cost, as a decimal string | from the prices, if they know the model |
//! | `delay_ms` | how long the answer takes | 0 |
//! | `fail` | what the attempts before the answer fail with: `kind` of the failure taxonomy, `status`, `retry_after_ms`, `message`, `usage` if it is reported all the same | none |
//!
//! A key that is not in this list is an error.
//!
//! # Which turn it is
//!
//! The model keeps no position, so a run may stop and continue in another process. The ids that the model makes up give
//! the position: `call-3-1` is the first call of turn 3. Going back from the end of the conversation, the newest such
//! id and the answers after it give the turn; without one all answers count. Failures are counted in the process: the
//! n-th attempt at a turn gets the n-th entry of `fail`, and every attempt after the last entry gets the answer. Runs
//! that share the model share that count.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, FailureKind, Message, Provider,
    ProviderError, Role, StopReason, TokenUsage,
};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A model that replays turns. The [module](self) describes their format.
#[derive(Debug)]
pub struct ScriptModel {
    turns: Vec<ScriptTurn>,
    failed_attempts: Mutex<HashMap<usize, usize>>,
}

impl ScriptModel {
    /// Reads a script from a file.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] if the file cannot be read or is not a script.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScriptError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text).map_err(|source| ScriptError::Parse {
            path: path.to_owned(),
            source,
        })
    }

    /// Reads a script from JSON text.
    ///
    /// # Errors
    ///
    /// The error in the JSON, with line and column.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        let script: Script = serde_json::from_str(json)?;
        Ok(Self {
            turns: script.turns,
            failed_attempts: Mutex::default(),
        })
    }

    /// Returns the failure that is next for this attempt at the turn, if any is left.
    fn next_failure(&self, index: usize, turn: &ScriptTurn) -> Option<ProviderError> {
        if turn.fail.is_empty() {
            return None;
        }
        let mut counts = self
            .failed_attempts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(index).or_default();
        let failure = turn.fail.get(*count)?;
        *count += 1;
        Some(failure.error())
    }
}

impl Provider for ScriptModel {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let number = next_turn(&request.messages);
        let index = number - 1;
        let turn = self.turns.get(index).ok_or_else(|| {
            ProviderError::new(
                FailureKind::InvalidRequest,
                match self.turns.len() {
                    1 => format!("the script has 1 turn and the run asks for turn {number}"),
                    turns => {
                        format!("the script has {turns} turns and the run asks for turn {number}")
                    }
                },
            )
        })?;
        if let Some(error) = self.next_failure(index, turn) {
            return Err(error);
        }
        if turn.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(turn.delay_ms)).await;
        }
        Ok(turn.answer(number, &request.model))
    }
}

/// Returns the turn at which a script is in this conversation, counted from 1.
#[must_use]
pub fn next_turn(messages: &[Message]) -> usize {
    answers_so_far(messages) + 1
}

/// Returns how many answers the script has given in this conversation.
fn answers_so_far(messages: &[Message]) -> usize {
    let mut after = 0;
    for message in messages.iter().rev() {
        if message.role == Role::Assistant {
            if let Some(turn) = scripted_turn(message) {
                return turn + after;
            }
            after += 1;
        }
    }
    after
}

/// Returns the turn that the ids of an answer contain, if the script made one of them up.
fn scripted_turn(message: &Message) -> Option<usize> {
    message.content.iter().find_map(|block| match block {
        ContentBlock::ToolUse { id, .. } => {
            let (turn, position) = id.strip_prefix("call-")?.split_once('-')?;
            position.parse::<usize>().ok()?;
            turn.parse().ok()
        }
        _ => None,
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    turns: Vec<ScriptTurn>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptTurn {
    text: Option<String>,
    #[serde(default)]
    tool_calls: Vec<ScriptCall>,
    stop_reason: Option<StopReason>,
    usage: Option<ScriptUsage>,
    cost_usd: Option<Decimal>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    fail: Vec<ScriptFailure>,
}

impl ScriptTurn {
    fn answer(&self, number: usize, model: &str) -> CompletionResponse {
        let text = self.text.iter().cloned().map(ContentBlock::Text);
        let calls = self.tool_calls.iter().zip(1..).map(|(call, position)| {
            let id = call
                .id
                .clone()
                .unwrap_or_else(|| format!("call-{number}-{position}"));
            ContentBlock::tool_use(id, &call.name, call.input.clone())
        });
        let stop_reason = self.stop_reason.clone().unwrap_or({
            if self.tool_calls.is_empty() {
                StopReason::EndTurn
            } else {
                StopReason::ToolUse
            }
        });
        CompletionResponse {
            id: format!("script-{number}"),
            model: model.to_owned(),
            message: Message {
                role: Role::Assistant,
                content: text.chain(calls).collect(),
            },
            usage: self
                .usage
                .as_ref()
                .map(ScriptUsage::tokens)
                .unwrap_or_default(),
            stop_reason,
            cost_usd: self.cost_usd,
            ..CompletionResponse::default()
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptCall {
    name: String,
    #[serde(default = "empty_object")]
    input: Value,
    id: Option<String>,
}

fn empty_object() -> Value {
    Value::Object(Map::new())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptUsage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    cache_read_tokens: Option<u64>,
    cache_creation_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

impl ScriptUsage {
    fn tokens(&self) -> TokenUsage {
        TokenUsage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cache_read_tokens: self.cache_read_tokens,
            cache_creation_tokens: self.cache_creation_tokens,
            reasoning_tokens: self.reasoning_tokens,
            iterations: None,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFailure {
    kind: FailureKind,
    status: Option<u16>,
    retry_after_ms: Option<u64>,
    message: Option<String>,
    usage: Option<ScriptUsage>,
}

impl ScriptFailure {
    fn error(&self) -> ProviderError {
        let message = self
            .message
            .clone()
            .unwrap_or_else(|| format!("the script fails with {}", self.kind));
        let mut error = ProviderError::new(self.kind, message);
        if let Some(status) = self.status {
            error = error.with_status(status);
        }
        if let Some(delay) = self.retry_after_ms {
            error = error.with_retry_after(Duration::from_millis(delay));
        }
        if let Some(usage) = &self.usage {
            error = error.with_usage(usage.tokens());
        }
        error
    }
}

/// A script could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file could not be read.
    #[error("the script {} cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a script.
    #[error("the script {} is not valid: {source}", .path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        source: serde_json::Error,
    },
}
