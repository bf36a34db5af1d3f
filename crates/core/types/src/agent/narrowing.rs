//! What an agent becomes for one run.

use std::{collections::BTreeSet, fmt::Debug};

use crate::{
    AgentOrigin, AgentSpec, CallPattern, CallerSetting, LimitOverrides, Limits, OverrideRejected,
    Overrides, SystemPrompt,
};

impl AgentSpec {
    /// Returns the definition for a run whose caller makes these changes. The result never does more than this
    /// definition, but for what [`callers_may_set`](Self::callers_may_set) lists.
    ///
    /// The agents that take turns in a [workflow](Self::team) are narrowed with it: none of them has a limit above the
    /// one that is set.
    ///
    /// # Errors
    ///
    /// [`OverrideRejected`]: nothing is changed in part.
    pub fn narrowed(&self, overrides: &Overrides) -> Result<Self, OverrideRejected> {
        let mut agent = self.clone();
        if overrides.is_empty() {
            return Ok(agent);
        }
        let Overrides {
            limits,
            tools,
            ask,
            deny,
            allow,
            model,
            instructions,
        } = overrides;
        agent.lower_limits(limits)?;
        if let Some(tools) = tools {
            agent.check_tools(tools)?;
            agent.keep_tools(tools);
        }
        for rule in ask.iter().chain(deny).chain(allow) {
            check_rule(rule)?;
        }
        agent.add_rules(ask, deny);
        if !allow.is_empty() {
            self.check_may(CallerSetting::Allow)?;
            agent.caller_rules.allow.extend_from_slice(allow);
        }
        if let Some(model) = model {
            self.check_may(CallerSetting::Model)?;
            let (provider, name) = split(model)?;
            let head = agent.head_mut();
            head.provider = Some(provider.to_owned());
            name.clone_into(&mut head.model);
            head.fallback_models.clear();
        }
        if let Some(text) = instructions {
            self.check_may(CallerSetting::Instructions)?;
            agent.head_mut().system = Some(SystemPrompt::Text(text.clone()));
        }
        for member in agent.team.iter_mut().flatten() {
            member.bound_limits(limits);
            if let Some(tools) = tools {
                member.keep_tools(tools);
            }
            member.add_rules(ask, deny);
        }
        Ok(agent)
    }

    /// Returns what this definition is for a run that adopts it: what the caller who started the run changed of an
    /// earlier definition holds for this one too. A limit of the caller's that is above this definition's is lowered to
    /// that, and tools that are not there any more are left out.
    ///
    /// # Errors
    ///
    /// [`OverrideRejected`] if this definition does not take what they set beyond that.
    pub fn adopted(&self, origin: &AgentOrigin) -> Result<Self, OverrideRejected> {
        let AgentOrigin { overrides, may_set } = origin;
        let mut own = self.clone();
        own.callers_may_set.extend(may_set);
        let mut overrides = overrides.clone();
        if !own.may(CallerSetting::Limits) {
            overrides.limits.lower_to(&self.limits);
        }
        if let Some(tools) = &mut overrides.tools {
            let known = self.head.tools.iter();
            let known: BTreeSet<&str> = known.map(|tool| tool.name.as_str()).collect();
            tools.retain(|tool| known.contains(tool.as_str()));
        }
        let mut adopted = own.narrowed(&overrides)?;
        adopted.callers_may_set.clone_from(&self.callers_may_set);
        Ok(adopted)
    }

    fn may(&self, setting: CallerSetting) -> bool {
        self.callers_may_set.contains(&setting)
    }

    fn check_may(&self, setting: CallerSetting) -> Result<(), OverrideRejected> {
        if self.may(setting) {
            return Ok(());
        }
        Err(OverrideRejected::NotAllowed {
            agent: self.name.clone(),
            setting,
        })
    }

    fn lower_limits(&mut self, asked: &LimitOverrides) -> Result<(), OverrideRejected> {
        let may_raise = self.may(CallerSetting::Limits);
        let (agent, limits) = (self.name.as_str(), &mut self.limits);
        let bound = Bound { agent, may_raise };
        bound.lower("turns", &mut limits.turns, asked.turns)?;
        bound.lower("tool_calls", &mut limits.tool_calls, asked.tool_calls)?;
        bound.lower("tokens", &mut limits.tokens, asked.tokens)?;
        bound.lower("cost_usd", &mut limits.cost_usd, asked.cost_usd)?;
        bound.lower("duration", &mut limits.duration, asked.duration)?;
        bound.lower("deadline", &mut limits.deadline, asked.deadline)
    }

