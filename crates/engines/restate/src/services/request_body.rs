//! The body of a request to a handler, whose error is a sentence.

use std::fmt;

use bytes::Bytes;
use restate_sdk::serde::Deserialize;

/// The body of a request.
///
/// The SDK answers a request whose body it cannot read with the `Debug` text of the error; that of this one is for callers.
pub(super) struct RequestBody<I>(pub(super) I);

impl<I: Deserialize> Deserialize for RequestBody<I> {
    type Error = Unreadable<I::Error>;

    fn deserialize(bytes: &mut Bytes) -> Result<Self, Self::Error> {
        I::deserialize(bytes).map(Self).map_err(Unreadable)
    }
}

/// Why a body cannot be read.
#[derive(thiserror::Error)]
#[error(transparent)]
pub(super) struct Unreadable<E: std::error::Error + 'static>(E);

impl<E: std::error::Error> fmt::Debug for Unreadable<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
