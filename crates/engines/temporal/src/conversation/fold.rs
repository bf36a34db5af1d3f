//! A conversation, assembled from the events of a history.

use std::collections::BTreeMap;

use neuron_types::{CompletionResponse, ContentItem, FailureKind, Outcome, StepFailure};
use temporalio_common::{
    data_converters::{
        ActivitySerializationContext, DataConverter, SerializationContextData,
        TemporalDeserializable,
    },
    protos::{
        constants::LOCAL_ACTIVITY_MARKER_NAME,
        coresdk::common::extract_local_activity_marker_data,
        temporal::api::{
            common::v1::{ActivityType, Payloads},
            history::v1::{
                ActivityTaskScheduledEventAttributes, HistoryEvent, MarkerRecordedEventAttributes,
                history_event::Attributes,
            },
        },
    },
};

use crate::{
    conversation::transcript::Transcript,
    wire::{
        activity_inputs::{Delta, MODEL, MODEL_BESIDE, ModelStep, PART, PERFORM, StepOf},
        history_input::HistoryInput,
        stated::{ResultOf, step_name},
    },
};

/// What to do with the next event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Add it.
    TakeIn,
    /// Nothing: the conversation is complete.
    Stop,
}

/// A conversation that is being assembled from a history, event by event.
pub(crate) struct Fold<'a> {
    converter: &'a DataConverter,
    /// The activity that needs the conversation.
    own: &'a str,
    transcript: Transcript,
    /// The results of tool calls by the names of their steps.
    results: BTreeMap<String, Vec<ContentItem>>,
    /// The event of the newest model activity. An answer to an older one is not part of the conversation.
    asked: Option<i64>,
    /// The tool activities that have no result yet, by their events, with the names of their steps.
    called: BTreeMap<i64, String>,
}

impl<'a> Fold<'a> {
    /// Continues with a conversation that contains everything before the next event.
    pub(crate) fn from(converter: &'a DataConverter, own: &'a str, transcript: Transcript) -> Self {
        Self {
            converter,
            own,
            transcript,
            results: BTreeMap::new(),
            asked: None,
            called: BTreeMap::new(),
        }
    }

    /// Adds the next event.
    pub(crate) async fn take_in(&mut self, event: HistoryEvent) -> Result<Next, StepFailure> {
        match event.attributes {
            Some(Attributes::WorkflowExecutionStartedEventAttributes(started)) => {
                self.transcript = Transcript::default();
                if !started.continued_execution_run_id.is_empty() {
                    let input: HistoryInput = self.decode(started.input).await?;
                    if let Some(why) = input.unknown() {
                        return Err(unreadable(&why));
                    }
                    self.transcript = Transcript::beginning_with(input.conversation())
                        .map_err(|error| unreadable(&error))?;
                }
            }
            Some(Attributes::ActivityTaskScheduledEventAttributes(scheduled)) => {
                return self.scheduled(event.event_id, scheduled).await;
            }
            Some(Attributes::ActivityTaskCompletedEventAttributes(completed)) => {
                let scheduled = completed.scheduled_event_id;
                if self.asked == Some(scheduled) {
                    let response = self.decode(completed.result).await?;
                    self.answered(&response)?;
                } else if let Some(step) = self.called.remove(&scheduled) {
                    let outcome = self.decode(completed.result).await?;
                    self.performed(step, outcome);
                }
            }
            Some(Attributes::MarkerRecordedEventAttributes(marker))
                if marker.marker_name == LOCAL_ACTIVITY_MARKER_NAME =>
            {
                self.made_beside(marker).await?;
            }
            _ => {}
        }
        Ok(Next::TakeIn)
    }

    async fn scheduled(
        &mut self,
        event: i64,
        scheduled: ActivityTaskScheduledEventAttributes,
    ) -> Result<Next, StepFailure> {
        let activity = scheduled.activity_type.unwrap_or_default();
        match activity.name.as_str() {
            MODEL | PART if scheduled.activity_id == self.own => return Ok(Next::Stop),
            MODEL | PART => {
                let step: ModelStep = self.decode(scheduled.input).await?;
                if !step.delta.aside {
                    self.stated(&step.delta, scheduled.activity_id)?;
                    if activity.name == MODEL {
                        self.asked = Some(event);
                    }
                }
            }
            PERFORM => {
                let StepOf { step } = self.decode(scheduled.input).await?;
                self.called.insert(event, step_name(step));
            }
            _ => {}
        }
        Ok(Next::TakeIn)
    }

