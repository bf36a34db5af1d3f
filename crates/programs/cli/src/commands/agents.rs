//! `neuron agents`

use std::borrow::Cow;

use neuron_config::{AgentFile, AgentFileError, OpenOptions, ProcessEnvironment, check_trust};
use neuron_types::{AgentSpec, AskRule, Limits};
use serde::Serialize;

use crate::{
    CliError, Exit, args::AgentsArgs, session::Session, terminal::describe, terminal::output::note,
    terminal::shown,
};

/// One agent in `--json` output.
#[derive(Debug, Serialize)]
struct AgentLine<'a> {
    name: &'a str,
    /// `provider/model`.
    model: String,
    /// The models that are asked if the one before cannot answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fallback_models: Vec<&'a str>,
    /// The agent's tools, those of MCP servers as `mcp:SERVER`.
    tools: Vec<Cow<'a, str>>,
    /// The skills that the agent's model may read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skills: Vec<&'a str>,
    /// Calls that need no decision.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    allow: &'a [String],
    /// Calls that a person is asked about.
    ask: &'a [AskRule],
    /// Calls that are rejected.
    deny: &'a [String],
    /// The guards that check the agent's runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guards: Vec<&'a str>,
    /// The agents that the agent may start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subagents: Vec<&'a str>,
    /// The agents that the agent may hand a run over to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    handoffs: Vec<&'a str>,
    limits: &'a Limits,
    /// The most attempts of a step; 0 is no limit.
    attempts: u32,
    /// Whether the agent can run.
    ready: bool,
    /// The variables to set first. One of them is enough.
    missing: Vec<String>,
    /// What keeps the agent from running.
    problem: Option<String>,
}

pub(crate) fn agents(session: &Session, args: &AgentsArgs) -> Result<Exit, CliError> {
    if args.schema {
        let schema = AgentFile::schema();
        match session.output.is_json() {
            true => session.output.value(&schema)?,
            false => session.output.text(&format!("{schema:#}"))?,
        }
        return Ok(Exit::Done);
    }
    let file = session.agent_file_as_it_is()?;
    // Nothing is started and nothing is sent here.
    if let Err(error) = check_trust(&file, &ProcessEnvironment) {
        note(&CliError::from(error).to_string());
    }
    let options = session.open_options()?;
    let agents = file.definitions();
    let agents: Vec<_> = agents.map(|agent| check(&file, agent, &options)).collect();
    if session.output.is_json() {
        session.output.value(&agents)?;
    } else {
        let text: Vec<_> = agents.iter().map(text).collect();
        session.output.text(&text.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// Checks what a run of the agent would need.
fn check<'a>(file: &AgentFile, agent: &'a AgentSpec, options: &OpenOptions) -> AgentLine<'a> {
    let error = file.check(&agent.name, options).err();
    let missing = match &error {
        Some(AgentFileError::MissingKey { variables, .. }) => variables.clone(),
        _ => Vec::new(),
    };
    let head = &agent.head;
    let provider = head.provider.as_deref().unwrap_or_default();
    let tools = head.tools.iter();
    let tools = tools.map(|tool| Cow::Borrowed(tool.name.as_str()));
    let servers = file.mcp_servers(&agent.name).iter();
    let servers = servers.map(|server| Cow::Owned(format!("mcp:{server}")));
    AgentLine {
        name: &agent.name,
        model: format!("{provider}/{}", head.model),
        fallback_models: head.fallback_models.iter().map(String::as_str).collect(),
        tools: tools.chain(servers).collect(),
        skills: agent.skills.iter().map(|it| it.name.as_str()).collect(),
        allow: &agent.approvals.allow,
        ask: &agent.approvals.approve,
        deny: &agent.approvals.deny,
        guards: agent.guards.iter().map(|it| it.name.as_str()).collect(),
        subagents: agent.subagents.iter().map(|it| it.name.as_str()).collect(),
        handoffs: agent.handoffs.iter().map(|it| it.name.as_str()).collect(),
        limits: &agent.limits,
        attempts: agent.retry.maximum_attempts,
        ready: error.is_none(),
        missing,
        problem: error.map(|error| error.to_string()),
    }
}

fn text(agent: &AgentLine<'_>) -> String {
    let mut lines = vec![
        shown::line(agent.name).into_owned(),
        format!("  model    {}", shown::line(&agent.model)),
        format!("  tools    {}", list(&agent.tools)),
    ];
    if !agent.fallback_models.is_empty() {
        lines.insert(2, format!("  then     {}", list(&agent.fallback_models)));
    }
    if !agent.skills.is_empty() {
        lines.push(format!("  skills   {}", list(&agent.skills)));
    }
    if !agent.allow.is_empty() {
        lines.push(format!("  allow    {}", list(agent.allow)));
    }
    if !agent.ask.is_empty() {
        let calls: Vec<String> = agent.ask.iter().map(rule).collect();
        lines.push(format!("  ask      {}", list(&calls)));
    }
    if !agent.deny.is_empty() {
        lines.push(format!("  deny     {}", list(agent.deny)));
    }
    let named = [
        ("guards", &agent.guards),
        ("starts", &agent.subagents),
        ("hands to", &agent.handoffs),
    ];
    for (key, names) in named {
        if !names.is_empty() {
            lines.push(format!("  {key:<8} {}", list(names)));
        }
    }
    lines.push(format!("  limits   {}", limits(agent.limits)));
    lines.push(format!("  attempts {}", attempts(agent.attempts)));
    lines.push(match &agent.problem {
        None => "  ready".to_owned(),
        Some(problem) => format!("  not ready: {}", shown::line(problem)),
    });
    lines.join("\n")
}

/// Returns the calls that an entry of `ask` is for, and who decides about them.
fn rule(rule: &AskRule) -> String {
    let mut terms = Vec::new();
    if rule.needed > 1 {
        terms.push(format!("{} people", rule.needed));
    }
    terms.extend(rule.from.as_ref().map(|from| format!("of {from}")));
    let within = rule.within.map(describe::duration);
    terms.extend(within.map(|within| format!("within {within}")));
    terms.extend(rule.then.as_ref().map(|then| format!("then {then}")));
    match terms.is_empty() {
        true => rule.call.clone(),
        false => format!("{} ({})", rule.call, terms.join(" ")),
    }
}

fn limits(limits: &Limits) -> String {
    let counted = [
        limits.turns.map(|turns| format!("{turns} turns")),
        limits.tool_calls.map(|calls| format!("{calls} tool calls")),
        limits.tokens.map(|tokens| format!("{tokens} tokens")),
        limits.cost_usd.map(|cost_usd| format!("${cost_usd}")),
        limits
            .duration
            .map(|work| format!("{} of work", describe::duration(work))),
        limits
            .deadline
            .map(|time| format!("{} in all", describe::duration(time))),
    ];
    let counted: Vec<String> = counted.into_iter().flatten().collect();
    list(&counted)
}

fn attempts(attempts: u32) -> String {
    match attempts {
        0 => "no limit".to_owned(),
        1 => "1 per step".to_owned(),
        many => format!("{many} per step"),
    }
}

fn list(names: &[impl AsRef<str>]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<_> = names.iter().map(AsRef::as_ref).collect();
    shown::line(&names.join(", ")).into_owned()
}
