//! How a door performs one effect.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    ActivitySettings, Bounds, Held, Priority, RetryPolicy, RunId, RunTags, StepId, ToolEffects,
    TraceContext, json::millis,
};

/// How a door performs one effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActivityOptions {
    /// Which step this is.
    pub step: StepId,
    /// Whose step it is in a run that several agents take turns in; the run's own where `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What no other run has, though it may have the name: the idempotency key is made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Uuid>,
    /// What the run is a part of in a distributed trace, if the caller who started it named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
    /// Whose run it is. The executor may have other keys for every tenant, and passes on the rest to tools and servers.
    #[serde(flatten)]
    pub tags: RunTags,
    /// The run at the top of the tree; `None` where the run itself is that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<RunId>,
    /// Patterns of calls that the caller who started the run [allowed](crate::CallerRules::allow): they count where the
    /// worker's agent lets callers allow calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// What the run is held to beside the rules of the worker's agent, as far as it is about the tool of the step: see
    /// [`AgentSpec::bounds_of_call`](crate::AgentSpec::bounds_of_call).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bounds>,
    /// The guards that look at what it comes to. An executor that lacks one does not do it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<String>,
    /// The digests of the skills that the run's definition has, by name, where the step is a call of the tool that reads
    /// them: it reads no others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skills: BTreeMap<String, String>,
    /// Whose requests go first where those for one key wait for their turn.
    #[serde(default, skip_serializing_if = "Priority::is_default")]
    pub priority: Priority,
    /// What may be done if an attempt fails or is lost. A model call is idempotent.
    pub effects: ToolEffects,
    /// How long one attempt may take.
    #[serde(rename = "start_to_close_timeout_ms", with = "millis")]
    pub start_to_close_timeout: Duration,
    /// How a failed attempt is followed by another. A write gets one attempt whatever this says.
    pub retry_policy: RetryPolicy,
    /// What is put aside for it, if it calls a model in a run with a budget: no attempt is made that is not provided for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// What else the engine learns about it.
    #[serde(default, skip_serializing_if = "ActivitySettings::is_default")]
    pub activity: ActivitySettings,
}

impl ActivityOptions {
    /// How long one attempt to begin may take: it is about what a worker has in its memory.
    const BEGINNING: Duration = Duration::from_secs(5);

    /// The same where the run continues with a session: the run before it is looked at on its engine.
    pub(crate) const TAKING_A_SESSION: Duration = Duration::from_secs(60);

    /// Returns how a door performs the step by which a run begins whose definition is not known.
    #[must_use]
    pub fn of_beginning(tags: &RunTags) -> Self {
        Self {
            step: StepId::BEGIN,
            agent: None,
            nonce: None,
            trace: None,
            tags: tags.clone(),
            root: None,
            allow: Vec::new(),
            bounds: Vec::new(),
            guards: Vec::new(),
            skills: BTreeMap::new(),
            priority: Priority::default(),
            effects: ToolEffects::ReadOnly,
            start_to_close_timeout: Self::BEGINNING,
            retry_policy: RetryPolicy::default(),
            held: None,
            activity: ActivitySettings::default(),
        }
    }
}
