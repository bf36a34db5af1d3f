//! Which runs a command is about.

use clap::Args;
use neuron_engine::RunFilter;

use super::changes::LabelArg;

/// Whose runs a command is about.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterArgs {
    /// Only runs for this tenant
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Only runs that this owner started
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    /// Only runs with this label
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<LabelArg>,
}

impl FilterArgs {
    /// Returns the filter that these runs pass: those of one agent if it is named.
    pub(crate) fn filter(&self, agent: Option<&str>) -> RunFilter {
        let mut filter = RunFilter::all();
        filter.agent = agent.map(ToOwned::to_owned);
        filter.tenant.clone_from(&self.tenant);
        filter.owner.clone_from(&self.owner);
        for LabelArg { key, value } in &self.labels {
            filter = filter.label(key, value);
        }
        filter
    }
}
