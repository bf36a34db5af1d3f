//! What a run shows, as values of a service's state: pages of events, each with the status at its end.

use neuron_types::{RecordedEvent, RunEvent, RunStatus};
use restate_sdk::{endpoint::ContextInternal, errors::TerminalError, serde::Json};
use serde::{Deserialize, Serialize, de::IgnoredAny};

/// What the keys of pages start with. They sort like the numbers of the pages' first events.
pub(crate) const PREFIX: &str = "events-";

/// How many events are returned at once.
const MOST: usize = 1_000;

/// How many bytes of pages are returned at once: far less than the 32 MiB that Restate takes in one message.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// How many pages are asked for at once.
const AT_ONCE: usize = 16;

/// Events that were written at once, and the status that they led to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Page<S = RunStatus> {
    /// The number of the first event, or of the one that comes first.
    first: u64,
    /// Without the last message, where the events have it.
    status: S,
    events: Vec<RecordedEvent>,
}

impl Page {
    /// The page of a run whose next event has the number `next`.
    pub(crate) fn new(next: u64, mut status: RunStatus, events: Vec<RecordedEvent>) -> Self {
        if last_message(&events) == status.last_message.as_ref() {
            status.last_message = None;
        }
        let first = events.first().map_or(next, |event| event.seq);
        Self {
            first,
            status,
            events,
        }
    }

    /// The status at the end of the page.
    pub(crate) fn into_status(self) -> RunStatus {
        let Self {
            mut status, events, ..
        } = self;
        if status.last_message.is_none() {
            status.last_message = last_message(&events).cloned();
        }
        status
    }
}

/// The model's last text, as far as these events say.
fn last_message(events: &[RecordedEvent]) -> Option<&String> {
    let texts = events.iter().rev().filter_map(|event| match &event.event {
        RunEvent::ModelResponded { text, .. } if text.is_some() => Some(text),
        RunEvent::RunEnded { output, .. } => Some(output),
        _ => None,
    });
    texts.map(Option::as_ref).next().flatten()
}

/// The events of a page, read without its status.
type EventPage = Page<IgnoredAny>;

pub(crate) fn write(ctx: &ContextInternal, page: Page) {
    ctx.set(&format!("{PREFIX}{:010}", page.first), Json(page));
}

/// The keys of all pages, in their order, and of whatever else is kept.
pub(crate) async fn keys(ctx: &ContextInternal) -> Result<Keys, TerminalError> {
    let (mut pages, others): (Vec<_>, Vec<_>) = ctx
        .get_keys()
        .await?
        .into_iter()
        .partition(|key| key.starts_with(PREFIX));
    pages.sort_unstable();
    Ok(Keys { pages, others })
}

/// What is kept of a run.
pub(crate) struct Keys {
    pages: Vec<String>,
    others: Vec<String>,
}

impl Keys {
    /// Whether something else than pages is kept under this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.others.iter().any(|other| other == key)
    }

    /// Whether nothing was written yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The newest status. `None` if nothing was written yet.
    pub(crate) async fn status(
        &self,
        ctx: &ContextInternal,
    ) -> Result<Option<RunStatus>, TerminalError> {
        let Some(newest) = self.pages.last() else {
            return Ok(None);
        };
        let page = ctx.get::<Json<Page>>(newest).await?;
        Ok(page.map(|Json(page)| page.into_status()))
    }

    /// The first of the events behind this number, in order: none if there are none, else so many that more can be
    /// asked for with the number of the last.
    pub(crate) async fn events(
        &self,
        ctx: &ContextInternal,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, TerminalError> {
        let first = |key: &String| {
            let digits = key.strip_prefix(PREFIX).unwrap_or_default();
            digits.parse().unwrap_or(0)
        };
        // The last page that starts at or before the first wanted event may hold it.
        let wanted = after.saturating_add(1);
        let skipped = self.pages.partition_point(|key| first(key) <= wanted);
        let keys = self.pages.get(skipped.saturating_sub(1)..);
        let mut answer = Answer::behind(after);
        for keys in keys.unwrap_or_default().chunks(AT_ONCE) {
            // All are asked for before one is waited for.
            let pages: Vec<_> = keys.iter().map(|key| ctx.get::<Vec<u8>>(key)).collect();
            for page in pages {
                if let Some(page) = page.await? {
                    answer.add(&page).map_err(TerminalError::from_error)?;
                }
            }
            if answer.is_full {
                break;
            }
        }
        Ok(answer.events)
    }
}

/// As many events as are returned at once.
struct Answer {
    after: u64,
    events: Vec<RecordedEvent>,
    bytes: usize,
    is_full: bool,
}

