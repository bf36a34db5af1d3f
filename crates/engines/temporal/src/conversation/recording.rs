//! What was said and done according to a history, as far as it can be read without the workflow.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use neuron_engine::KnownSteps;
use neuron_types::{
    CompletionResponse, ContentBlock, Decision, Effect, GuardOutcome, GuardRequest, Outcome,
    RecordedEvent, RunEvent, RunOutput, RunTags, StepFailure, StepId, TicketKind, ToolCall,
    ToolEffects, ToolOutput, signal,
};
use temporalio_common::{
    data_converters::{DataConverter, PayloadConverter},
    protos::{
        constants::LOCAL_ACTIVITY_MARKER_NAME,
        coresdk::common::extract_local_activity_marker_data,
        temporal::api::{
            common::v1::Payloads,
            failure::v1::Failure,
            history::v1::{
                ActivityTaskScheduledEventAttributes, HistoryEvent, MarkerRecordedEventAttributes,
                history_event::Attributes,
            },
        },
    },
};

use crate::{
    conversation::{
        fold::{decode, unreadable},
        judged::{Unjudged, instead_of, shown_of},
    },
    wire::{
        activity_inputs::{
            EffectStep, MODEL, MODEL_BESIDE, PERFORM, StepOf, TOOL, Terms, ToolStep,
        },
        failure::failure_in,
        history_input::{HistoryInput, Opening},
        messages::{AnySignal, UpdateRequest},
        stated::step_in,
    },
};

/// The prefix of calls in older builds that were no calls of tools.
const NO_TOOLS: &str = "neuron/";

/// One history, read.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    pub(crate) steps: KnownSteps,
    /// The events that the workflow would have emitted, as far as they are known without it: no tickets, and no calls
    /// that were not made.
    pub(crate) events: Vec<RecordedEvent>,
    /// Temporal's id of the history before this one.
    pub(crate) previous: Option<String>,
    /// Whether something in the history could not be read.
    pub(crate) is_unreadable: bool,
    /// The steps that were scheduled and have no result yet, by their events.
    scheduled: BTreeMap<i64, Scheduled>,
    /// What judges have not passed yet.
    unjudged: Unjudged,
    /// The newest turn.
    turn: u32,
    /// The calls that the newest answer asks for, in their order.
    asked: Vec<ToolCall>,
}

#[derive(Debug)]
enum Scheduled {
    Model(StepId),
    Judges(GuardRequest),
    Tool {
        step: StepId,
        call: ToolCall,
        effects: ToolEffects,
        /// Whether an older build scheduled it: such results do not name their kind.
        is_older: bool,
    },
}

impl Recording {
    /// Reads a whole history.
    pub(crate) async fn of(events: Vec<HistoryEvent>, converter: &DataConverter) -> Self {
        let mut recording = Self::default();
        for event in events {
            let read = recording.take_in(event, converter).await;
            recording.is_unreadable |= read.is_err();
        }
        recording
    }

