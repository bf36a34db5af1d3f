use std::fmt;

/// How large one event of a stream may be unless the decoder says otherwise, in bytes: 16 MiB.
///
/// The largest that servers send hold a whole answer, images included.
pub const MAX_EVENT: usize = 16 * 1024 * 1024;

/// One event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireEvent<'a> {
    /// The event's name; empty where the stream gives it none.
    pub name: &'a str,
    /// What it says. All the providers' wires say JSON here, which `serde_json::from_slice` also checks to
    /// be UTF-8.
    pub data: &'a [u8],
}

/// Cuts the body of an answer into events, however the bytes of it come in.
///
/// # Contract
///
/// 1. The events depend on the bytes alone, not on how they were split.
/// 2. What is kept between two calls is at most one event, and never more than the decoder's limit.
/// 3. No bytes make it panic.
///
/// ```
/// use neuron_provider_http::{EventDecoder, SseDecoder};
///
/// let mut decoder = SseDecoder::default();
/// let mut seen = Vec::new();
/// for mut chunk in [b"data: {\"a\"".as_slice(), b":1}\n\nda", b"ta: [DONE]"] {
///     while decoder.advance(&mut chunk)? {
///         seen.push(decoder.event().data.to_vec());
///     }
/// }
/// if decoder.finish() {
///     seen.push(decoder.event().data.to_vec());
/// }
/// assert_eq!(seen, [b"{\"a\":1}".as_slice(), b"[DONE]"]);
/// # Ok::<(), neuron_provider_http::EventTooLarge>(())
/// ```
pub trait EventDecoder {
    /// Takes bytes from the front of `input` until an event is complete, and returns whether one is. If it returns
    /// false, all of `input` is taken.
    ///
    /// # Errors
    ///
    /// The event that the bytes belong to is above the limit. The decoder is of no further use.
    fn advance(&mut self, input: &mut &[u8]) -> Result<bool, EventTooLarge>;

    /// Ends the body, and returns whether what was kept is a last event: one that its end did not follow. Such an event
    /// may be cut.
    fn finish(&mut self) -> bool;

    /// Returns the event that [`EventDecoder::advance`] or [`EventDecoder::finish`] just completed.
    fn event(&self) -> WireEvent<'_>;
}

/// An event above the decoder's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLarge {
    /// The limit, in bytes.
    pub limit: usize,
}

impl fmt::Display for EventTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an event of the stream has more than {} bytes",
            self.limit
        )
    }
}

impl std::error::Error for EventTooLarge {}

/// Appends `bytes` to what is kept of an event.
pub(crate) fn keep(buffer: &mut Vec<u8>, bytes: &[u8], limit: usize) -> Result<(), EventTooLarge> {
    if bytes.len() > limit.saturating_sub(buffer.len()) {
        return Err(EventTooLarge { limit });
    }
    buffer.extend_from_slice(bytes);
    Ok(())
}

/// Splits `input` at the first line end, or takes all of it where there is no line end.
pub(crate) fn split_line<'a>(input: &mut &'a [u8], end: Option<usize>) -> (&'a [u8], Option<u8>) {
    let (line, rest) = input.split_at(end.unwrap_or(input.len()));
    let (end, rest) = match rest.split_first() {
        Some((end, rest)) => (Some(*end), rest),
        None => (None, rest),
    };
    *input = rest;
    (line, end)
}
