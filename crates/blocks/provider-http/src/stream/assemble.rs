use std::{collections::VecDeque, time::Duration};

use futures::stream;
use neuron_types::{CompletionResponse, ProviderError, StreamEvent, StreamHandle};

use crate::{ApiFailure, EventDecoder, EventStream, WireEvent};

/// How long the rest of a stream is waited for once the answer is there.
const GRACE: Duration = Duration::from_secs(5);

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
    ) -> Result<Progress, StreamFault>;

    /// Returns the whole answer, once; `None` where it is not complete. Called at [`Progress::Complete`], and
    /// at the end of the body.
    fn finish(&mut self) -> Option<CompletionResponse>;
}

/// How far an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There must be more.
    More,
    /// The answer is there, and its token counts or an end marker may follow: five seconds are allowed
    /// for each.
    Enough,
    /// The end marker was seen.
    Complete,
}

/// Why an event ends a stream.
#[derive(Debug)]
pub enum StreamFault {
    /// It is not the JSON that the wire says.
    Malformed(serde_json::Error),
    /// It says that the answer failed.
    Failed(ApiFailure),
}

impl From<serde_json::Error> for StreamFault {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error)
    }
}

impl<D: EventDecoder + Send + 'static> EventStream<D> {
    /// Turns the events into those of an answer. The last one is
    /// [`MessageComplete`](StreamEvent::MessageComplete) or [`Error`](StreamEvent::Error), whatever happens.
    ///
    /// An answer whose body ends, falls silent or breaks off before the wire's end marker is an error, unless
    /// [`Assemble::finish`] has the answer all the same.
    pub fn into_answer<A: Assemble>(self, assembler: A) -> StreamHandle {
        let answer = Answer {
            source: Some((self, assembler)),
            seen: VecDeque::new(),
            progress: Progress::More,
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
    /// `None` once the answer is over: its connection is not kept until somebody drops the stream.
    source: Option<(EventStream<D>, A)>,
    seen: VecDeque<StreamEvent>,
    progress: Progress,
}

impl<D: EventDecoder, A: Assemble> Answer<D, A> {
    /// Takes one more event in. `None` if the answer is over.
    async fn step(&mut self) -> Option<()> {
        let (events, assembler) = self.source.as_mut()?;
        let advanced = match self.progress {
            Progress::Enough => events.advance_within(GRACE).await,
            Progress::More | Progress::Complete => events.advance().await,
        };
        let incomplete = match advanced {
            Ok(true) => match assembler.take(events.event(), &mut self.seen) {
                Ok(Progress::Complete) => events.truncated(),
                Ok(progress) => {
                    self.progress = progress;
                    return Some(());
                }
                Err(StreamFault::Malformed(error)) => events.malformed(error),
                Err(StreamFault::Failed(failure)) => {
                    let error = events.failure(failure);
                    self.end(Err(error));
                    return Some(());
                }
            },
            Ok(false) => events.truncated(),
            Err(error) => error,
        };
        let end = assembler.finish().ok_or(incomplete);
        self.end(end);
        Some(())
    }

    fn end(&mut self, end: Result<CompletionResponse, ProviderError>) {
        self.source = None;
        self.seen.push_back(match end {
            Ok(response) => StreamEvent::MessageComplete(Box::new(response)),
            Err(error) => StreamEvent::Error(error),
        });
    }
}
