//! What a server may ask of its client: roots, sampling, elicitation.

pub(crate) mod client_handler;
pub(crate) mod questions;
pub(crate) mod sampling;
pub(crate) mod side;
