//! The transcript: events in their order, with the results of the steps.

use std::{borrow::Cow, collections::BTreeSet};

use neuron_types::{
    ContentBlock, ContentItem, FailureKind, Message, RecordedEvent, Role, RunEvent, RunId,
    TicketKind, ToolCall, Transcript, TranscriptEntry, TranscriptItem, Verdict,
};
use serde_json::Value;

use super::{
    align,
    doubted_answer::asked_about,
    known_steps::{KnownResult, KnownSteps},
};

/// What a person chooses who lets an answer pass.
const RELEASE: &str = "release";

/// The most bytes of tool results in a transcript. The results of the newest calls stay.
const MOST_RESULTS: usize = 16 * 1024 * 1024;

impl KnownSteps {
    /// Returns the transcript of the run that has these events.
    #[must_use]
    pub fn into_transcript(mut self, run_id: RunId, events: &[RecordedEvent]) -> Transcript {
        let mut conversations = std::mem::take(&mut self.conversations);
        // The newest conversation has the most of what is left.
        conversations.sort_by_key(|(behind, _)| std::cmp::Reverse(*behind));
        for (behind, conversation) in &conversations {
            let known = events.partition_point(|event| event.seq <= *behind);
            let before = events.get(..known).unwrap_or_default();
            align::recover(&mut self, before, conversation);
        }
        transcript(&self, run_id, events)
    }
}

fn transcript(steps: &KnownSteps, run_id: RunId, events: &[RecordedEvent]) -> Transcript {
    let mut missing = steps.missing.clone();
    let mut fold = Fold {
        steps,
        entries: Vec::new(),
        turn: 0,
        calls: Vec::new(),
        lacking: BTreeSet::new(),
        released: released(events),
        asked: None,
        given: Vec::new(),
    };
    for recorded in events {
        fold.take_in(recorded);
    }
    let Fold {
        mut entries,
        lacking,
        ..
    } = fold;
    if let Some(turns) = named(&lacking) {
        missing.push(format!(
            "of {turns} only events are left: results of tools and the model's reasoning are missing"
        ));
    }
    let recovered = steps.recovered.difference(&lacking).copied().collect();
    if let Some(turns) = named(&recovered) {
        missing.push(format!(
            "the steps of {turns} are gone: they stand here as the conversation has them"
        ));
    }
    missing.extend(bounded(&mut entries));
    Transcript {
        run_id,
        entries,
        incomplete: (!missing.is_empty()).then(|| missing.join("; ")),
    }
}

/// Names turns in words; `None` if there are no turns.
fn named(turns: &BTreeSet<u32>) -> Option<String> {
    let (first, last) = (turns.first()?, turns.last()?);
    Some(match turns.len() {
        1 => format!("turn {first}"),
        _ => format!("{} turns between {first} and {last}", turns.len()),
    })
}

/// Leaves out the oldest results if all results together are too large, and returns a sentence about it.
fn bounded(entries: &mut [TranscriptEntry]) -> Option<String> {
    let mut bytes = 0_usize;
    let mut left_out = BTreeSet::new();
    for entry in entries.iter_mut().rev() {
        let TranscriptItem::ToolResult { content, .. } = &mut entry.item else {
            continue;
        };
        let size = content.as_deref().map_or(0, bytes_of);
        bytes = bytes.saturating_add(size);
        if bytes > MOST_RESULTS && size > 0 {
            *content = None;
            left_out.insert(entry.turn);
        }
    }
    let turns = named(&left_out)?;
    let most = MOST_RESULTS / (1024 * 1024);
    Some(format!(
        "results of {turns} are left out: a transcript has {most} MiB of them"
    ))
}

/// Returns the approximate size of a result.
fn bytes_of(content: &[ContentItem]) -> usize {
    let items = content.iter().map(|item| match item {
        ContentItem::Text(text) => text.len(),
        other => neuron_types::json_bytes(other).unwrap_or_default(),
    });
    items.sum()
}

