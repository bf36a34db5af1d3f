//! The terminal: what a person sees and types.

pub(crate) mod call;
pub(crate) mod describe;
pub(crate) mod keyboard;
pub(crate) mod line_reader;
pub(crate) mod live;
pub(crate) mod output;
pub(crate) mod passphrase;
pub(crate) mod progress;
pub(crate) mod shown;
pub(crate) mod streamed;
pub(crate) mod ticket;
pub(crate) mod transcript;
