//! What a run shows, as values of a service's state: pages of events, each with the status at its end.
//!
//! A page is written in few bytes: its status only has the differences to that of an earlier page, and its events have
//! neither numbers nor times that follow from the event before.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunEvent, RunStatus};
use restate_sdk::{endpoint::ContextInternal, errors::TerminalError, serde::Json};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::Value;

/// The prefix of the keys of pages. The keys sort like the numbers of the pages' first events.
pub(crate) const PREFIX: &str = "events-";

/// The most events that are returned at once.
const MOST: usize = 1_000;

/// The most bytes of pages that are returned at once: far less than the 32 MiB that Restate takes in one message.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// How many pages are requested at once.
const AT_ONCE: usize = 16;

/// The fields of a status.
pub(crate) type Fields = BTreeMap<String, Value>;

/// Events that were written at once, and the status that they led to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Page<S = Fields> {
    /// The number of the first event, or of the event that will be the first.
    first: u64,
    /// The status, without the last message if the events have it.
    status: S,
    /// The number of the page whose status has what this one leaves out; `None` if this one is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
    events: Vec<Written>,
}

/// An event of a page. Usually it has neither its number, which is one more than that of the event before, nor its
/// time, which is that of the event before.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<DateTime<Utc>>,
    #[serde(flatten)]
    event: RunEvent,
}

/// The status of an earlier page, which later pages state the changes to.
#[derive(Debug)]
pub(crate) struct Base {
    first: u64,
    status: Fields,
}

impl Page {
    /// Returns the page of a run whose next event has the number `next`. It has what differs from the `base`, and
    /// becomes the base if there is no base yet.
    ///
    /// A page without events is complete, and is no base: the next one is written in its place.
    pub(crate) fn new(
        next: u64,
        mut status: RunStatus,
        events: Vec<RecordedEvent>,
        base: &mut Option<Base>,
    ) -> Self {
        if last_message(events.iter().map(|recorded| &recorded.event))
            == status.last_message.as_ref()
        {
            status.last_message = None;
        }
        let status = fields_of(&status);
        let first = events.first().map(|event| event.seq);
        let (status, since) = match (first, &base) {
            (None, _) => (status, None),
            (Some(_), Some(base)) => (changes(&base.status, status), Some(base.first)),
            (Some(first), None) => {
                let status = base.insert(Base { first, status }).status.clone();
                (status, None)
            }
        };
        let first = first.unwrap_or(next);
        Self {
            first,
            status,
            since,
            events: written(events),
        }
    }

    /// Returns the number of the page that its status is based on, if the status is not complete.
    pub(crate) const fn since(&self) -> Option<u64> {
        self.since
    }

    /// Returns the status at the end of the page, which may be based on that of an earlier one.
    ///
    /// # Errors
    ///
    /// If it is not a status of this build.
    pub(crate) fn into_status(self, base: Option<Self>) -> Result<RunStatus, serde_json::Error> {
        let mut fields = base.map(|base| base.status).unwrap_or_default();
        for (name, value) in self.status {
            match value {
                Value::Null => drop(fields.remove(&name)),
                value => drop(fields.insert(name, value)),
            }
        }
        let fields = fields.into_iter().collect();
        let mut status = RunStatus::deserialize(Value::Object(fields))?;
        if status.last_message.is_none() {
            status.last_message = last_message(self.events.iter().map(|it| &it.event)).cloned();
        }
        Ok(status)
    }
}

fn fields_of(status: &RunStatus) -> Fields {
    match serde_json::to_value(status) {
        Ok(Value::Object(fields)) => fields.into_iter().collect(),
        // A status is an object of texts and numbers.
        _ => Fields::new(),
    }
}

/// Returns the fields that differ, with nothing for those that are gone.
fn changes(before: &Fields, now: Fields) -> Fields {
    let mut changes = Fields::new();
    let gone = |name: &String| (name.clone(), Value::Null);
    // Both are in the order of their names.
    let mut before = before.iter().peekable();
    for (name, value) in now {
        while let Some((earlier, _)) = before.next_if(|(earlier, _)| **earlier < name) {
            changes.extend([gone(earlier)]);
        }
        match before.next_if(|(same, _)| **same == name) {
            Some((_, was)) if *was == value => {}
            _ => drop(changes.insert(name, value)),
        }
    }
    changes.extend(before.map(|(name, _)| gone(name)));
    changes
}