struct Fold<'a> {
    steps: &'a KnownSteps,
    entries: Vec<TranscriptEntry>,
    turn: u32,
    /// The calls of the turn.
    calls: Vec<Call>,
    /// The turns that lack something.
    lacking: BTreeSet<u32>,
    /// The turns whose answers a person released.
    released: BTreeSet<u32>,
    /// Why a guard has a person asked about the answer of the turn.
    asked: Option<String>,
    /// The arguments that people gave for calls of the turn.
    given: Vec<Value>,
}

/// A call of the turn.
struct Call {
    id: String,
    /// Its place in the turn, counted from 1; 0 if the answer that asked for it is not known.
    position: u32,
    args: Value,
    /// The arguments as a person, a guard or a hook changed them.
    changed: Option<Value>,
    is_answered: bool,
}

impl Fold<'_> {
    fn take_in(&mut self, recorded: &RecordedEvent) {
        if let RunEvent::TurnStarted { turn } = recorded.event {
            self.turn = turn;
            self.calls.clear();
            self.asked = None;
            self.given.clear();
        }
        if let RunEvent::ApprovalDecided { args, .. } | RunEvent::ApprovalGiven { args, .. } =
            &recorded.event
        {
            self.given.extend(args.clone());
        }
        if let Some(reason) = asked_about(&recorded.event) {
            self.asked.get_or_insert_with(|| reason.to_owned());
        }
        for item in self.items(&recorded.event) {
            self.entries.push(TranscriptEntry {
                turn: self.turn,
                at: recorded.at,
                item,
            });
        }
    }

    fn items(&mut self, event: &RunEvent) -> Vec<TranscriptItem> {
        match event {
            RunEvent::ModelResponded { turn, text, .. } => self.answer(*turn, text.as_deref()),
            RunEvent::ToolCalled {
                call_id,
                tool,
                args,
                ..
            } => self.called(call_id, tool, args).into_iter().collect(),
            RunEvent::ToolFinished {
                turn,
                call_id,
                tool,
                is_error,
                failure,
                reason,
            } => {
                let content = self.result(*turn, call_id, reason.as_deref());
                vec![result(call_id, tool, *is_error, *failure, content)]
            }
            other => of_people(other).into_iter().collect(),
        }
    }

    /// Returns the model's answer, block by block.
    fn answer(&mut self, turn: u32, text: Option<&str>) -> Vec<TranscriptItem> {
        let steps = self.steps;
        let Some(content) = steps.answers.get(&turn) else {
            self.lacking.insert(turn);
            let text = text.map(|text| TranscriptItem::Text { text: text.into() });
            return text.into_iter().collect();
        };
        let withheld;
        let text = match text {
            None if !self.released.contains(&turn) => {
                withheld = match &self.asked {
                    Some(reason) => neuron_types::withheld(reason),
                    None => "[withheld]".to_owned(),
                };
                has_text(content).then_some(withheld.as_str())
            }
            text => text,
        };
        let content = passed(content, text);
        let mut items = Vec::with_capacity(content.len());
        for block in content.iter() {
            items.push(match block {
                ContentBlock::Text(text) => TranscriptItem::Text { text: text.clone() },
                ContentBlock::Thinking { thinking, .. } if thinking.is_empty() => continue,
                ContentBlock::RedactedThinking { .. } => continue,
                ContentBlock::Thinking { thinking, .. } => TranscriptItem::Thinking {
                    text: thinking.clone(),
                },
                ContentBlock::ToolUse {
                    id, name, input, ..
                } => {
                    let position = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
                    self.calls.push(Call {
                        id: id.clone(),
                        position: position.saturating_add(1),
                        args: input.clone(),
                        changed: None,
                        is_answered: false,
                    });
                    tool_call(id, name, input)
                }
                other => TranscriptItem::Block {
                    block: other.clone(),
                },
            });
        }
        items
    }

    /// Records a call that is made. The call is known already, unless the answer that asked for it is missing.
    fn called(&mut self, id: &str, tool: &str, args: &Value) -> Option<TranscriptItem> {
        if let Some(call) = self.open_call(id) {
            if call.args != *args || call.changed.is_some() {
                call.changed = Some(args.clone());
            }
            return None;
        }
        self.calls.push(Call {
            id: id.to_owned(),
            position: 0,
            args: args.clone(),
            changed: None,
            is_answered: false,
        });
        Some(tool_call(id, tool, args))
    }

    /// Returns the result of a call as the model reads it.
    fn result(&mut self, turn: u32, id: &str, reason: Option<&str>) -> Option<Vec<ContentItem>> {
        let (mut position, mut note) = (0, None);
        if let Some(call) = self.open_call(id) {
            call.is_answered = true;
            position = call.position;
            note = call.changed.clone();
        }
        let note = note.map(|input| match self.given.contains(&input) {
            true => ToolCall::note_of_change(&input),
            false => ToolCall::note_of_change_by(ToolCall::NO_PERSON, &input),
        });
        let mut content: Vec<ContentItem> = note.into_iter().collect();
        if let Some(reason) = reason {
            content.push(ContentItem::Text(reason.to_owned()));
            return Some(content);
        }
        match self.steps.results.get(&(turn, position)) {
            Some(KnownResult::Step(Ok(output))) => content.extend_from_slice(&output.content),
            Some(KnownResult::Step(Err(failure))) => {
                content.push(ContentItem::Text(failure.message.clone()));
            }
            Some(KnownResult::Read(result)) => return Some(result.content.clone()),
            None => {
                self.lacking.insert(turn);
                return None;
            }
        }
        Some(content)
    }

    fn open_call(&mut self, id: &str) -> Option<&mut Call> {
        let mut calls = self.calls.iter_mut();
        calls.find(|call| call.id == id && !call.is_answered)
    }
}

