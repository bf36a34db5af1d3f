//! The model that an agent asks.

use std::{fmt, sync::Arc};

use neuron_executor::PriceList;
use neuron_types::{DynProvider, Provider};

use super::AgentError;
use crate::providers::{BUILT, Built};

/// The name under which an executor knows a provider that was given as a value.
const OWN: &str = "own";

/// A model, and the provider that has it: a name, `"anthropic/claude-sonnet-5-5"`, or a provider of the program.
///
/// A named provider is made from the environment when the agent is built, as its `from_env` does.
#[derive(Clone)]
pub struct Model {
    source: Source,
}

#[derive(Clone)]
enum Source {
    Named(String),
    Own {
        provider: Arc<dyn DynProvider>,
        model: String,
    },
}

/// A model with a provider that can be asked.
pub(crate) struct ResolvedModel {
    pub(crate) provider_name: String,
    pub(crate) provider: Arc<dyn DynProvider>,
    pub(crate) model: String,
    /// The prices that its provider publishes.
    pub(crate) prices: Option<PriceList>,
}

impl ResolvedModel {
    /// Returns the same model with this number in a list: a provider that was given as a value gets its own name.
    pub(crate) fn numbered(mut self, number: usize) -> Self {
        if self.provider_name == OWN {
            self.provider_name = format!("{OWN}-{number}");
        }
        self
    }
}

impl Model {
    /// Returns this provider's model of this name.
    #[must_use]
    pub fn of(provider: impl Provider + 'static, model: impl Into<String>) -> Self {
        Self {
            source: Source::Own {
                provider: Arc::new(provider),
                model: model.into(),
            },
        }
    }

    pub(crate) fn resolve(self, agent: &str) -> Result<ResolvedModel, AgentError> {
        match self.source {
            Source::Own { provider, model } => Ok(ResolvedModel {
                provider_name: OWN.to_owned(),
                provider,
                model,
                prices: None,
            }),
            Source::Named(name) => match name.split_once('/') {
                Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                    let built = built(agent, provider)?;
                    Ok(ResolvedModel {
                        provider_name: provider.to_owned(),
                        provider: from_environment(agent, built)?,
                        model: model.to_owned(),
                        prices: built.price_list(),
                    })
                }
                _ => Err(AgentError::ModelName {
                    agent: agent.to_owned(),
                    name,
                }),
            },
        }
    }
}

impl From<&str> for Model {
    fn from(name: &str) -> Self {
        Self::from(name.to_owned())
    }
}

impl From<String> for Model {
    fn from(name: String) -> Self {
        Self {
            source: Source::Named(name),
        }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.source {
            Source::Named(name) | Source::Own { model: name, .. } => name,
        };
        f.debug_tuple("Model").field(name).finish()
    }
}

fn built(agent: &str, name: &str) -> Result<&'static Built, AgentError> {
    let built = BUILT.iter().find(|known| known.name == name);
    built.ok_or_else(|| AgentError::UnknownProvider {
        agent: agent.to_owned(),
        provider: name.to_owned(),
        known: BUILT.iter().map(|known| known.name).collect(),
    })
}

fn from_environment(agent: &str, built: &Built) -> Result<Arc<dyn DynProvider>, AgentError> {
    (built.from_env)().map_err(|source| AgentError::Provider {
        agent: agent.to_owned(),
        provider: built.name.to_owned(),
        source: source.into(),
    })
}
