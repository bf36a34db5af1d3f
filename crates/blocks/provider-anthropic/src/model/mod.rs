//! What is known of the models and the API.

pub(crate) mod capabilities;
pub(crate) mod display;
pub(crate) mod version;
