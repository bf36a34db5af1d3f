//! Where a run stands in a distributed trace.

use std::{fmt, num::NonZeroU64, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::RunId;

/// What the hashes of ids begin with, so that they are no other hashes of the same.
const IDS: &[u8] = b"neuron trace id 1\0";

/// How long the state of other systems may be, in bytes: what [W3C Trace Context] has everybody pass on at least.
///
/// [W3C Trace Context]: https://www.w3.org/TR/trace-context/
const LONGEST_STATE: usize = 512;

/// A span of a trace, as [W3C Trace Context] names it to others: what is done next is a part of it.
///
/// As text, and so in JSON, it is the header `traceparent`, and behind a space the header `tracestate` where there is one.
///
/// ```
/// use neuron_types::TraceContext;
///
/// let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let context = TraceContext::from_headers(header, None).unwrap();
/// assert_eq!(context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
/// assert_eq!(context.traceparent(), header);
/// assert!(TraceContext::from_headers("00-0-0-0", None).is_none());
/// ```
///
/// [W3C Trace Context]: https://www.w3.org/TR/trace-context/
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    trace: [u8; 16],
    span: NonZeroU64,
    sampled: Option<bool>,
    state: Option<Box<str>>,
}

impl TraceContext {
    /// Returns a span of a trace of one's own: the trace has this id, which is not 0. The recorder decides by the id
    /// whether the trace is recorded.
    #[must_use]
    pub const fn new(trace: [u8; 16], span: NonZeroU64) -> Self {
        Self {
            trace,
            span,
            sampled: None,
            state: None,
        }
    }

    /// Reads what a caller sent in the headers of these names. `None` for what is no `traceparent`: the trace is then
    /// treated as absent, as the standard requires. A state that is too long (512 bytes), or no header's text, is left
    /// out.
    #[must_use]
    pub fn from_headers(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let mut context = Self::of_parent(traceparent.trim())?;
        let state = tracestate.map(str::trim).unwrap_or_default();
        context.state = is_state(state).then(|| state.into());
        Some(context)
    }

    fn of_parent(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let version = hex_of(parts.next()?, 2)?;
        let trace = u128::from_str_radix(digits(parts.next()?, 32)?, 16).ok()?;
        let span = NonZeroU64::new(hex_of(parts.next()?, 16)?)?;
        // Ours leaves out whether it is sampled, where the exporter decides by the trace's id.
        let flags = match parts.next() {
            Some(flags) => Some(hex_of(flags, 2)?),
            None => None,
        };
        let is_later = version > 0 && flags.is_some();
        let is_known = trace != 0 && version != 0xff && (is_later || version == 0);
        let has_more = parts.next().is_some();
        (is_known && (is_later || !has_more)).then_some(Self {
            trace: trace.to_be_bytes(),
            span,
            sampled: flags.map(|flags| flags & 1 == 1),
            state: None,
        })
    }

    /// Returns the trace's id: 32 digits.
    #[must_use]
    pub fn trace_id(&self) -> String {
        crate::hex(&self.trace)
    }

    /// Returns the span's id: 16 digits.
    #[must_use]
    pub fn span_id(&self) -> String {
        format!("{:016x}", self.span)
    }

    /// Returns whether the trace is recorded; `None` if the recorder decides by its id.
    #[must_use]
    pub const fn is_sampled(&self) -> Option<bool> {
        self.sampled
    }

    /// Returns the header `traceparent`. A trace is recorded if it is undecided whether it is.
    #[must_use]
    pub fn traceparent(&self) -> String {
        let flags = u8::from(self.sampled.unwrap_or(true));
        format!("00-{}-{}-{flags:02x}", self.trace_id(), self.span_id())
    }

    /// Returns the header `tracestate`, if there is one.
    #[must_use]
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns another span of the same trace.
    #[must_use]
    pub fn with_span(mut self, span: NonZeroU64) -> Self {
        self.span = span;
        self
    }

