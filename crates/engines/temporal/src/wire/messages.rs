//! Signals, updates and queries: what runs receive from outside.

use neuron_engine::{CancelBody, DecisionBody};
use neuron_types::{Decision, UserMessage, Verdict, signal};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use temporalio_common::{
    QueryDefinition, SignalDefinition, UpdateDefinition,
    data_converters::{
        GenericPayloadConverter as _, PayloadConverter, SerializationContext,
        SerializationContextData, WorkflowSerializationContext,
    },
    protos::temporal::api::common::v1::{Payload, Payloads},
};
use temporalio_workflow::workflows::{UpdateDefinitionDescriptor, WorkflowError};

use crate::wire::agent_run::AgentRun;

/// The updates that every run takes, besides decisions, which have the names of their [verdicts](Verdict::as_str).
pub(crate) const SEND: &str = "send";
pub(crate) const CANCEL: &str = "cancel";

/// The queries that every run answers.
pub(crate) const STATUS: &str = "status";
pub(crate) const EVENTS: &str = "events";
pub(crate) const TRANSCRIPT: &str = "transcript";
/// As the two above, in parts, each with how much is known already.
pub(crate) const EVENTS_AFTER: &str = "events_after";
pub(crate) const TRANSCRIPT_AFTER: &str = "transcript_after";

pub(crate) fn signal_names() -> Vec<String> {
    [
        signal::DECISION,
        signal::USER_MESSAGE,
        signal::CANCEL,
        signal::UPGRADE,
    ]
    .map(ToOwned::to_owned)
    .into()
}

pub(crate) fn query_names() -> Vec<String> {
    [STATUS, EVENTS, EVENTS_AFTER, TRANSCRIPT, TRANSCRIPT_AFTER]
        .map(ToOwned::to_owned)
        .into()
}

pub(crate) fn update_descriptors() -> Vec<UpdateDefinitionDescriptor> {
    let decisions = Verdict::ALL.map(Verdict::as_str);
    let names = decisions.into_iter().chain([SEND, CANCEL]);
    names
        .map(|name| UpdateDefinitionDescriptor {
            name: name.to_owned(),
            has_validator: true,
        })
        .collect()
}

/// Any signal, with its name.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnySignal {
    pub(crate) name: String,
    pub(crate) payload: Value,
}

impl AnySignal {
    /// Reads a signal without ever rejecting it: a payload that is not JSON would block the run. Such a payload is kept
    /// as text, and the loop reports that it cannot be read.
    pub(crate) fn read(name: &str, payloads: &Payloads) -> Self {
        let payload = payloads.payloads.first().map(value_of);
        Self {
            name: name.to_owned(),
            payload: payload.unwrap_or_default(),
        }
    }
}

/// Returns how much the caller knows already: nothing, if there is no argument.
pub(crate) fn known_already(payloads: &Payloads) -> u64 {
    let payload = payloads.payloads.first().map(value_of);
    payload.and_then(|value| value.as_u64()).unwrap_or_default()
}

fn value_of(payload: &Payload) -> Value {
    if payload.data.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(&payload.data)
        .unwrap_or_else(|_| String::from_utf8_lossy(&payload.data).into_owned().into())
}

/// The request of an update.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum UpdateRequest {
    Decide(Decision),
    Send(UserMessage),
    Cancel { reason: Option<String> },
}

impl UpdateRequest {
    /// Reads an update; returns `None` if no update has this name.
    pub(crate) fn read(
        name: &str,
        payloads: Payloads,
        converter: &PayloadConverter,
    ) -> Result<Option<Self>, WorkflowError> {
        if let Some(verdict) = Verdict::parse(name) {
            let body = typed::<DecisionBody>(payloads, converter)?;
            return Ok(Some(Self::Decide(body.with_verdict(verdict))));
        }
        Ok(Some(match name {
            SEND => Self::Send(typed(payloads, converter)?),
            CANCEL if payloads.payloads.is_empty() => Self::Cancel { reason: None },
            CANCEL => Self::Cancel {
                reason: typed::<Option<CancelBody>>(payloads, converter)?
                    .unwrap_or_default()
                    .reason,
            },
            _ => return Ok(None),
        }))
    }
}

fn typed<T: DeserializeOwned + 'static>(
    payloads: Payloads,
    converter: &PayloadConverter,
) -> Result<T, WorkflowError> {
    let data = SerializationContextData::Workflow(WorkflowSerializationContext::new());
    let context = SerializationContext::new(&data, converter);
    Ok(converter.from_payloads(&context, payloads.payloads)?)
}

/// The signals of a run, as a type for the SDK.
pub(crate) struct RunSignal(pub(crate) String);

impl SignalDefinition for RunSignal {
    type Workflow = AgentRun;
    type Input = Value;

    fn name(&self) -> &str {
        &self.0
    }
}

/// The signals as the host takes them.
pub(crate) struct HostSignal;

impl SignalDefinition for HostSignal {
    type Workflow = AgentRun;
    type Input = AnySignal;

    fn name(&self) -> &str {
        "any"
    }
}

/// The updates of a run, as a type for the SDK.
pub(crate) struct RunUpdate(pub(crate) &'static str);

impl UpdateDefinition for RunUpdate {
    type Workflow = AgentRun;
    type Input = Value;
    type Output = Value;

    fn name(&self) -> &str {
        self.0
    }
}

/// The updates as the host takes them.
pub(crate) struct HostUpdate;

impl UpdateDefinition for HostUpdate {
    type Workflow = AgentRun;
    type Input = UpdateRequest;
    type Output = ();

    fn name(&self) -> &str {
        "any"
    }
}

/// The queries of a run.
pub(crate) struct RunQuery<T> {
    pub(crate) name: &'static str,
    pub(crate) answer: std::marker::PhantomData<T>,
}

impl<T> RunQuery<T> {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            answer: std::marker::PhantomData,
        }
    }
}

impl<T: Serialize + DeserializeOwned + 'static> QueryDefinition for RunQuery<T> {
    type Workflow = AgentRun;
    type Input = u64;
    type Output = T;

    fn name(&self) -> &str {
        self.name
    }
}
