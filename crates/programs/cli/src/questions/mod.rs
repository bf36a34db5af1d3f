//! The questions that a person is asked during a run.

pub(crate) mod asker;
pub(crate) mod below;
pub(crate) mod elicitation;
pub(crate) mod form_field;
pub(crate) mod home;
pub(crate) mod person;
pub(crate) mod question;
pub(crate) mod trust;
