//! The middleware that comes with this crate.

pub(crate) mod concurrency_limit;
pub(crate) mod hook_runner;
pub(crate) mod output_formatter;
pub(crate) mod permission_checker;
pub(crate) mod rate_limit;
pub(crate) mod schema_validator;
pub(crate) mod timeout;
pub(crate) mod turn;