    /// Says whether the trace is recorded.
    #[must_use]
    pub const fn sampled(mut self, is_sampled: bool) -> Self {
        self.sampled = Some(is_sampled);
        self
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}", self.trace_id(), self.span_id())?;
        if let Some(sampled) = self.sampled {
            write!(f, "-{:02x}", u8::from(sampled))?;
        }
        match &self.state {
            Some(state) => write!(f, " {state}"),
            None => Ok(()),
        }
    }
}

/// A text is no trace context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "this is no trace context: it is written as the header `traceparent`, and a space and the header `tracestate` where there is one"
)]
pub struct NoTraceContext;

impl FromStr for TraceContext {
    type Err = NoTraceContext;

    fn from_str(text: &str) -> Result<Self, NoTraceContext> {
        let (parent, state) = match text.split_once(' ') {
            Some((parent, state)) => (parent, Some(state)),
            None => (text, None),
        };
        Self::from_headers(parent, state).ok_or(NoTraceContext)
    }
}

impl Serialize for TraceContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The spans of a run. Their ids follow from the run: every process that names one, or what is below it, names the same
/// one.
///
/// No process keeps a span open for as long as a run or a turn lasts. A worker that is killed takes no span with it.
#[derive(Debug, Clone, Copy)]
pub struct RunTrace<'a> {
    /// The run.
    pub run: &'a RunId,
    /// What no other run has, though it may have the name.
    pub nonce: Option<Uuid>,
    /// What the caller who started the run did it for, if the caller named that.
    pub given: Option<&'a TraceContext>,
}

