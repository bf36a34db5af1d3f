use std::collections::BTreeMap;

use neuron_types::{RunStatus, RunTags};
use serde::{Deserialize, Serialize};

/// Which runs are listed. Default is all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunFilter {
    /// Only runs that are not over.
    pub is_open: bool,
    /// Only runs of this agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only runs for this tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Only runs that this owner started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Only runs that have all of these labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl RunFilter {
    /// Returns the filter that all runs pass.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// Returns the filter that only runs pass that are not over.
    #[must_use]
    pub const fn open() -> Self {
        Self {
            is_open: true,
            agent: None,
            tenant: None,
            owner: None,
            labels: BTreeMap::new(),
        }
    }

    /// Lets only runs of this agent pass.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Lets only runs for this tenant pass.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Lets only runs pass that this owner started.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Lets only runs pass that have this label and all labels that were set before.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// Returns whether the filter has any condition besides that a run is not over.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        let is_any = self.agent.is_none() && self.tenant.is_none() && self.owner.is_none();
        !is_any || !self.labels.is_empty()
    }

    /// Returns whether a run with this status passes.
    #[must_use]
    pub fn matches(&self, run: &RunStatus) -> bool {
        let is_of = |wanted: &Option<String>| wanted.as_ref().is_none_or(|name| *name == run.agent);
        !(self.is_open && run.state.is_final()) && is_of(&self.agent) && self.is_for(&run.tags())
    }

    /// Returns whether a run with these tags passes, as far as tags decide it.
    #[must_use]
    pub fn is_for(&self, tags: &RunTags) -> bool {
        let is = |wanted: &Option<String>, tag: &Option<String>| wanted.is_none() || wanted == tag;
        let has = |(key, value): (&String, &String)| tags.labels.get(key) == Some(value);
        is(&self.tenant, &tags.tenant)
            && is(&self.owner, &tags.owner)
            && self.labels.iter().all(has)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_types::{RunId, RunPhase};

    use super::*;

    #[test]
    fn a_run_passes_that_has_all_that_is_asked_for() {
        let tags = RunTags {
            tenant: Some("acme".into()),
            owner: Some("ada".into()),
            labels: [("team", "blue"), ("task", "42")]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
        };
        let run_id = RunId::new("r1").unwrap();
        let mut run =
            RunStatus::new(run_id, "local", "coder", DateTime::UNIX_EPOCH).with_tags(&tags);
        let acme = RunFilter::open().tenant("acme");
        for (filter, passes) in [
            (RunFilter::all(), true),
            (acme.clone(), true),
            (acme.clone().agent("coder").owner("ada"), true),
            (acme.clone().label("team", "blue").label("task", "42"), true),
            (acme.clone().agent("other"), false),
            (acme.clone().owner("bob"), false),
            (acme.clone().label("team", "red"), false),
            (acme.clone().label("colour", "blue"), false),
            (RunFilter::all().tenant("globex"), false),
        ] {
            assert_eq!(filter.matches(&run), passes, "{filter:?}");
        }
        run.state = RunPhase::Completed;
        assert!(!acme.matches(&run));
        assert!(RunFilter::all().tenant("acme").matches(&run));
    }

    #[test]
    fn a_run_without_tags_is_nobodys() {
        let run_id = RunId::new("r1").unwrap();
        let run = RunStatus::new(run_id, "local", "coder", DateTime::UNIX_EPOCH);
        assert!(RunFilter::all().matches(&run));
        for filter in [
            RunFilter::all().tenant(""),
            RunFilter::all().owner(""),
            RunFilter::all().label("team", ""),
        ] {
            assert!(!filter.matches(&run), "{filter:?}");
        }
    }
}
