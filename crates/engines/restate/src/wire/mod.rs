//! What is journaled, kept in state and sent between the services.

pub(crate) mod end_address;
pub(crate) mod entries;
pub(crate) mod given;
pub(crate) mod messages;
pub(crate) mod meter;
pub(crate) mod pages;
pub(crate) mod service_names;
pub(crate) mod settings_error;
pub(crate) mod wrong_start;
