//! Which calls are put to a person, and what the person decides.

pub(crate) mod always;
pub(crate) mod approval;
pub(crate) mod ask_rule;
pub(crate) mod bounds;
pub(crate) mod caller_rules;
pub(crate) mod choice;
pub(crate) mod decided_at;
pub(crate) mod decision;
pub(crate) mod digest;
pub(crate) mod expiry;
pub(crate) mod given;
pub(crate) mod kind;
pub(crate) mod open;
pub(crate) mod pending;
pub(crate) mod policy;
pub(crate) mod remembered;
mod schema;
pub(crate) mod shown;
mod suit;
pub(crate) mod verification;
pub(crate) mod verify_decision;
