//! What an agent is for one turn.

use std::sync::Arc;

use neuron_types::{AgentSpec, OnHalt, RetryPolicy, SystemBlock, SystemPrompt};
use serde_json::{Map, Value};

use crate::{TurnConfig, TurnInput};

impl TurnInput {
    /// Returns what this agent is for the turn: with the [overrides](TurnConfig), with [metadata](TurnInput::metadata)
    /// among the fields of its requests, with one attempt for each step, and with an end in the place of a question to a
    /// person at a limit or a failure.
    #[must_use]
    pub fn agent(&self, agent: &AgentSpec) -> AgentSpec {
        let TurnConfig {
            model,
            system_addendum,
            max_turns,
            max_cost,
            max_duration,
            allowed_tools,
        } = &self.config;
        let mut agent = agent.clone();
        let limits = &mut agent.limits;
        limits.turns = max_turns.or(limits.turns);
        limits.cost_usd = max_cost.or(limits.cost_usd);
        limits.duration = max_duration.or(limits.duration);
        agent.on_limit = OnHalt::End;
        agent.on_failure = OnHalt::End;
        let once = |policy: RetryPolicy| RetryPolicy {
            maximum_attempts: 1,
            ..policy
        };
        agent.model_retry = Some(once(
            agent.model_retry.unwrap_or_else(|| agent.retry.clone()),
        ));
        agent.retry = once(agent.retry);
        for settings in agent.tool_settings.values_mut() {
            settings.retry = settings.retry.take().map(once);
        }
        let head = Arc::make_mut(&mut agent.head);
        if let Some(model) = model {
            match model.split_once('/') {
                Some((provider, model)) => {
                    head.provider = Some(provider.to_owned());
                    model.clone_into(&mut head.model);
                }
                None => head.model.clone_from(model),
            }
            head.fallback_models.clear();
        }
        if let Some(addendum) = system_addendum {
            head.system = Some(appended(head.system.take(), addendum));
        }
        if let Some(allowed) = allowed_tools {
            head.tools.retain(|tool| allowed.contains(&tool.name));
        }
        head.extra = with_fields(head.extra.take(), &self.metadata);
        agent
    }
}

/// Appends this to a system prompt, on a line of its own.
fn appended(system: Option<SystemPrompt>, addendum: &str) -> SystemPrompt {
    match system {
        None => SystemPrompt::Text(addendum.to_owned()),
        Some(SystemPrompt::Text(text)) => SystemPrompt::Text(format!("{text}\n{addendum}")),
        Some(SystemPrompt::Blocks(mut blocks)) => {
            // What is cached ends before it.
            blocks.push(SystemBlock {
                text: format!("\n{addendum}"),
                cache_control: None,
            });
            SystemPrompt::Blocks(blocks)
        }
    }
}

/// Adds these fields to those that are there already, which take precedence.
fn with_fields(extra: Option<Value>, fields: &Map<String, Value>) -> Option<Value> {
    if fields.is_empty() {
        return extra;
    }
    match extra {
        None | Some(Value::Null) => Some(Value::Object(fields.clone())),
        Some(Value::Object(own)) => {
            let mut all = fields.clone();
            all.extend(own);
            Some(Value::Object(all))
        }
        // It is no set of fields: its provider says what is wrong with it.
        other => other,
    }
}
