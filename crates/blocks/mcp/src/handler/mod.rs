//! What a server may ask of its client: roots, sampling, elicitation.

pub(crate) mod client_handler;
#[cfg(feature = "protocol")]
pub(crate) mod questions;
#[cfg(feature = "protocol")]
pub(crate) mod roots;
#[cfg(feature = "protocol")]
pub(crate) mod sampling;
#[cfg(feature = "protocol")]
pub(crate) mod side;