/// Returns the turns whose answers a person released, whom a guard had asked about them.
fn released(events: &[RecordedEvent]) -> BTreeSet<u32> {
    let mut asked: Option<(u32, &str)> = None;
    let mut open: Option<(u32, &str)> = None;
    let mut released = BTreeSet::new();
    for recorded in events {
        match &recorded.event {
            event @ RunEvent::Guarded { turn, .. } => {
                if let Some(reason) = asked_about(event) {
                    asked.get_or_insert((*turn, reason));
                }
            }
            // It is no answer that the run would end with.
            RunEvent::TurnStarted { .. }
            | RunEvent::ToolCalled { .. }
            | RunEvent::ToolFinished { .. } => asked = None,
            RunEvent::ApprovalRequested { ticket, .. } if ticket.kind == TicketKind::Guard => {
                let text = ticket.text.as_deref().unwrap_or_default();
                let about = asked.take_if(|(_, reason)| text.starts_with(*reason));
                open = about.map(|(turn, _)| (turn, ticket.ticket.as_str()));
            }
            RunEvent::ApprovalDecided { ticket, choice, .. } => {
                if let Some((turn, _)) = open.take_if(|(_, asked)| asked == ticket)
                    && choice.as_deref() == Some(RELEASE)
                {
                    released.insert(turn);
                }
            }
            _ => {}
        }
    }
    released
}

fn has_text(content: &[ContentBlock]) -> bool {
    content
        .iter()
        .any(|block| matches!(block, ContentBlock::Text(text) if !text.is_empty()))
}

/// Returns what judges left of an answer, whose step has it as the other guards did: the event has this text.
fn passed<'a>(content: &'a [ContentBlock], text: Option<&str>) -> Cow<'a, [ContentBlock]> {
    let Some(text) = text else {
        return Cow::Borrowed(content);
    };
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.as_str()),
        _ => None,
    });
    if texts.collect::<String>() == text {
        return Cow::Borrowed(content);
    }
    let mut message = Message {
        role: Role::Assistant,
        content: content.to_vec(),
    };
    message.replace_text(text);
    Cow::Owned(message.content)
}

