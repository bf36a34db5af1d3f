//! What a request is taken to use before it is sent.

use std::io::{self, Write};

use neuron_types::CompletionRequest;

/// The number of bytes of a request that make one token, roughly.
const BYTES: u64 = 4;

/// Estimates the tokens of a prompt: its JSON is counted, and not written.
pub(crate) fn estimate(request: &CompletionRequest) -> u64 {
    let mut bytes = Bytes(0);
    match serde_json::to_writer(&mut bytes, request) {
        Ok(()) => bytes.0 / BYTES,
        // It fails where it is sent.
        Err(_) => 0,
    }
}

/// Counts what is written.
struct Bytes(u64);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let more = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.0 = self.0.saturating_add(more);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
