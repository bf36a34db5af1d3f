//! What a person is asked while a run goes on.

pub(crate) mod asker;
pub(crate) mod below;
pub(crate) mod elicitation;
pub(crate) mod form_field;
pub(crate) mod home;
pub(crate) mod person;
pub(crate) mod question;
pub(crate) mod trust;