/// Returns the item for an event that comes from people or workflows, or that ends the run; `None` for all other events.
fn of_people(event: &RunEvent) -> Option<TranscriptItem> {
    Some(match event {
        RunEvent::RunStarted { prompt, .. } => TranscriptItem::Prompt {
            text: prompt.clone(),
        },
        RunEvent::AgentAsked { agent, prompt, .. } => TranscriptItem::AgentAsked {
            agent: agent.clone(),
            text: prompt.clone(),
        },
        RunEvent::Guarded {
            point,
            guard,
            verdict,
            reason,
            call_id,
            ..
        } => TranscriptItem::Guarded {
            point: *point,
            guard: guard.clone(),
            verdict: verdict.clone(),
            reason: reason.clone(),
            call_id: call_id.clone(),
        },
        RunEvent::MessageReceived { text } => TranscriptItem::Message { text: text.clone() },
        RunEvent::ApprovalRequested { ticket, .. } => TranscriptItem::Ticket {
            ticket: ticket.clone(),
        },
        RunEvent::ApprovalDecided {
            ticket,
            verdict,
            approver,
            comment,
            args,
            text,
            choice,
            output,
            verified,
            ..
        } => TranscriptItem::Decision {
            ticket: ticket.clone(),
            verdict: *verdict,
            approver: approver.clone(),
            comment: comment.clone(),
            args: args.clone(),
            text: text.clone(),
            choice: choice.clone(),
            output: output.clone(),
            verified: *verified,
            remaining: 0,
        },
        RunEvent::ApprovalGiven {
            ticket,
            approver,
            verified,
            comment,
            args,
            remaining,
            ..
        } => TranscriptItem::Decision {
            ticket: ticket.clone(),
            verdict: Verdict::Approve,
            approver: approver.clone(),
            comment: comment.clone(),
            args: args.clone(),
            text: None,
            choice: None,
            output: None,
            verified: *verified,
            remaining: *remaining,
        },
        RunEvent::ApprovalEscalated { ticket, to, .. } => TranscriptItem::TicketEscalated {
            ticket: ticket.clone(),
            to: to.clone(),
        },
        RunEvent::DecisionRepeated {
            call_id,
            tool,
            verdict,
            approver,
            ..
        } => TranscriptItem::DecisionRepeated {
            call_id: call_id.clone(),
            tool: tool.clone(),
            verdict: *verdict,
            approver: approver.clone(),
        },
        RunEvent::ApprovalExpired { ticket } => TranscriptItem::TicketExpired {
            ticket: ticket.clone(),
        },
        RunEvent::Upgraded { changes, by, .. } => TranscriptItem::Upgraded {
            changes: changes.clone(),
            by: by.clone(),
        },
        RunEvent::HandedOver {
            from,
            to,
            reason,
            conversation,
            ..
        } => TranscriptItem::HandedOver {
            from: from.clone(),
            to: to.clone(),
            reason: reason.clone(),
            conversation: *conversation,
        },
        RunEvent::ContextCompacted {
            old_tokens,
            new_tokens,
            ..
        } => TranscriptItem::Compacted {
            old_tokens: *old_tokens,
            new_tokens: *new_tokens,
        },
        RunEvent::AnswerRejected { reason, .. } => TranscriptItem::AnswerRejected {
            reason: reason.clone(),
        },
        RunEvent::LeftOut { what, .. } => TranscriptItem::LeftOut { what: what.clone() },
        RunEvent::ModelFailed { failure, .. } => TranscriptItem::ModelFailed {
            failure: failure.clone(),
        },
        RunEvent::RunEnded {
            exit_reason, error, ..
        } => TranscriptItem::Ended {
            exit_reason: *exit_reason,
            error: error.clone(),
        },
        _ => return None,
    })
}

fn tool_call(id: &str, tool: &str, args: &Value) -> TranscriptItem {
    TranscriptItem::ToolCall {
        call_id: id.to_owned(),
        tool: tool.to_owned(),
        args: args.clone(),
    }
}

fn result(
    id: &str,
    tool: &str,
    is_error: bool,
    failure: Option<FailureKind>,
    content: Option<Vec<ContentItem>>,
) -> TranscriptItem {
    TranscriptItem::ToolResult {
        call_id: id.to_owned(),
        tool: tool.to_owned(),
        is_error,
        failure,
        content,
    }
}
