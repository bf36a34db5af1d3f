//! The deployment and build of the worker.

use clap::{Args, ValueEnum};
use neuron_temporal::{AgentWorkerBuilder, Versioning};

use crate::WorkerError;

/// The variables that the controller of workers in Kubernetes sets.
const DEPLOYMENT: &str = "TEMPORAL_DEPLOYMENT_NAME";
const BUILD: &str = "TEMPORAL_WORKER_BUILD_ID";

/// The worker's deployment and build, for Temporal's Worker Versioning.
#[derive(Debug, Args)]
#[command(next_help_heading = "Worker Versioning")]
pub(crate) struct Versions {
    /// The Worker Deployment, with --build-id: the worker takes the runs of its build only [default:
    /// TEMPORAL_DEPLOYMENT_NAME, or none]
    #[arg(long, value_name = "NAME", env = "NEURON_DEPLOYMENT")]
    deployment: Option<String>,
    /// The build: of the program and of the agent file [default: TEMPORAL_WORKER_BUILD_ID, or none]
    #[arg(long, value_name = "ID", env = "NEURON_BUILD_ID")]
    build_id: Option<String>,
    /// What becomes of a run when its deployment has another current build
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Behavior::Pinned)]
    versioning: Behavior,
}

/// What becomes of a run when its deployment has another current build.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Behavior {
    /// It stays with the build that it began with
    Pinned,
    /// It continues with the current build
    AutoUpgrade,
}

/// A build of a deployment.
pub(crate) struct Version {
    deployment: String,
    build: String,
    versioning: Versioning,
}

impl Version {
    /// Sets this version on the builder.
    pub(crate) fn apply(self, builder: AgentWorkerBuilder) -> AgentWorkerBuilder {
        builder.deployment(self.deployment, self.build, self.versioning)
    }
}

/// The reason why the worker's build is ambiguous.
#[derive(Debug, thiserror::Error)]
#[error("a deployment and a build id belong together: set {0}, too")]
struct Half(&'static str);

impl Versions {
    /// Returns the deployment and the build, if the worker is to have any.
    ///
    /// # Errors
    ///
    /// [`WorkerError::Engine`] if there is a deployment without a build, or a build without a deployment.
    pub(crate) fn check(
        self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Version>, WorkerError> {
        let versioning = match self.versioning {
            Behavior::Pinned => Versioning::Pinned,
            Behavior::AutoUpgrade => Versioning::AutoUpgrade,
        };
        let version = self.version(variable).map_err(WorkerError::engine)?;
        Ok(version.map(|(deployment, build)| Version {
            deployment,
            build,
            versioning,
        }))
    }

    fn version(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<(String, String)>, Half> {
        let given = |said: &Option<String>, name| {
            let said = said.clone().or_else(|| variable(name));
            said.filter(|text| !text.trim().is_empty())
        };
        let deployment = given(&self.deployment, DEPLOYMENT);
        match (deployment, given(&self.build_id, BUILD)) {
            (Some(deployment), Some(build)) => Ok(Some((deployment, build))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(Half("--build-id")),
            (None, Some(_)) => Err(Half("--deployment")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(deployment: Option<&str>, build: Option<&str>) -> Versions {
        Versions {
            deployment: deployment.map(ToOwned::to_owned),
            build_id: build.map(ToOwned::to_owned),
            versioning: Behavior::Pinned,
        }
    }

    #[test]
    fn a_build_has_a_deployment() {
        let none = |_: &str| None;
        assert!(versions(None, None).version(none).unwrap().is_none());
        assert!(versions(Some("d"), None).version(none).is_err());
        assert!(versions(None, Some("b")).version(none).is_err());
        let both = versions(Some("d"), Some("b")).version(none).unwrap();
        assert_eq!(both, Some(("d".to_owned(), "b".to_owned())));
    }

    #[test]
    fn what_a_controller_sets_is_taken_where_nothing_else_is_said() {
        let set = |name: &str| Some(name.to_lowercase());
        let found = versions(None, Some("b")).version(set).unwrap();
        let expected = ("temporal_deployment_name".to_owned(), "b".to_owned());
        assert_eq!(found, Some(expected));
    }
}
