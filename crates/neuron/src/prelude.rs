//! The names that most programs need: `use neuron::prelude::*;`.

pub use neuron_tool::{ToolError, neuron_tool};
pub use neuron_types::{Allowance, CallerSetting, LimitOverrides, Limits, RunRequest, ToolContext};

pub use crate::{
    Agent, Local, Model, Run, RunFailure, RunItem, Runs, Step, Ticket, ToolStep as _, builtin,
};
#[cfg(any(feature = "local", feature = "restate", feature = "temporal"))]
pub use crate::{EngineKind, Worker};
