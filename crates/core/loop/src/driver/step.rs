//! Running an agent turn by turn.

use neuron_types::{
    CallState, ContentBlock, ContextStrategy, DurableContext, DurableError, Message, RunOutput,
    ToolCall, ToolDefinition, ToolResultBlock,
};

use crate::{AgentLoop, MachineError, driver::progress::Progress};

/// Yields after each thing that a run did, so that the caller can look at it and change what follows.
///
/// Created with [`AgentLoop::run_step`]. Changes that a caller makes are not journaled: on a durable door
/// make them deterministic.
#[derive(Debug)]
pub struct StepIterator<'a, D, C> {
    agent: &'a mut AgentLoop<D, C>,
    ended: bool,
}

/// What a run just did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum TurnResult {
    /// A tool call was made, or answered by the run that it has started; others of the turn may be in flight or wait for a
    /// person.
    ToolExecuted {
        /// The call.
        call: ToolCall,
        /// Its result.
        result: ToolResultBlock,
    },
    /// The conversation was made smaller.
    CompactionOccurred {
        /// Its tokens before, estimated.
        old_tokens: u64,
        /// Its tokens after, estimated.
        new_tokens: u64,
    },
    /// The run ended; always the last.
    Ended(Box<RunOutput>),
}

impl<D: DurableContext, C: ContextStrategy> AgentLoop<D, C> {
    /// Runs the agent turn by turn, for callers that look at or change the run in between.
    pub fn run_step(&mut self) -> StepIterator<'_, D, C> {
        StepIterator {
            agent: self,
            ended: false,
        }
    }
}

impl<D: DurableContext, C: ContextStrategy> StepIterator<'_, D, C> {
    /// Continues to the next result worth looking at. `None` after the end.
    ///
    /// # Errors
    ///
    /// As [`AgentLoop::run`].
    pub async fn next(&mut self) -> Option<Result<TurnResult, DurableError>> {
        if self.ended {
            return None;
        }
        let result = self.next_result().await;
        self.ended = !matches!(
            result,
            Ok(TurnResult::ToolExecuted { .. } | TurnResult::CompactionOccurred { .. })
        );
        Some(result)
    }

    async fn next_result(&mut self) -> Result<TurnResult, DurableError> {
        loop {
            if let Some((call, result)) = self.agent.answered.pop_front() {
                return Ok(TurnResult::ToolExecuted { call, result });
            }
            let delegated = self.delegated();
            let progress = self.agent.advance().await?;
            for call in delegated {
                if let Some(result) = self.result_of(&call) {
                    self.agent.answered.push_back((call, result));
                }
            }
            match progress {
                Progress::Ended => {
                    self.agent.cancel_children().await?;
                    return Ok(TurnResult::Ended(Box::new(self.agent.output())));
                }
                Progress::CalledTool(call) => {
                    // A call that is asked about again has no result yet.
                    if let Some(result) = self.result_of(&call) {
                        return Ok(TurnResult::ToolExecuted { call, result });
                    }
                }
                Progress::Compacted {
                    old_tokens,
                    new_tokens,
                } => {
                    return Ok(TurnResult::CompactionOccurred {
                        old_tokens,
                        new_tokens,
                    });
                }
                Progress::Other => {}
            }
        }
    }

    /// The calls that other runs are to answer.
    fn delegated(&self) -> Vec<ToolCall> {
        let slots = self.agent.machine().state().calls.iter();
        let delegated = slots.filter(|slot| slot.state == CallState::Delegated);
        delegated.map(|slot| slot.call.clone()).collect()
    }

    fn result_of(&self, call: &ToolCall) -> Option<ToolResultBlock> {
        let machine = self.agent.machine();
        let pending = machine
            .state()
            .calls
            .iter()
            .filter_map(|slot| match &slot.state {
                CallState::Done(result) => Some(result),
                _ => None,
            });
        let last = machine
            .messages()
            .last()
            .into_iter()
            .flat_map(|message| &message.content);
        let answered = last.filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result),
            _ => None,
        });
        let mut known = pending.chain(answered);
        known.find(|result| result.tool_use_id == call.id).cloned()
    }

    /// The conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.agent.machine().messages()
    }

    /// Adds a message before the next turn.
    ///
    /// # Errors
    ///
    /// [`MachineError::Unexpected`] while calls of a turn are unanswered, or a person is asked about an answer.
    pub fn inject_message(&mut self, message: Message) -> Result<(), MachineError> {
        self.agent.machine_mut().inject_message(message)
    }

    /// The tools that the model is offered from the next turn on.
    pub fn tools_mut(&mut self) -> &mut Vec<ToolDefinition> {
        self.agent.machine_mut().tools_mut()
    }
}