    /// Adds a local activity. Its marker has its result, and that of a model call its input too.
    async fn made_beside(
        &mut self,
        mut marker: MarkerRecordedEventAttributes,
    ) -> Result<(), StepFailure> {
        let Some(data) = extract_local_activity_marker_data(&marker.details) else {
            return Ok(());
        };
        let input = marker.details.remove("input");
        let result = marker.details.remove("result");
        match data.activity_type.as_str() {
            MODEL_BESIDE if input.is_some() => {
                let step: ModelStep = self.decode(input).await?;
                self.stated(&step.delta, data.activity_id)?;
                if result.is_some()
                    && let Some(response) = self.decode(result).await?
                {
                    self.answered(&response)?;
                }
            }
            PERFORM if result.is_some() => {
                let outcome = self.decode(result).await?;
                self.performed(data.activity_id, outcome);
            }
            _ => {}
        }
        Ok(())
    }

    fn performed(&mut self, step: String, outcome: Outcome) {
        if let Outcome::Tool(output) = outcome {
            self.results.insert(step, output.content);
        }
    }

    fn stated(&mut self, delta: &Delta, activity: String) -> Result<(), StepFailure> {
        let results = &self.results;
        let find = |named: &ResultOf| results.get(&named.step).cloned();
        self.transcript
            .apply(delta, find)
            .map_err(|error| unreadable(&error))?;
        self.transcript.mark = Some(activity);
        self.asked = None;
        Ok(())
    }

    fn answered(&mut self, response: &CompletionResponse) -> Result<(), StepFailure> {
        self.transcript
            .answer(&response.message)
            .map_err(|error| unreadable(&error))
    }

    /// Returns the conversation with this delta at its end, if it is the one that the run states.
    pub(crate) fn end(mut self, delta: &Delta) -> Result<Option<Transcript>, StepFailure> {
        let results = &self.results;
        let find = |named: &ResultOf| results.get(&named.step).cloned();
        let is_whole = self
            .transcript
            .apply(delta, find)
            .map_err(|error| unreadable(&error))?;
        let is_stated = is_whole && self.transcript.stated(delta);
        Ok(is_stated.then_some(self.transcript))
    }

    async fn decode<T: TemporalDeserializable + 'static>(
        &self,
        payloads: Option<Payloads>,
    ) -> Result<T, StepFailure> {
        decode(self.converter, payloads).await
    }
}

/// Decodes a payload of a history.
pub(crate) async fn decode<T: TemporalDeserializable + 'static>(
    converter: &DataConverter,
    payloads: Option<Payloads>,
) -> Result<T, StepFailure> {
    let context = SerializationContextData::Activity(ActivitySerializationContext::new());
    let payloads = payloads.unwrap_or_default().payloads;
    let read = converter.from_payloads(&context, payloads).await;
    read.map_err(|error| unreadable(&error))
}

/// Returns whether the event is the one that scheduled this activity.
pub(crate) fn is_of(event: &HistoryEvent, activity: &str) -> bool {
    match &event.attributes {
        Some(Attributes::ActivityTaskScheduledEventAttributes(scheduled)) => {
            let is_of_model = |kind: &ActivityType| kind.name == MODEL || kind.name == PART;
            scheduled.activity_id == activity
                && scheduled.activity_type.as_ref().is_some_and(is_of_model)
        }
        Some(Attributes::MarkerRecordedEventAttributes(marker))
            if marker.marker_name == LOCAL_ACTIVITY_MARKER_NAME =>
        {
            extract_local_activity_marker_data(&marker.details).is_some_and(|data| {
                data.activity_type == MODEL_BESIDE && data.activity_id == activity
            })
        }
        _ => false,
    }
}

/// Returns a retryable failure: the next attempt reads again.
pub(crate) fn unreadable(error: &dyn std::fmt::Display) -> StepFailure {
    StepFailure::new(
        FailureKind::Unavailable,
        format!("the run's history cannot be read: {error}"),
    )
}
