//! The journaled door.

pub(crate) mod broken;
pub(crate) mod effects;
pub(crate) mod flight;
pub(crate) mod idle;
pub(crate) mod interrupt;
pub(crate) mod journaled_context;
pub(crate) mod park_policy;
pub(crate) mod recall;
pub(crate) mod request;
pub(crate) mod wait;
