//! The names of the services in Restate.

use neuron_types::Place;

use crate::wire::settings_error::SettingsError;

/// The name of this engine, as it is in a run's status.
pub(crate) const ENGINE: &str = "restate";

/// The key of a service's build in the server's metadata.
pub(crate) const VERSION_KEY: &str = "neuron.version";

/// This build.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The default prefix.
pub const DEFAULT_PREFIX: &str = "neuron";

/// The names of the services, all made from one prefix, so that several deployments can share a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceNames {
    prefix: String,
    inbox: String,
    record: String,
    segments: String,
}

impl ServiceNames {
    /// Returns the names under this prefix.
    ///
    /// # Errors
    ///
    /// [`SettingsError::Prefix`] unless it is 1 to 64 letters, digits, `.`, `_` and `-` that start with a
    /// letter.
    pub fn new(prefix: impl Into<String>) -> Result<Self, SettingsError> {
        let prefix = prefix.into();
        let starts_well = prefix.starts_with(|c: char| c.is_ascii_alphabetic());
        let fits = prefix
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        if !starts_well || !fits || prefix.len() > 64 {
            return Err(SettingsError::Prefix(prefix));
        }
        Ok(Self::of(prefix))
    }

    fn of(prefix: String) -> Self {
        Self {
            inbox: format!("{prefix}-inbox"),
            record: format!("{prefix}-record"),
            segments: format!("{prefix}-segments"),
            prefix,
        }
    }

    /// Returns the name of the workflow service: the prefix itself. A run is one of its workflows, keyed by the run's
    /// id.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.prefix
    }

    /// Returns the place of the runs of these services.
    pub(crate) fn place(&self) -> Place {
        Place::Restate {
            prefix: self.prefix.clone(),
        }
    }

    /// Returns the name of the object that numbers a run's signals, keyed by the run's id.
    #[must_use]
    pub fn inbox(&self) -> &str {
        &self.inbox
    }

    /// Returns the name of the object whose handler continues runs that have continued as new where this deployment
    /// began them, keyed by the run's id. If deployments have no names, any of them continues such runs.
    #[must_use]
    pub fn segments(&self, deployment: Option<&str>) -> String {
        match deployment {
            Some(deployment) => format!("{}-{deployment}", self.segments),
            None => self.segments.clone(),
        }
    }

    /// Returns the name of the object that keeps the status and the events of a run that has continued as new, keyed by
    /// the run's id.
    #[must_use]
    pub fn record(&self) -> &str {
        &self.record
    }
}

/// Checks the name of a deployment: it is a part of a service's name.
pub(crate) fn check_deployment(name: &str) -> Result<(), SettingsError> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_part) {
        return Err(SettingsError::Deployment(name.to_owned()));
    }
    Ok(())
}

/// The names under [`DEFAULT_PREFIX`].
impl Default for ServiceNames {
    fn default() -> Self {
        Self::of(DEFAULT_PREFIX.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_start_with_the_prefix() {
        let names = ServiceNames::new("team.a").unwrap();
        assert_eq!(
            [names.agent(), names.inbox(), names.record()],
            ["team.a", "team.a-inbox", "team.a-record"]
        );
    }

    #[test]
    fn segments_are_those_of_a_deployment_that_has_a_name() {
        let names = ServiceNames::default();
        assert_eq!(names.segments(None), "neuron-segments");
        assert_eq!(names.segments(Some("blue.1")), "neuron-segments-blue.1");
        for wrong in ["", "a/b", "a b", "ä", &"a".repeat(65)] {
            assert!(check_deployment(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn refuses_what_restate_would_refuse() {
        for prefix in ["", "1st", "-a", "a/b", "a b", "ä", &"a".repeat(65)] {
            assert!(ServiceNames::new(prefix).is_err(), "{prefix:?}");
        }
    }
}