impl Answer {
    fn behind(after: u64) -> Self {
        Self {
            after,
            events: Vec::new(),
            bytes: 0,
            is_full: false,
        }
    }

    /// Takes in what is wanted of the next page, if there is room.
    fn add(&mut self, page: &[u8]) -> Result<(), serde_json::Error> {
        // A page that is larger than an answer is one. It came in one message, so it goes in one.
        if !self.events.is_empty() && self.bytes + page.len() > MOST_BYTES {
            self.is_full = true;
        }
        if self.is_full {
            return Ok(());
        }
        let EventPage { events, .. } = serde_json::from_slice(page)?;
        let wanted = events.into_iter().filter(|event| event.seq > self.after);
        let before = self.events.len();
        self.events.extend(wanted);
        if self.events.len() > before {
            self.bytes += page.len();
        }
        if self.events.len() >= MOST {
            self.events.truncate(MOST);
            self.is_full = true;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_types::RunEvent;

    use super::*;

    fn page(numbers: std::ops::RangeInclusive<u64>, bytes: usize) -> Vec<u8> {
        let first = *numbers.start();
        let events = numbers.map(|seq| RecordedEvent {
            seq,
            at: DateTime::UNIX_EPOCH,
            event: RunEvent::MessageReceived {
                text: "x".repeat(bytes),
            },
        });
        let page = Page {
            first,
            status: (),
            events: events.collect::<Vec<_>>(),
        };
        serde_json::to_vec(&page).unwrap()
    }

    /// The numbers in each answer from these pages.
    fn answers(pages: &[Vec<u8>]) -> Vec<Vec<u64>> {
        let mut answers: Vec<Vec<u64>> = Vec::new();
        loop {
            let last = answers.last().and_then(|answer| answer.last());
            let mut answer = Answer::behind(last.copied().unwrap_or(0));
            for page in pages {
                answer.add(page).unwrap();
            }
            if answer.events.is_empty() {
                return answers;
            }
            answers.push(answer.events.iter().map(|event| event.seq).collect());
        }
    }

    #[test]
    fn a_page_has_the_last_message_once_and_gives_it_back() {
        let at = DateTime::UNIX_EPOCH;
        let event = |seq, event| RecordedEvent { seq, at, event };
        let responded = |text: Option<&str>| RunEvent::ModelResponded {
            turn: 1,
            text: text.map(ToOwned::to_owned),
            stop_reason: neuron_types::StopReason::EndTurn,
            usage: neuron_types::TokenUsage::default(),
            cost_usd: None,
            model: None,
            spent_before: None,
        };
        let ended = |output: Option<&str>| RunEvent::RunEnded {
            exit_reason: neuron_types::ExitReason::Complete,
            output: output.map(ToOwned::to_owned),
            error: None,
        };
        let run = neuron_types::RunId::new("run").unwrap();
        let mut status = RunStatus::new(run, "restate", "default", at);
        for (events, is_in_events) in [
            (vec![], true),
            (vec![responded(Some("one")), responded(None)], true),
            (vec![responded(None)], false),
            (vec![responded(Some("two")), ended(Some("two"))], true),
            (vec![responded(Some("three")), ended(None)], true),
        ] {
            events.iter().for_each(|event| status.apply(event, at));
            let events = (1..).zip(events).map(|(seq, it)| event(seq, it));
            let page = Page::new(7, status.clone(), events.collect());
            assert_eq!(page.status.last_message.is_none(), is_in_events);
            let written = serde_json::to_vec(&page).unwrap();
            let page: Page = serde_json::from_slice(&written).unwrap();
            assert_eq!(page.into_status(), status);
        }
    }

    #[test]
    fn an_answer_ends_before_the_page_that_would_make_it_too_large() {
        let half = MOST_BYTES / 2;
        let written = [
            page(1..=1, half - 1_000),
            page(2..=3, 10),
            page(4..=4, half + 1_000),
            page(5..=5, 10),
        ];
        assert_eq!(answers(&written), [vec![1, 2, 3], vec![4, 5]]);
    }

    #[test]
    fn a_page_that_is_larger_than_an_answer_is_returned_alone() {
        let written = [page(1..=1, 10), page(2..=3, MOST_BYTES), page(4..=4, 10)];
        assert_eq!(answers(&written), [vec![1], vec![2, 3], vec![4]]);
    }

    #[test]
    fn an_answer_has_a_thousand_events_and_the_next_goes_on_in_the_middle_of_a_page() {
        let written = [page(1..=600, 1), page(601..=1_200, 1)];
        let answers = answers(&written);
        assert_eq!(
            answers,
            [Vec::from_iter(1..=1_000), Vec::from_iter(1_001..=1_200)]
        );
    }
}