    /// Lowers the limits that are above these.
    fn bound_limits(&mut self, asked: &LimitOverrides) {
        let limits = &mut self.limits;
        lower_to(&mut limits.turns, asked.turns);
        lower_to(&mut limits.tool_calls, asked.tool_calls);
        lower_to(&mut limits.tokens, asked.tokens);
        lower_to(&mut limits.cost_usd, asked.cost_usd);
        lower_to(&mut limits.duration, asked.duration);
        lower_to(&mut limits.deadline, asked.deadline);
    }

    /// Checks that each of these is a tool of this agent, or of one that takes turns in it.
    fn check_tools(&self, asked: &[String]) -> Result<(), OverrideRejected> {
        let team = self.team.iter().flatten();
        let known = [self].into_iter().chain(team);
        let known = known.flat_map(|agent| agent.head.tools.iter().map(|tool| tool.name.as_str()));
        let known: BTreeSet<&str> = known.collect();
        match asked.iter().find(|name| !known.contains(name.as_str())) {
            None => Ok(()),
            Some(tool) => Err(OverrideRejected::UnknownTool {
                agent: self.name.clone(),
                tool: tool.clone(),
                known: known.into_iter().map(ToOwned::to_owned).collect(),
            }),
        }
    }

    fn keep_tools(&mut self, asked: &[String]) {
        if !self.head.tools.is_empty() {
            let tools = &mut self.head_mut().tools;
            tools.retain(|tool| asked.contains(&tool.name));
        }
    }

    fn add_rules(&mut self, ask: &[String], deny: &[String]) {
        self.caller_rules.ask.extend_from_slice(ask);
        self.caller_rules.deny.extend_from_slice(deny);
    }
}

impl LimitOverrides {
    /// Lowers what is above these limits.
    pub(crate) fn lower_to(&mut self, most: &Limits) {
        fn lower<T: Ord + Copy>(asked: &mut Option<T>, most: Option<T>) {
            *asked = asked.map(|asked| most.map_or(asked, |most| asked.min(most)));
        }
        lower(&mut self.turns, most.turns);
        lower(&mut self.tool_calls, most.tool_calls);
        lower(&mut self.tokens, most.tokens);
        lower(&mut self.cost_usd, most.cost_usd);
        lower(&mut self.duration, most.duration);
        lower(&mut self.deadline, most.deadline);
    }
}

/// What an agent lets its caller do about limits.
#[derive(Clone, Copy)]
struct Bound<'a> {
    agent: &'a str,
    may_raise: bool,
}

impl Bound<'_> {
    fn lower<T: Ord + Copy + Debug>(
        self,
        limit: &'static str,
        own: &mut Option<T>,
        asked: Option<T>,
    ) -> Result<(), OverrideRejected> {
        let Some(asked) = asked else {
            return Ok(());
        };
        match *own {
            Some(own) if asked > own && !self.may_raise => Err(OverrideRejected::LimitRaised {
                agent: self.agent.to_owned(),
                limit,
                asked: format!("{asked:?}"),
                own: format!("{own:?}"),
            }),
            _ => {
                *own = Some(asked);
                Ok(())
            }
        }
    }
}

fn lower_to<T: Ord + Copy>(own: &mut Option<T>, asked: Option<T>) {
    if let Some(asked) = asked {
        *own = Some(own.map_or(asked, |own| own.min(asked)));
    }
}

fn check_rule(rule: &str) -> Result<(), OverrideRejected> {
    let named = || rule.to_owned();
    if rule.starts_with('!') {
        return Err(OverrideRejected::Exception { rule: named() });
    }
    match CallPattern::parse(rule) {
        Some(_) => Ok(()),
        None => Err(OverrideRejected::Pattern { rule: named() }),
    }
}

/// The provider and the model of `provider/model`. The model's own name may hold slashes.
fn split(model: &str) -> Result<(&str, &str), OverrideRejected> {
    match model.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok((provider, name)),
        _ => Err(OverrideRejected::Model {
            model: model.to_owned(),
        }),
    }
}