fn written(events: Vec<RecordedEvent>) -> Vec<Written> {
    let mut before = None;
    let written = events.into_iter().map(|RecordedEvent { at, event, .. }| {
        let is_new = before.replace(at) != Some(at);
        Written {
            seq: None,
            at: is_new.then_some(at),
            event,
        }
    });
    written.collect()
}

impl<S> Page<S> {
    fn into_events(self) -> impl Iterator<Item = RecordedEvent> {
        let (mut seq, mut at) = (self.first.saturating_sub(1), DateTime::UNIX_EPOCH);
        self.events.into_iter().map(move |written| {
            seq = written.seq.unwrap_or(seq.saturating_add(1));
            at = written.at.unwrap_or(at);
            let event = written.event;
            RecordedEvent { seq, at, event }
        })
    }
}

/// Returns the model's last text, as far as these events have it.
fn last_message<'a>(events: impl DoubleEndedIterator<Item = &'a RunEvent>) -> Option<&'a String> {
    let texts = events.rev().filter_map(|event| match event {
        RunEvent::ModelResponded { text, .. } if text.is_some() => Some(text),
        RunEvent::RunEnded { output, .. } => Some(output),
        _ => None,
    });
    texts.map(Option::as_ref).next().flatten()
}

/// The events of a page, read without its status.
type EventPage = Page<IgnoredAny>;

pub(crate) fn write(ctx: &ContextInternal, page: Page) {
    ctx.set(&key(page.first), Json(page));
}

/// Returns the key of the page of this number.
pub(crate) fn key(first: u64) -> String {
    format!("{PREFIX}{first:010}")
}

/// Returns the keys of all pages, in their order, and of whatever else is kept.
pub(crate) async fn keys(ctx: &ContextInternal) -> Result<Keys, TerminalError> {
    let (mut pages, others): (Vec<_>, Vec<_>) = ctx
        .get_keys()
        .await?
        .into_iter()
        .partition(|key| key.starts_with(PREFIX));
    pages.sort_unstable();
    Ok(Keys { pages, others })
}

/// The keys of what is kept of a run.
pub(crate) struct Keys {
    pages: Vec<String>,
    others: Vec<String>,
}

