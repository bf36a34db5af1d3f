//! Search attributes, by which lists of runs can be filtered, on namespaces that have them.

use neuron_engine::RunFilter;
use neuron_types::{RunEvent, RunPhase, RunStatus, json_bytes};
use rust_decimal::prelude::ToPrimitive as _;
use temporalio_common::search_attributes::{
    SearchAttributeError, SearchAttributeKey, SearchAttributeUpdate,
};

/// The mark of histories that set search attributes.
pub(crate) const MARK: &str = "neuron-search-attributes-2";

/// As [`MARK`], in histories of versions in which a run that waits for a person counted as running after a message.
pub(crate) const MARK_1: &str = "neuron-search-attributes";

/// The mark of a run's first history if it sets the attributes for the run's tags.
pub(crate) const MARK_TAGS: &str = "neuron-search-attributes-tags";

/// The attribute with the agent's name.
pub(crate) const AGENT_NAME: &str = "NeuronAgent";

/// The attribute with the state of the run, as in its status.
pub(crate) const STATE_NAME: &str = "NeuronState";

pub(crate) const AGENT: SearchAttributeKey<String> = SearchAttributeKey::keyword(AGENT_NAME);
pub(crate) const STATE: SearchAttributeKey<String> = SearchAttributeKey::keyword(STATE_NAME);
pub(crate) const COST: SearchAttributeKey<f64> = SearchAttributeKey::float("NeuronCostUsd");
pub(crate) const TENANT: SearchAttributeKey<String> = SearchAttributeKey::keyword("NeuronTenant");
pub(crate) const OWNER: SearchAttributeKey<String> = SearchAttributeKey::keyword("NeuronOwner");
pub(crate) const LABELS: SearchAttributeKey<Vec<String>> =
    SearchAttributeKey::keyword_list("NeuronLabels");

/// The longest keyword that every database of the server takes.
const LONGEST: usize = 255;

/// The most bytes of a list of keywords. The server takes 2 KB by default, and a run that sets more is stuck.
const LONGEST_LIST: usize = 1_536;

/// Which attributes a namespace has.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// All attributes for the state of the run.
    pub(crate) state: bool,
    /// All attributes for the tags of the run.
    pub(crate) tags: bool,
}

impl Attributes {
    /// Returns the conditions of a filter that the server can evaluate, in the words of its lists. The server lists
    /// more: runs without the attributes, such as those that began before there were attributes.
    pub(crate) fn conditions(self, filter: &RunFilter) -> Vec<String> {
        let mut conditions = Vec::new();
        let mut must_be = |name: &str, value: &str| {
            // Other characters cannot be part of a query.
            if is_plain(value) {
                conditions.push(format!("({name} = '{value}' OR {name} IS NULL)"));
            }
        };
        if let (true, Some(agent)) = (self.state, &filter.agent) {
            must_be(AGENT.name(), agent);
        }
        if self.tags {
            if let Some(tenant) = &filter.tenant {
                must_be(TENANT.name(), tenant);
            }
            if let Some(owner) = &filter.owner {
                must_be(OWNER.name(), owner);
            }
            for (key, value) in &filter.labels {
                must_be(LABELS.name(), &label(key, value));
            }
        }
        conditions
    }
}

fn is_plain(value: &str) -> bool {
    let mut bytes = value.bytes();
    is_keyword(value)
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/@=".contains(&byte))
}

/// Returns whether the server keeps a value as it is, whatever its database.
fn is_keyword(value: &str) -> bool {
    !value.is_empty() && value.len() <= LONGEST && !value.contains(char::is_control)
}

/// Returns a label as one keyword.
fn label(key: &str, value: &str) -> String {
    format!("{key}={value}")
}

/// The attributes that a history has set.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    is_on: bool,
    /// Whether the tags are still to be set.
    is_to_tag: bool,
    state: Option<RunPhase>,
    /// Whether the history has the mark [`MARK_1`].
    is_first_version: bool,
    /// Whether nothing has come after a message to a run that waits for a person, in such a history.
    is_after_message: bool,
}

