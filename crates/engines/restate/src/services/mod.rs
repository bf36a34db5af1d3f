//! The services that a run consists of: the workflow, its inbox and its record.

pub(crate) mod agent;
pub(crate) mod dispatch;
pub(crate) mod inbox;
pub(crate) mod options;
pub(crate) mod record_service;
pub(crate) mod refusal;
mod request_body;
pub(crate) mod segment_service;
pub(crate) mod segments;
