//! What one turn does otherwise.

use std::time::Duration;

use neuron_types::millis;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// What differs in one turn from the turn's defaults. `None` is the default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnConfig {
    /// The model, as `provider/model`, or by its name alone where the provider is the agent's own. Nothing is fallen back
    /// to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is appended to the system prompt, after a newline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_addendum: Option<String>,
    /// Model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Decimal>,
    /// The turn's own work.
    #[serde(
        rename = "max_duration_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_duration: Option<Duration>,
    /// The tools that the model is offered, [effect tools](crate::EffectTool) too: those of the turn's that are not here are
    /// left out of the requests, and a call of one is not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
}
