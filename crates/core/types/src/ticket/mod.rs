//! Which calls are put to a person, and what the person decides.

pub(crate) mod approval;
pub(crate) mod call_pattern;
pub(crate) mod caller_rules;
pub(crate) mod policy;
