//! A hook that is a program.

use std::collections::BTreeSet;

use neuron_types::{Hook, HookAction, HookError, HookEvent, WasmBoxedFuture, with_causes};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::process::Program;

/// A hook that is a program. It reads an event as one JSON object on its standard input, and writes what it wants done as
/// another on its standard output; nothing at all if all is well.
///
/// ```json
/// {"event": "pre_tool_execution", "tool_name": "bash", "input": {"command": "ls"}}
/// {"action": "modify", "input": {"command": "ls -l"}}
/// ```
///
/// | Action | Means |
/// | --- | --- |
/// | `continue` | all is well |
/// | `skip` | the call is not made, and the model reads `reason` |
/// | `terminate` | the run ends, for this `reason` |
/// | `modify` | the call is made with this `input` |
///
/// A program that ends with another code than 0, that takes too long, or whose answer is no action, ends the run, unless it is
/// [ignored](Self::ignoring_failures).
#[derive(Debug, Clone)]
pub struct CommandHook {
    name: String,
    program: Program,
    /// The events that it is asked about; all where empty.
    events: BTreeSet<String>,
    ignores_failures: bool,
}

/// What a program answers.
#[derive(Debug, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
enum Answer {
    Continue,
    Skip { reason: String },
    Terminate { reason: String },
    Modify { input: Value },
}

impl CommandHook {
    /// The names of all events.
    pub const EVENTS: [&str; 9] = [
        "session_start",
        "loop_iteration",
        "pre_llm_call",
        "post_llm_call",
        "pre_tool_execution",
        "post_tool_execution",
        "context_compaction",
        "exit_check",
        "session_end",
    ];

    /// Returns a hook that is asked about all events.
    #[must_use]
    pub fn new(name: impl Into<String>, program: Program) -> Self {
        Self {
            name: name.into(),
            program,
            events: BTreeSet::new(),
            ignores_failures: false,
        }
    }

    /// Sets the [events](Self::EVENTS) that it is asked about.
    #[must_use]
    pub fn on(mut self, events: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.events = events.into_iter().map(Into::into).collect();
        self
    }

    /// Makes the run continue where the program fails.
    #[must_use]
    pub const fn ignoring_failures(mut self) -> Self {
        self.ignores_failures = true;
        self
    }

    async fn ask(&self, event: &HookEvent<'_>) -> Result<HookAction, HookError> {
        let (name, question) = described(event);
        if !self.events.is_empty() && !self.events.contains(name) {
            return Ok(HookAction::Continue);
        }
        let asked = tokio::time::timeout(self.program.most(), self.program.ask(&question));
        let answer = match asked.await {
            Ok(Ok(answer)) if answer.trim().is_empty() => return Ok(HookAction::Continue),
            Ok(Ok(answer)) => serde_json::from_str::<Answer>(&answer)
                .map_err(|error| format!("its answer is no action: {error}")),
            Ok(Err(error)) => Err(with_causes(&error)),
            Err(_) => Err(format!("it said nothing within {:?}", self.program.most())),
        };
        match answer {
            Ok(Answer::Continue) => Ok(HookAction::Continue),
            Ok(Answer::Skip { reason }) => Ok(HookAction::Skip { reason }),
            Ok(Answer::Terminate { reason }) => Ok(HookAction::Terminate { reason }),
            Ok(Answer::Modify { input }) => Ok(HookAction::ModifyToolInput { input }),
            Err(why) => {
                let message = format!("the hook {} failed: {why}", self.name);
                match self.ignores_failures {
                    true => Err(HookError {
                        message,
                        source: None,
                    }),
                    false => Ok(HookAction::Terminate { reason: message }),
                }
            }
        }
    }
}

/// Returns the name of an event, and the event as a program reads it.
fn described(event: &HookEvent<'_>) -> (&'static str, Value) {
    match event {
        HookEvent::SessionStart { run_id } => {
            let name = "session_start";
            (name, json!({"event": name, "run_id": run_id}))
        }
        HookEvent::LoopIteration { turn } => {
            let name = "loop_iteration";
            (name, json!({"event": name, "turn": turn}))
        }
        HookEvent::PreLlmCall { request } => {
            let name = "pre_llm_call";
            (name, json!({"event": name, "request": request}))
        }
        HookEvent::PostLlmCall { response } => {
            let name = "post_llm_call";
            (name, json!({"event": name, "response": response}))
        }
        HookEvent::PreToolExecution { tool_name, input } => {
            let name = "pre_tool_execution";
            (
                name,
                json!({"event": name, "tool_name": tool_name, "input": input}),
            )
        }
        HookEvent::PostToolExecution { tool_name, output } => {
            let name = "post_tool_execution";
            (
                name,
                json!({"event": name, "tool_name": tool_name, "output": output}),
            )
        }
        HookEvent::ContextCompaction {
            old_tokens,
            new_tokens,
        } => {
            let name = "context_compaction";
            let tokens = json!({"event": name, "old_tokens": old_tokens, "new_tokens": new_tokens});
            (name, tokens)
        }
        HookEvent::ExitCheck { turn } => {
            let name = "exit_check";
            (name, json!({"event": name, "turn": turn}))
        }
        HookEvent::SessionEnd { run_id } => {
            let name = "session_end";
            (name, json!({"event": name, "run_id": run_id}))
        }
        _ => ("other", json!({"event": "other"})),
    }
}

impl Hook for CommandHook {
    fn on_event<'a>(
        &'a self,
        event: &'a HookEvent<'a>,
    ) -> WasmBoxedFuture<'a, Result<HookAction, HookError>> {
        Box::pin(self.ask(event))
    }
}