impl Keys {
    /// Returns whether something else than pages is kept under this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.others.iter().any(|other| other == key)
    }

    /// Returns whether nothing was written yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns the newest status, or `None` if nothing was written yet.
    pub(crate) async fn status(
        &self,
        ctx: &ContextInternal,
    ) -> Result<Option<RunStatus>, TerminalError> {
        let Some(newest) = self.pages.last() else {
            return Ok(None);
        };
        let Some(Json(page)) = ctx.get::<Json<Page>>(newest).await? else {
            return Ok(None);
        };
        let base = match page.since() {
            Some(since) => ctx.get::<Json<Page>>(&key(since)).await?,
            None => None,
        };
        let base = base.map(Json::into_inner);
        let status = page.into_status(base);
        status.map(Some).map_err(TerminalError::from_error)
    }

    /// Returns the first of the events behind this number, in order: an empty list if no event is behind it, else so
    /// many that more can be requested with the number of the last.
    pub(crate) async fn events(
        &self,
        ctx: &ContextInternal,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, TerminalError> {
        let first = |key: &String| {
            let digits = key.strip_prefix(PREFIX).unwrap_or_default();
            digits.parse().unwrap_or(0)
        };
        // The last page that starts at or before the first wanted event may contain it.
        let wanted = after.saturating_add(1);
        let skipped = self.pages.partition_point(|key| first(key) <= wanted);
        let keys = self.pages.get(skipped.saturating_sub(1)..);
        let mut answer = Answer::behind(after);
        for keys in keys.unwrap_or_default().chunks(AT_ONCE) {
            // All are requested before one is waited for.
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

    /// Adds what is wanted of the next page, if there is room.
    fn add(&mut self, page: &[u8]) -> Result<(), serde_json::Error> {
        // A page that is larger than an answer is an answer by itself. It came in one message, so it fits one.
        if !self.events.is_empty() && self.bytes + page.len() > MOST_BYTES {
            self.is_full = true;
        }
        if self.is_full {
            return Ok(());
        }
        let events = serde_json::from_slice::<EventPage>(page)?.into_events();
        let wanted = events.filter(|event| event.seq > self.after);
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
    use std::collections::BTreeMap;

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
            since: None,
            events: written(events.collect()),
        };
        serde_json::to_vec(&page).unwrap()
    }

    /// Returns the numbers in each answer from these pages.
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
    fn what_changed_of_a_status_leads_from_the_one_to_the_other() {
        // Each field is missing, or has one of two values.
        let all: Vec<Fields> = (0..81_u32)
            .map(|number| {
                let fields = (0..4).filter_map(|field| {
                    let value = number / 3_u32.pow(field) % 3;
                    (value > 0).then(|| (format!("field-{field}"), Value::from(value)))
                });
                fields.collect()
            })
            .collect();
        for before in &all {
            for now in &all {
                let mut changed = before.clone();
                for (name, value) in changes(before, now.clone()) {
                    assert_ne!(before.get(&name), Some(&value), "{before:?} {now:?}");
                    match value {
                        Value::Null => drop(changed.remove(&name)),
                        value => drop(changed.insert(name, value)),
                    }
                }
                assert_eq!(changed, *now, "{before:?}");
            }
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
            pools: None,
        };
        let run = neuron_types::RunId::new("run").unwrap();
        let mut status = RunStatus::new(run, "restate", "default", at);
        let mut base = None;
        let mut written = BTreeMap::new();
        let mut seq = 0;
        for (events, is_in_events) in [
            (vec![], true),
            (vec![responded(Some("one")), responded(None)], true),
            (vec![responded(None)], false),
            (vec![], false),
            (vec![responded(Some("two")), ended(Some("two"))], true),
            (vec![responded(Some("three")), ended(None)], true),
        ] {
            events.iter().for_each(|event| status.apply(event, at));
            let has_events = !events.is_empty();
            let events: Vec<_> = events
                .into_iter()
                .map(|it| event(next(&mut seq), it))
                .collect();
            let had_base = base.is_some();
            let page = Page::new(seq + 1, status.clone(), events, &mut base);
            // All pages except the first with events, and those without any, state the changes alone.
            assert_eq!(page.since(), (has_events && had_base).then_some(1));
            assert_eq!(page.status.contains_key("run_id"), page.since().is_none());
            let says = page.status.get("last_message");
            assert_eq!(!says.is_some_and(Value::is_string), is_in_events);
            let key = page.first;
            written.insert(key, serde_json::to_vec(&page).unwrap());
            // As a reader has it: of each key the newest.
            let read = |key: u64| serde_json::from_slice::<Page>(&written[&key]).unwrap();
            let newest = read(*written.keys().next_back().unwrap());
            let said = newest.since().map(read);
            assert_eq!(newest.into_status(said).unwrap(), status);
        }
    }

    fn next(seq: &mut u64) -> u64 {
        *seq += 1;
        *seq
    }

    #[test]
    fn a_page_of_an_older_build_is_read_with_the_numbers_and_times_of_its_events() {
        let events = (3..=5).map(|seq| RecordedEvent {
            seq,
            at: DateTime::UNIX_EPOCH + chrono::TimeDelta::seconds(i64::try_from(seq / 2).unwrap()),
            event: RunEvent::TurnStarted { turn: 1 },
        });
        let events: Vec<_> = events.collect();
        let older = serde_json::json!({"first": 3, "status": {}, "events": events});
        let newer = Page {
            first: 3,
            status: (),
            since: None,
            events: written(events.clone()),
        };
        let newer = serde_json::to_value(newer).unwrap();
        let bytes = |json: &Value| json.to_string().len();
        assert!(bytes(&newer) < bytes(&older), "{newer}");
        for json in [older, newer] {
            let page: EventPage = serde_json::from_value(json).unwrap();
            assert_eq!(page.into_events().collect::<Vec<_>>(), events);
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
