//! The names that most programs need: `use neuron::prelude::*;`.

pub use neuron_tool::{ToolError, neuron_tool};
pub use neuron_types::{Allowance, CallerSetting, LimitOverrides, Limits, RunRequest, ToolContext};

pub use crate::{
    Agent, EngineKind, Local, Model, Run, RunFailure, RunItem, Runs, Step, Ticket, ToolStep as _,
    Worker, builtin,
};