impl Shown {
    /// Makes this history set attributes for the run's state.
    pub(crate) fn turn_on(&mut self) {
        self.is_on = true;
    }

    /// Makes this history set the state as the first version did: a replay sets the same.
    pub(crate) fn turn_on_first_version(&mut self) {
        self.is_on = true;
        self.is_first_version = true;
    }

    /// Records an event.
    pub(crate) fn note(&mut self, event: &RunEvent) {
        match event {
            RunEvent::MessageReceived { .. } => self.is_after_message = self.is_first_version,
            RunEvent::SignalIgnored { .. }
            | RunEvent::ApprovalGiven { .. }
            | RunEvent::ApprovalRefused { .. }
            | RunEvent::ApprovalEscalated { .. } => {}
            _ => self.is_after_message = false,
        }
    }

    /// Makes this history set the run's tags.
    pub(crate) fn tag(&mut self) {
        self.is_to_tag = true;
    }

    /// Returns whether this history sets the run's state.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns what is to be set now: everything at first, state and cost with every change of state, or nothing.
    pub(crate) fn updates(
        &mut self,
        status: &RunStatus,
    ) -> Result<Vec<SearchAttributeUpdate>, SearchAttributeError> {
        let mut updates = Vec::new();
        if std::mem::take(&mut self.is_to_tag) {
            updates = tags(status)?;
        }
        let state = match status.state {
            RunPhase::WaitingForApproval if self.is_after_message => RunPhase::Running,
            state => state,
        };
        if !self.is_on || self.state == Some(state) {
            return Ok(updates);
        }
        if self.state.is_none() {
            updates.push(AGENT.try_value_set(status.agent.clone())?);
        }
        updates.push(STATE.try_value_set(state.to_string())?);
        let cost = status.cost_usd.and_then(|cost| cost.to_f64());
        updates.push(match cost {
            Some(cost) => COST.try_value_set(cost)?,
            None => COST.value_unset(),
        });
        self.state = Some(state);
        Ok(updates)
    }
}

