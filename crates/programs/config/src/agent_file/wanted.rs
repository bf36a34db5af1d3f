//! Finds what a person has to trust an agent file with.

use neuron_sandbox::Sandbox;
use neuron_types::{ApprovalRules, CallPattern};

use crate::agent_file::{
    address::is_of_this_machine,
    definitions::Definitions,
    providers::Kind,
    sources::Sources,
    wants::{WantedAddress, WantedKey, WantedProgram, Wants},
};

/// The built-in tool that runs commands.
const BASH: &str = "bash";

/// Returns what the agents of a file do before any person is asked.
pub(crate) fn of(file: &Definitions, sources: &Sources) -> Wants {
    let programs = file.mcp.iter().filter(|(_, it)| !it.command.is_empty());
    let programs = programs.map(|(server, settings)| WantedProgram {
        starter: format!("MCP server {server}"),
        command: settings.command.clone(),
        variables: settings.env.clone(),
    });
    let guards = file.guards.iter().filter_map(|(name, settings)| {
        let command = settings.command()?;
        Some((format!("guard {name}"), command))
    });
    let hooks = file.hooks.iter();
    let hooks = hooks.map(|(name, settings)| (format!("hook {name}"), &settings.command));
    let asked_programs = guards.chain(hooks).map(|(starter, command)| WantedProgram {
        starter,
        command: command.words.clone(),
        variables: command.env.clone(),
    });
    let providers = file.providers.iter().filter_map(|(name, settings)| {
        let address = settings.base_url.as_ref()?;
        let sends = !settings.key_variables.is_empty() && !is_own(settings.kind, address);
        sends.then(|| WantedKey {
            sender: format!("provider {name}"),
            address: address.clone(),
            variables: settings.key_variables.clone(),
        })
    });
    let servers = file.mcp.iter().filter_map(|(name, settings)| {
        let variables = settings
            .token_env
            .iter()
            .chain(settings.headers_env.values());
        let address = settings.url.clone()?;
        Some(variables.cloned().map(move |variable| WantedKey {
            sender: format!("MCP server {name}"),
            address: address.clone(),
            variables: vec![variable],
        }))
    });
    let servers = servers.flatten();
    let told = file.providers.iter().filter_map(|(name, settings)| {
        let address = settings.base_url.as_ref()?;
        let is_keyless = settings.key_variables.is_empty();
        let is_told = is_keyless && !is_own(settings.kind, address) && !is_of_this_machine(address);
        is_told.then(|| WantedAddress {
            sender: format!("provider {name}"),
            address: address.clone(),
        })
    });
    let asked = file.mcp.iter().filter_map(|(name, settings)| {
        let address = settings.url.as_ref()?;
        let is_keyless = settings.token_env.is_none() && settings.headers_env.is_empty();
        let is_told = is_keyless && !is_of_this_machine(address);
        is_told.then(|| WantedAddress {
            sender: format!("MCP server {name}"),
            address: address.clone(),
        })
    });
    let commands = file.agents.iter().filter(|(_, agent)| {
        let mut tools = agent.spec.head.tools.iter();
        tools.any(|tool| tool.name == BASH) && is_free(&agent.spec.approvals, BASH)
    });
    let outside = file.agents.iter();
    let outside = outside.filter(|(_, agent)| {
        let kept_in = matches!(
            agent.workplace.sandbox,
            Sandbox::Workspace | Sandbox::ReadOnly
        );
        agent.workplace.allow_outside_cwd || !kept_in
    });
    Wants {
        programs: programs.chain(asked_programs).collect(),
        keys: providers.chain(servers).collect(),
        addresses: told.chain(asked).collect(),
        commands: commands.map(|(name, _)| name.clone()).collect(),
        outside: outside.map(|(name, _)| name.clone()).collect(),
        files: sources.outside.clone(),
        sessions: file.sessions.clone(),
    }
}

/// Returns whether an address is the vendor's own. One that is written in another way is not, wherever it leads.
fn is_own(kind: Kind, address: &str) -> bool {
    let own: &[&str] = match kind {
        Kind::OpenAiResponses | Kind::OpenAiChat => &["https://api.openai.com"],
        Kind::Anthropic => &["https://api.anthropic.com"],
        Kind::Ollama => &["http://localhost:11434", "http://127.0.0.1:11434"],
        Kind::Script | Kind::Demo => &[],
    };
    own.iter().any(|own| {
        let path = address.strip_prefix(*own);
        path.is_some_and(|path| path.is_empty() || path.starts_with('/'))
    })
}

/// Returns whether some call of this tool may be made without asking a person.
fn is_free(rules: &ApprovalRules, tool: &str) -> bool {
    let concerns = |text: &str| {
        let pattern = CallPattern::parse(text);
        pattern.is_none_or(|pattern| pattern.matches_tool(tool))
    };
    let held = || {
        let asked = rules.approve.iter().map(|rule| rule.call.as_str());
        asked.chain(rules.deny.iter().map(String::as_str))
    };
    let is_held = held().any(|entry| {
        let pattern = CallPattern::parse(entry);
        pattern.is_some_and(|it| it.argument.is_none() && it.matches_tool(tool))
    });
    let is_excepted = held()
        .filter_map(|entry| entry.strip_prefix('!'))
        .any(concerns);
    let is_allowed = rules
        .allow
        .iter()
        .any(|entry| !entry.starts_with('!') && concerns(entry));
    !is_held || is_excepted || is_allowed
}
