//! The conversation of a run, read from the run's own history.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use neuron_types::{CompletionResponse, FailureKind, StepFailure};
use temporalio_common::{
    UntypedWorkflow,
    data_converters::{
        ActivitySerializationContext, DataConverter, SerializationContextData,
        TemporalDeserializable,
    },
    protos::temporal::api::{common::v1::Payloads, history::v1::history_event::Attributes},
};
use temporalio_sdk::activities::ActivityContext;

use crate::{
    carried::HistoryInput,
    payload::{MODEL, ModelStep, PART},
    transcript::Transcript,
};

/// The conversation as the run's model activities before this one left it.
pub(crate) async fn transcript_before(ctx: &ActivityContext) -> Result<Transcript, StepFailure> {
    let handle = ctx
        .workflow_handle::<UntypedWorkflow>()
        .ok_or_else(|| unreadable(&"the activity belongs to no run"))?;
    let converter = &handle.client().options().data_converter;
    let mut events = handle.fetch_history(Default::default());
    let mut transcript = Transcript::default();
    let mut asked = BTreeSet::new();
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| unreadable(&error))?;
        match event.attributes {
            Some(Attributes::WorkflowExecutionStartedEventAttributes(started))
                if !started.continued_execution_run_id.is_empty() =>
            {
                let input: HistoryInput = decode(converter, started.input).await?;
                transcript = Transcript::beginning_with(input.conversation())
                    .map_err(|error| unreadable(&error))?;
            }
            Some(Attributes::ActivityTaskScheduledEventAttributes(scheduled))
                if scheduled
                    .activity_type
                    .as_ref()
                    .is_some_and(|activity| activity.name == MODEL || activity.name == PART) =>
            {
                let is_call = scheduled
                    .activity_type
                    .as_ref()
                    .is_some_and(|activity| activity.name == MODEL);
                if scheduled.activity_id == ctx.info().activity_id {
                    break;
                }
                let step: ModelStep = decode(converter, scheduled.input).await?;
                if !step.delta.aside {
                    transcript
                        .apply(&step.delta)
                        .map_err(|error| unreadable(&error))?;
                    if is_call {
                        asked.insert(event.event_id);
                    }
                }
            }
            Some(Attributes::ActivityTaskCompletedEventAttributes(completed))
                if asked.contains(&completed.scheduled_event_id) =>
            {
                let response: CompletionResponse = decode(converter, completed.result).await?;
                transcript
                    .answer(&response.message)
                    .map_err(|error| unreadable(&error))?;
            }
            _ => {}
        }
    }
    Ok(transcript)
}

async fn decode<T: TemporalDeserializable + 'static>(
    converter: &DataConverter,
    payloads: Option<Payloads>,
) -> Result<T, StepFailure> {
    let context = SerializationContextData::Activity(ActivitySerializationContext::new());
    let payloads = payloads.unwrap_or_default().payloads;
    converter
        .from_payloads(&context, payloads)
        .await
        .map_err(|error| unreadable(&error))
}

/// Retryable: the next attempt reads again.
fn unreadable(error: &dyn std::fmt::Display) -> StepFailure {
    StepFailure::new(
        FailureKind::Unavailable,
        format!("the run's history cannot be read: {error}"),
    )
}
