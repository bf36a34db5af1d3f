//! Custom workflows.

pub(crate) mod agent_answer;
pub(crate) mod carry_out;
pub(crate) mod child_run;
pub(crate) mod children;
pub(crate) mod door;
pub(crate) mod run;
pub(crate) mod scoped_agent;
pub(crate) mod text;
pub(crate) mod turn;
mod turns;
pub(crate) mod workflow;
pub(crate) mod workflow_error;
