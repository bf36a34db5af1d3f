//! What an agent is: its definition, its limits, its reminders.

mod attenuation;
pub(crate) mod call_bounds;
pub(crate) mod caller_setting;
mod changes;
pub(crate) mod current;
pub(crate) mod handoff;
mod narrowing;
pub(crate) mod on_halt;
pub(crate) mod on_loop;
pub(crate) mod origin;
pub(crate) mod override_rejected;
pub(crate) mod overrides;
pub(crate) mod reminder;
pub(crate) mod run_policy;
mod sent_tools;
pub(crate) mod skill;
pub(crate) mod spec;
pub(crate) mod sub_agent;
pub(crate) mod tool_search;
