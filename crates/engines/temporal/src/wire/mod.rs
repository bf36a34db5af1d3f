//! What is written into histories and sent between clients, workflows and activities.

pub(crate) mod activity_inputs;
pub(crate) mod activity_options;
pub(crate) mod agent_run;
pub(crate) mod failure;
pub(crate) mod fairness;
pub(crate) mod heartbeat;
pub(crate) mod heartbeat_timeouts;
pub(crate) mod history_input;
pub(crate) mod history_json;
pub(crate) mod messages;
pub(crate) mod names;
pub(crate) mod pages;
pub(crate) mod payload_limits;
pub(crate) mod stated;
pub(crate) mod update_id;