/// Returns the tags of a run, as far as the server takes them.
fn tags(status: &RunStatus) -> Result<Vec<SearchAttributeUpdate>, SearchAttributeError> {
    let mut updates = Vec::new();
    for (key, tag) in [(TENANT, &status.tenant), (OWNER, &status.owner)] {
        if let Some(tag) = tag.as_ref().filter(|tag| is_keyword(tag)) {
            updates.push(key.try_value_set(tag.clone())?);
        }
    }
    let labels = status.labels.iter().map(|(key, value)| label(key, value));
    let labels: Vec<String> = labels.collect();
    let fit = json_bytes(&labels).is_ok_and(|bytes| bytes <= LONGEST_LIST);
    if fit && !labels.is_empty() && labels.iter().all(|label| is_keyword(label)) {
        updates.push(LABELS.try_value_set(labels)?);
    }
    Ok(updates)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_types::{RunId, RunTags};

    use super::*;

    fn names(updates: &[SearchAttributeUpdate]) -> Vec<&str> {
        updates.iter().map(SearchAttributeUpdate::name).collect()
    }

    #[test]
    fn sets_all_at_first_and_then_what_changes_with_the_state() {
        let run_id = RunId::new("r1").unwrap();
        let mut status = RunStatus::new(run_id, "temporal", "a", DateTime::UNIX_EPOCH);
        let mut shown = Shown::default();
        assert!(shown.updates(&status).unwrap().is_empty());
        shown.turn_on();
        let first = shown.updates(&status).unwrap();
        assert_eq!(
            names(&first),
            ["NeuronAgent", "NeuronState", "NeuronCostUsd"]
        );
        assert!(shown.updates(&status).unwrap().is_empty());
        status.state = RunPhase::Completed;
        status.cost_usd = None;
        let last = shown.updates(&status).unwrap();
        assert_eq!(names(&last), ["NeuronState", "NeuronCostUsd"]);
        assert!(last[1].is_unset());
    }

    #[test]
    fn a_message_to_a_run_that_waits_sets_something_in_older_histories_only() {
        let run_id = RunId::new("r1").unwrap();
        let mut status = RunStatus::new(run_id, "temporal", "a", DateTime::UNIX_EPOCH);
        let waiting = RunEvent::Waiting {
            state: RunPhase::WaitingForApproval,
        };
        let message = RunEvent::MessageReceived {
            text: "hurry".into(),
        };
        let ignored = RunEvent::SignalIgnored {
            name: "weather".into(),
            reason: "no use".into(),
        };
        let turn = RunEvent::TurnEnded { turn: 1 };
        let mut new = Shown::default();
        new.turn_on();
        let mut old = Shown::default();
        old.turn_on_first_version();
        for (event, by_new, by_old) in [
            (&turn, true, true),
            (&waiting, true, true),
            (&message, false, true),
            (&ignored, false, false),
            (&message, false, false),
            (&waiting, false, true),
            (&message, false, true),
            (&turn, true, false),
        ] {
            status.apply(event, DateTime::UNIX_EPOCH);
            for (shown, expected) in [(&mut new, by_new), (&mut old, by_old)] {
                shown.note(event);
                let is_set = !shown.updates(&status).unwrap().is_empty();
                assert_eq!(is_set, expected, "{event:?}");
            }
        }
    }

    fn tagged(tenant: &str, labels: &[(&str, &str)]) -> RunStatus {
        let tags = RunTags {
            tenant: Some(tenant.to_owned()),
            owner: Some("ada".to_owned()),
            labels: labels
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
        };
        let run_id = RunId::new("r1").unwrap();
        RunStatus::new(run_id, "temporal", "a", DateTime::UNIX_EPOCH).with_tags(&tags)
    }

    #[test]
    fn says_once_whose_a_run_is() {
        let status = tagged("acme", &[("team", "blue")]);
        let mut shown = Shown::default();
        shown.tag();
        let first = shown.updates(&status).unwrap();
        assert_eq!(
            names(&first),
            ["NeuronTenant", "NeuronOwner", "NeuronLabels"]
        );
        assert!(shown.updates(&status).unwrap().is_empty());
    }

    #[test]
    fn sets_nothing_that_a_server_would_not_take() {
        let long = "x".repeat(LONGEST + 1);
        let many: Vec<String> = (0..400).map(|n| format!("label-{n}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|key| (key.as_str(), "")).collect();
        let cases: [(&str, &[(&str, &str)]); 3] = [
            ("", &[("key", long.as_str())]),
            (long.as_str(), &[("a\0", "b")]),
            ("a\0b", many.as_slice()),
        ];
        for (tenant, labels) in cases {
            let updates = tags(&tagged(tenant, labels)).unwrap();
            assert_eq!(names(&updates), ["NeuronOwner"]);
        }
    }

    #[test]
    fn a_list_is_asked_for_what_the_namespace_knows_and_for_nothing_that_is_no_plain_value() {
        let all = Attributes {
            state: true,
            tags: true,
        };
        let filter = RunFilter::all()
            .agent("a")
            .tenant("acme")
            .label("team", "blue");
        assert_eq!(
            all.conditions(&filter),
            [
                "(NeuronAgent = 'a' OR NeuronAgent IS NULL)",
                "(NeuronTenant = 'acme' OR NeuronTenant IS NULL)",
                "(NeuronLabels = 'team=blue' OR NeuronLabels IS NULL)",
            ]
        );
        assert!(Attributes::default().conditions(&filter).is_empty());
        for value in ["' OR '1' = '1", "a\"b", "a\\", "", "ä"] {
            let filter = RunFilter::all()
                .tenant(value)
                .label("key", value)
                .owner(value);
            let asked = all.conditions(&filter);
            let is_asked_for_nothing_of_it = asked.iter().all(|asked| asked.contains("'key='"));
            assert!(is_asked_for_nothing_of_it, "{asked:?}");
        }
    }
}