impl RunTrace<'_> {
    /// The span of the run itself. Its trace is that which it was started for, or its own.
    #[must_use]
    pub fn of_run(&self) -> TraceContext {
        self.context(b"run", &[])
    }

    /// The span of a turn.
    #[must_use]
    pub fn of_turn(&self, turn: u32) -> TraceContext {
        self.context(b"turn", &turn.to_be_bytes())
    }

    /// The span of the call that started another run.
    #[must_use]
    pub fn of_child(&self, child: &RunId) -> TraceContext {
        self.context(b"child", child.as_str().as_bytes())
    }

    /// The span of the wait for an answer to a ticket.
    #[must_use]
    pub fn of_ticket(&self, ticket: &str) -> TraceContext {
        self.context(b"ticket", ticket.as_bytes())
    }

    /// Returns the span of a compaction from one number of tokens to another.
    #[must_use]
    pub fn of_compaction(&self, old_tokens: u64, new_tokens: u64) -> TraceContext {
        let of = [old_tokens.to_be_bytes(), new_tokens.to_be_bytes()];
        self.context(b"compaction", of.as_flattened())
    }

    /// The span that says how the run ended.
    #[must_use]
    pub fn of_end(&self) -> TraceContext {
        self.context(b"end", &[])
    }

    fn context(&self, kind: &[u8], of: &[u8]) -> TraceContext {
        let span = first_eight(&self.hash(&[kind, of]));
        match self.given {
            Some(given) => given.clone().with_span(span),
            None => TraceContext::new(self.own_trace(), span),
        }
    }

    fn own_trace(&self) -> [u8; 16] {
        let hash = self.hash(&[b"trace"]);
        hash.first_chunk().copied().unwrap_or([1; 16])
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(IDS);
        match self.nonce {
            Some(nonce) => hash.update(nonce.as_bytes()),
            None => hash.update(Sha256::digest(self.run.as_str())),
        }
        for part in parts {
            hash.update([0]);
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// An id of a span is never 0.
fn first_eight(hash: &[u8; 32]) -> NonZeroU64 {
    let bytes = hash.first_chunk::<8>().copied().unwrap_or_default();
    NonZeroU64::new(u64::from_be_bytes(bytes)).unwrap_or(NonZeroU64::MIN)
}

fn digits(text: &str, count: usize) -> Option<&str> {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (text.len() == count && text.bytes().all(is_hex)).then_some(text)
}

fn hex_of(text: &str, count: usize) -> Option<u64> {
    u64::from_str_radix(digits(text, count)?, 16).ok()
}

/// Returns whether it is what a header may hold, and no more than that.
fn is_state(text: &str) -> bool {
    let is_printable = |byte: u8| matches!(byte, b' '..=b'~');
    !text.is_empty() && text.len() <= LONGEST_STATE && text.bytes().all(is_printable)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn headers_are_read_as_the_standard_has_them() {
        let read = |text: &str| TraceContext::from_headers(text, None);
        assert_eq!(read(PARENT).unwrap().is_sampled(), Some(true));
        let unsampled = PARENT.replace("-01", "-00");
        assert_eq!(read(&unsampled).unwrap().is_sampled(), Some(false));
        // A later version may say more, and this one does not.
        let later = format!("cc{}-what-else", &PARENT[2..]);
        assert_eq!(read(&later).unwrap().traceparent(), PARENT);
        let longer = format!("{PARENT}-00");
        let zeros = PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32));
        let no_span = PARENT.replace("b7ad6b7169203331", &"0".repeat(16));
        let capital = PARENT.to_uppercase();
        let last = format!("ff{}", &PARENT[2..]);
        for wrong in [
            "",
            "00",
            &longer,
            &zeros,
            &no_span,
            &capital,
            &last,
            "00-é-é-é",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_no_state_is_left_out() {
        let state = |state: &str| TraceContext::from_headers(PARENT, Some(state));
        assert_eq!(state("a=1,b=2").unwrap().tracestate(), Some("a=1,b=2"));
        for wrong in ["", "a=\r\nb", "a=é", &"x".repeat(513)] {
            assert_eq!(state(wrong).unwrap().tracestate(), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_spans_of_a_run_are_its_own_and_of_one_trace() {
        let (run, other) = (RunId::new("r").unwrap(), RunId::new("s").unwrap());
        let trace = |nonce, given| RunTrace {
            run: &run,
            nonce,
            given,
        };
        let own = trace(Some(Uuid::from_u128(1)), None);
        let spans = [
            own.of_run(),
            own.of_end(),
            own.of_compaction(9, 3),
            own.of_turn(1),
            own.of_turn(2),
            own.of_child(&run),
            own.of_child(&other),
            own.of_ticket("t1-1"),
        ];
        let ids: std::collections::BTreeSet<_> = spans.iter().map(TraceContext::span_id).collect();
        assert_eq!(ids.len(), spans.len());
        let traces: std::collections::BTreeSet<_> =
            spans.iter().map(TraceContext::trace_id).collect();
        assert_eq!(traces.len(), 1);
        assert_eq!(own.of_run().is_sampled(), None);
        let again = trace(Some(Uuid::from_u128(2)), None);
        assert_ne!(again.of_run().trace_id(), own.of_run().trace_id());
        let client = TraceContext::from_headers(PARENT, Some("a=1")).unwrap();
        let given = trace(Some(Uuid::from_u128(1)), Some(&client));
        assert_eq!(given.of_run().trace_id(), client.trace_id());
        assert_eq!(given.of_run().span_id(), own.of_run().span_id());
        assert_eq!(given.of_run().tracestate(), Some("a=1"));
    }

    proptest! {
        #[test]
        fn whatever_is_sent_is_read_or_is_none(parent in "\\PC*", state in proptest::option::of("\\PC*")) {
            if let Some(context) = TraceContext::from_headers(&parent, state.as_deref()) {
                prop_assert_eq!(context.to_string().parse(), Ok(context));
            }
        }

        #[test]
        fn texts_are_read_back(trace in 1_u128.., span in 1_u64.., sampled in any::<Option<bool>>(), state in proptest::option::of("[a-z0-9=,]{1,20}")) {
            let context = TraceContext {
                trace: trace.to_be_bytes(),
                span: NonZeroU64::new(span).unwrap(),
                sampled,
                state: state.map(Into::into),
            };
            prop_assert_eq!(context.to_string().parse(), Ok(context));
        }
    }
}
