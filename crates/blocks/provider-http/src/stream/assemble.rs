use std::{collections::VecDeque, time::Duration};

use futures::stream;
use neuron_types::{CompletionResponse, ProviderError, StreamEvent, StreamHandle};
use serde::Deserialize;
use tokio::time::Instant;

use crate::{EventDecoder, NoAnswer, WireEvent, stream::event_stream::EventStream};

/// How long the rest of a stream is waited for once the answer is there.
const GRACE: Duration = Duration::from_secs(5);

/// A longer event is no ping.
const LONGEST_PING: usize = 256;

/// What one wire's events add up to. Pure: the same events always give the same answer.
pub trait Assemble: Send + 'static {
    /// Takes one event, and adds what a reader of the stream should see to `seen`.
    ///
    /// [`StreamEvent::MessageComplete`] and [`StreamEvent::Error`] are not added here.
    ///
    /// # Errors
    ///
    /// The event is not what the wire says, or says that the answer failed.
    fn take(
        &mut self,
        event: WireEvent<'_>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, NoAnswer>;

    /// Takes one event of a server in the wild: as [`take`](Self::take), but for those that carry nothing. Servers keep
    /// a connection alive with empty events, and with texts that are no JSON.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take).
    fn feed(
        &mut self,
        event: WireEvent<'_>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, NoAnswer> {
        match keeps_alive(event) {
            true => Ok(Progress::More),
            false => self.take(event, seen),
        }
    }

    /// Returns the whole answer, once. Called at [`Progress::Complete`], and at the end of the body.
    ///
    /// # Errors
    ///
    /// [`NoAnswer::Absent`] where the end is missing, or else what is wrong with the answer.
    fn finish(&mut self) -> Result<CompletionResponse, NoAnswer>;
}

/// Returns whether an event carries nothing.
fn keeps_alive(event: WireEvent<'_>) -> bool {
    let is_json = matches!(event.data.trim_ascii_start().first(), Some(b'{' | b'['));
    !is_json || event.name == "ping" || is_ping(event.data)
}

/// Returns whether an event calls itself a ping, and says no more than that.
fn is_ping(data: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(rename = "type", borrow)]
        kind: &'a str,
    }

    data.len() <= LONGEST_PING
        && serde_json::from_slice::<Kind<'_>>(data).is_ok_and(|it| it.kind == "ping")
}

/// How far an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There must be more.
    More,
    /// The answer is there, and its token counts or an end marker may follow: five seconds are allowed
    /// for each, whatever keeps the connection alive meanwhile.
    Enough,
    /// The end marker was seen.
    Complete,
}

impl<D: EventDecoder + Send + 'static> EventStream<D> {
    /// Turns the events into those of an answer whose request lacks what `left_out` names. The last event is
    /// [`MessageComplete`](StreamEvent::MessageComplete) or [`Error`](StreamEvent::Error), whatever happens.
    ///
    /// An answer whose body ends, falls silent or breaks off before the wire's end marker is an error, unless
    /// [`Assemble::finish`] has the answer all the same.
    pub(crate) fn into_answer<A: Assemble>(
        self,
        assembler: A,
        left_out: Vec<String>,
    ) -> StreamHandle {
        let answer = Answer {
            source: Some((self, assembler)),
            seen: VecDeque::new(),
            rest_until: None,
            has_begun: false,
            left_out,
        };
        StreamHandle {
            receiver: Box::pin(stream::unfold(answer, |mut answer| async move {
                loop {
                    if let Some(event) = answer.seen.pop_front() {
                        return Some((event, answer));
                    }
                    answer.step().await?;
                }
            })),
        }
    }
}

struct Answer<D, A> {
    /// `None` once the answer is over: its connection is not kept until the stream is dropped.
    source: Option<(EventStream<D>, A)>,
    seen: VecDeque<StreamEvent>,
    /// How long the rest is waited for, once the answer is there.
    rest_until: Option<Instant>,
    /// Something of an answer came.
    has_begun: bool,
    left_out: Vec<String>,
}

impl<D: EventDecoder, A: Assemble> Answer<D, A> {
    /// Takes one more event in. Returns `None` if the answer is over.
    async fn step(&mut self) -> Option<()> {
        let (events, assembler) = self.source.as_mut()?;
        let advanced = match self.rest_until {
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                events.advance_within(left).await
            }
            None => events.advance().await,
        };
        let incomplete = match advanced {
            Ok(true) => match assembler.feed(events.event(), &mut self.seen) {
                Ok(Progress::Complete) => events.ended_early(),
                Ok(progress) => {
                    if !keeps_alive(events.event()) {
                        let is_enough = progress == Progress::Enough;
                        self.rest_until = is_enough.then(|| Instant::now() + GRACE);
                    }
                    self.has_begun |= !self.seen.is_empty();
                    return Some(());
                }
                Err(fault) => {
                    let error = events.error_of(fault);
                    self.end(Err(error));
                    return Some(());
                }
            },
            Ok(false) if self.has_begun && events.is_whole() => events.ended_early(),
            Ok(false) => events.truncated(),
            Err(error) => error,
        };
        let end = assembler.finish().map_err(|fault| match fault {
            NoAnswer::Absent => incomplete,
            fault => events.error_of(fault),
        });
        self.end(end);
        Some(())
    }

    fn end(&mut self, end: Result<CompletionResponse, ProviderError>) {
        self.source = None;
        self.seen.push_back(match end {
            Ok(response) => StreamEvent::MessageComplete(Box::new(CompletionResponse {
                left_out: std::mem::take(&mut self.left_out),
                ..response
            })),
            Err(error) => StreamEvent::Error(error),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_carries_nothing_is_told_by_its_name_or_by_what_it_calls_itself() {
        let carries_nothing = |name, data: &str| {
            keeps_alive(WireEvent {
                name,
                data: data.as_bytes(),
            })
        };
        for (name, data) in [
            ("", ""),
            ("", "still here"),
            ("ping", "{}"),
            ("", "{\"type\":\"ping\"}"),
            ("", " {\"type\": \"ping\", \"at\": 1}"),
        ] {
            assert!(carries_nothing(name, data), "{name} {data}");
        }
        for (name, data) in [
            ("", "{}"),
            ("", "{\"type\":\"pong\"}"),
            ("", "{\"type\":{\"type\":\"ping\"}}"),
            ("", "[{\"type\":\"ping\"}]"),
            ("message", "{\"text\":\"ping\"}"),
        ] {
            assert!(!carries_nothing(name, data), "{name} {data}");
        }
    }
}