    async fn take_in(
        &mut self,
        event: HistoryEvent,
        converter: &DataConverter,
    ) -> Result<(), StepFailure> {
        let at = event.event_time.as_ref().and_then(|time| {
            DateTime::from_timestamp(time.seconds, u32::try_from(time.nanos).unwrap_or_default())
        });
        let at = at.unwrap_or_default();
        match event.attributes {
            Some(Attributes::WorkflowExecutionStartedEventAttributes(started)) => {
                let previous = started.continued_execution_run_id;
                self.previous = Some(previous).filter(|previous| !previous.is_empty());
                let input: HistoryInput = decode(converter, started.input).await?;
                if let Some(why) = input.unknown() {
                    return Err(unreadable(&why));
                }
                self.begin(input, at);
            }
            Some(Attributes::ActivityTaskScheduledEventAttributes(scheduled)) => {
                self.schedule(event.event_id, scheduled, at, converter)
                    .await?;
            }
            Some(Attributes::ActivityTaskCompletedEventAttributes(completed)) => {
                match self.scheduled.remove(&completed.scheduled_event_id) {
                    Some(Scheduled::Model(step)) => {
                        let answer = decode(converter, completed.result).await?;
                        self.answered(step, &answer, at);
                    }
                    Some(Scheduled::Tool {
                        step,
                        call,
                        is_older,
                        ..
                    }) => {
                        let output = output_in(completed.result, is_older, converter).await?;
                        if let Some(output) = output {
                            self.called(step, &call, Ok(output), at);
                        }
                    }
                    Some(Scheduled::Judges(request)) => {
                        if let Outcome::Guard(said) = decode(converter, completed.result).await? {
                            self.judged(Some(&request), said);
                        }
                    }
                    None => {}
                }
            }
            Some(Attributes::ActivityTaskFailedEventAttributes(failed)) => {
                self.failed(failed.scheduled_event_id, failed.failure, at);
            }
            Some(Attributes::ActivityTaskTimedOutEventAttributes(timed_out)) => {
                self.failed(timed_out.scheduled_event_id, timed_out.failure, at);
            }
            Some(Attributes::MarkerRecordedEventAttributes(marker))
                if marker.marker_name == LOCAL_ACTIVITY_MARKER_NAME =>
            {
                self.made_beside(marker, at, converter).await?;
            }
            Some(Attributes::WorkflowExecutionSignaledEventAttributes(sent)) => {
                let payloads = sent.input.unwrap_or_default();
                self.signalled(AnySignal::read(&sent.signal_name, &payloads), at);
            }
            Some(Attributes::WorkflowExecutionUpdateAcceptedEventAttributes(accepted)) => {
                let input = accepted.accepted_request.and_then(|request| request.input);
                if let Some(input) = input {
                    let payloads = input.args.unwrap_or_default();
                    self.updated(&input.name, payloads, at);
                }
            }
            Some(Attributes::WorkflowExecutionCompletedEventAttributes(completed)) => {
                let output: RunOutput = decode(converter, completed.result).await?;
                if let Some(exit_reason) = output.exit_reason {
                    let ended = RunEvent::RunEnded {
                        exit_reason,
                        output: output.output,
                        error: output.error,
                        pools: output.pools,
                    };
                    self.record(ended, at);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn record(&mut self, event: RunEvent, at: DateTime<Utc>) {
        // The events are numbered when all histories are there.
        self.events.push(RecordedEvent { seq: 0, at, event });
    }

    fn begin(&mut self, input: HistoryInput, at: DateTime<Utc>) {
        match input.0 {
            Opening::New(request) => {
                let started = RunEvent::RunStarted {
                    agent: request.agent.name().to_owned(),
                    model: String::new(),
                    prompt: request.prompt.text(),
                    definition: String::new(),
                    tags: RunTags::default(),
                    nonce: None,
                    trace: None,
                    directory: None,
                    signed: false,
                };
                self.record(started, at);
            }
            Opening::Continued { continued } => {
                let behind = continued.next_event.saturating_sub(1);
                self.turn = continued.state.turn;
                self.steps.segment(behind, continued.state.into());
            }
            Opening::Wrong(_) | Opening::Unknown(_) => {}
        }
    }

    async fn schedule(
        &mut self,
        event: i64,
        scheduled: ActivityTaskScheduledEventAttributes,
        at: DateTime<Utc>,
        converter: &DataConverter,
    ) -> Result<(), StepFailure> {
        let activity = scheduled.activity_type.unwrap_or_default();
        match activity.name.as_str() {
            MODEL => {
                let StepOf { step } = decode(converter, scheduled.input).await?;
                self.turn_started(step, at);
                self.scheduled.insert(event, Scheduled::Model(step));
            }
            PERFORM => {
                let EffectStep { terms, effect, .. } = decode(converter, scheduled.input).await?;
                match effect {
                    Effect::Tool(call) => self.call_scheduled(event, &terms, call, false, at),
                    Effect::Guard(request) => {
                        self.scheduled.insert(event, Scheduled::Judges(request));
                    }
                    _ => {}
                }
            }
            TOOL => {
                let ToolStep { terms, call } = decode(converter, scheduled.input).await?;
                if !call.name.starts_with(NO_TOOLS) {
                    self.call_scheduled(event, &terms, call, true, at);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn call_scheduled(
        &mut self,
        event: i64,
        terms: &Terms,
        call: ToolCall,
        is_older: bool,
        at: DateTime<Utc>,
    ) {
        let called = RunEvent::ToolCalled {
            turn: terms.step.turn,
            call_id: call.id.clone(),
            tool: call.name.clone(),
            args: call.input.clone(),
        };
        self.record(called, at);
        let tool = Scheduled::Tool {
            step: terms.step,
            call,
            effects: terms.effects,
            is_older,
        };
        self.scheduled.insert(event, tool);
    }

    fn turn_started(&mut self, step: StepId, at: DateTime<Utc>) {
        if step.position == 0 && step.turn != self.turn {
            self.turn = step.turn;
            self.record(RunEvent::TurnStarted { turn: step.turn }, at);
        }
    }

    fn answered(&mut self, step: StepId, answer: &CompletionResponse, at: DateTime<Utc>) {
        self.steps.model(step, answer);
        if step.position == 0 {
            let calls = answer.message.content.iter().filter_map(asked_call);
            self.asked = calls.collect();
            let responded = RunEvent::ModelResponded {
                turn: step.turn,
                stop_reason: answer.stop_reason.clone(),
                text: shown_of(answer),
                usage: answer.usage.clone(),
                cost_usd: answer.cost_usd,
                model: answer.message.answered_by().map(ToOwned::to_owned),
                spent_before: answer.spent_before.clone(),
            };
            self.unjudged.answered(self.events.len(), answer);
            self.record(responded, at);
        }
    }

    fn judged(&mut self, request: Option<&GuardRequest>, said: GuardOutcome) {
        let event = self.unjudged.judged(request, said, &mut self.events);
        if let Some((place, event)) = event
            && let Some(at) = self.events.get(place).map(|recorded| recorded.at)
        {
            // It is the newest answer: nothing that is noted here is behind it.
            self.events
                .insert(place, RecordedEvent { seq: 0, at, event });
        }
    }

    fn called(
        &mut self,
        step: StepId,
        call: &ToolCall,
        result: Result<ToolOutput, StepFailure>,
        at: DateTime<Utc>,
    ) {
        // A call that waits for a result has no result yet.
        if matches!(&result, Ok(output) if output.pending.is_some()) {
            return;
        }
        let finished = RunEvent::ToolFinished {
            turn: step.turn,
            call_id: call.id.clone(),
            tool: call.name.clone(),
            is_error: result.as_ref().map_or(true, |output| output.is_error),
            failure: result.as_ref().err().map(|failure| failure.kind),
            reason: result.as_ref().ok().and_then(instead_of),
        };
        if let Ok(output) = &result {
            self.unjudged.called(self.events.len(), output);
        }
        self.steps.tool(step, result);
        self.record(finished, at);
    }

    fn failed(&mut self, event: i64, failure: Option<Failure>, at: DateTime<Utc>) {
        match (self.scheduled.remove(&event), failure) {
            (
                Some(Scheduled::Tool {
                    step,
                    call,
                    effects,
                    ..
                }),
                Some(failure),
            ) => {
                let failure = failure_in(&failure, effects);
                self.called(step, &call, Err(failure), at);
            }
            (Some(Scheduled::Model(step)), Some(failure)) if step.position == 0 => {
                let failed = RunEvent::ModelFailed {
                    turn: step.turn,
                    failure: failure_in(&failure, ToolEffects::ReadOnly),
                };
                self.record(failed, at);
            }
            _ => {}
        }
    }

    /// Adds a local activity: its marker has its result. Its input is in the answer before it.
    async fn made_beside(
        &mut self,
        mut marker: MarkerRecordedEventAttributes,
        at: DateTime<Utc>,
        converter: &DataConverter,
    ) -> Result<(), StepFailure> {
        let data = extract_local_activity_marker_data(&marker.details);
        let result = marker.details.remove("result");
        let Some((data, step)) = data.and_then(|data| {
            let step = step_in(&data.activity_id)?;
            Some((data, step))
        }) else {
            return Ok(());
        };
        match (data.activity_type.as_str(), result, marker.failure) {
            (MODEL_BESIDE, Some(result), _) => {
                let answer: Option<CompletionResponse> = decode(converter, Some(result)).await?;
                if let Some(answer) = answer {
                    self.turn_started(step, at);
                    self.answered(step, &answer, at);
                }
            }
            (name @ (PERFORM | TOOL), Some(result), _) if is_call(step) => {
                let output = output_in(Some(result), name == TOOL, converter).await?;
                match (output, self.asked_at(step)) {
                    (Some(output), Some(call)) => self.called(step, &call, Ok(output), at),
                    (Some(output), None) => self.steps.tool(step, Ok(output)),
                    (None, _) => {}
                }
            }
            (PERFORM, Some(result), _) => {
                let outcome = decode(converter, Some(result)).await;
                if let Ok(Outcome::Guard(said)) = outcome {
                    self.judged(None, said);
                }
            }
            (PERFORM | TOOL, None, Some(failure)) if is_call(step) => {
                // Another attempt may follow, whose result replaces this one.
                let failure = failure_in(&failure, ToolEffects::ReadOnly);
                self.steps.tool(step, Err(failure));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the call of this step, as the newest answer asks for it.
    fn asked_at(&self, step: StepId) -> Option<ToolCall> {
        let index = usize::try_from(step.position.checked_sub(1)?).ok()?;
        let is_of_newest = step.turn == self.turn;
        self.asked.get(index).filter(|_| is_of_newest).cloned()
    }

    fn signalled(&mut self, AnySignal { name, payload }: AnySignal, at: DateTime<Utc>) {
        match name.as_str() {
            signal::DECISION => {
                if let Ok(decision) = serde_json::from_value(payload) {
                    self.decided(decision, at);
                }
            }
            signal::USER_MESSAGE => {
                let text = payload.get("text").and_then(|text| text.as_str());
                if let Some(text) = text.map(ToOwned::to_owned) {
                    self.record(RunEvent::MessageReceived { text }, at);
                }
            }
            _ => {}
        }
    }

    fn updated(&mut self, name: &str, payloads: Payloads, at: DateTime<Utc>) {
        match UpdateRequest::read(name, payloads, &PayloadConverter::default()) {
            Ok(Some(UpdateRequest::Decide(decision))) => self.decided(decision, at),
            Ok(Some(UpdateRequest::Send(message))) => {
                self.record(RunEvent::MessageReceived { text: message.text }, at);
            }
            _ => {}
        }
    }

    fn decided(&mut self, decision: Decision, at: DateTime<Utc>) {
        let id = decision.id();
        let decided = RunEvent::ApprovalDecided {
            ticket: decision.ticket,
            kind: TicketKind::Call,
            verdict: decision.verdict,
            digest: decision.digest,
            approver: decision.approver,
            // The result of the verification is not read.
            verified: false,
            key: None,
            decided_at: decision.at,
            comment: decision.comment,
            args: decision.args,
            text: decision.text,
            choice: decision.choice,
            output: decision.output,
            decision: Some(id),
        };
        self.record(decided, at);
    }
}

/// Returns whether this is the place of a tool call.
const fn is_call(step: StepId) -> bool {
    step.position < StepId::OWN_CALLS
}

/// Returns the result of a tool call, also if an older build wrote it; `None` if it is the outcome of another effect.
async fn output_in(
    result: Option<Payloads>,
    is_older: bool,
    converter: &DataConverter,
) -> Result<Option<ToolOutput>, StepFailure> {
    if is_older {
        return decode(converter, result).await.map(Some);
    }
    Ok(match decode(converter, result).await? {
        Outcome::Tool(output) => Some(output),
        _ => None,
    })
}

fn asked_call(block: &ContentBlock) -> Option<ToolCall> {
    match block {
        ContentBlock::ToolUse {
            id, name, input, ..
        } => Some(ToolCall {
            id: id.clone(),
            name: name.clone(),
            input: input.clone(),
            ..ToolCall::default()
        }),
        _ => None,
    }
}
