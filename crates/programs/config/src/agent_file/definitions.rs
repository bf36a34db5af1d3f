//! The contents of an agent file.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use neuron_approvers::Approvers;
use neuron_executor::Prices;
use neuron_tool::READ_ONLY_TOOLS;
use neuron_types::{AgentSpec, RequestHead, SystemPrompt, ToolSearch};

use crate::DEMO_MODEL;
use crate::agent_file::{
    document::{
        include, {self, Part},
    },
    environment::Environment,
    error::AgentFileError,
    providers::{self, Kind, ProviderSettings},
    sources::Sources,
    tables::{
        agents::{self, Agent},
        approvers,
        file::FileKeys,
        guards::{self, GuardSettings},
        hooks::{self, HookSettings},
        mcp_settings::{self, McpSettings},
        models::{self, Known},
        pools, sessions,
        tools::{self, Workplace},
    },
    text::{keys::Keys, problem::Problems, table::Table},
};

/// The name of the agent that is used if no name is given.
pub const DEFAULT_AGENT: &str = "default";

const OPENAI_MODEL: &str = "gpt-6.1-terra";
const ANTHROPIC_MODEL: &str = "claude-sonnet-5-5";
const INSTRUCTIONS: &str = "You are a careful assistant. You can look at the files of the user's working \
    directory with your tools. Look before you answer, and say so when you do not know.";

/// Everything that an agent file defines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definitions {
    pub(crate) providers: BTreeMap<String, ProviderSettings>,
    pub(crate) agents: BTreeMap<String, Agent>,
    pub(crate) prices: Prices,
    pub(crate) mcp: BTreeMap<String, McpSettings>,
    pub(crate) approvers: Approvers,
    pub(crate) guards: BTreeMap<String, GuardSettings>,
    pub(crate) hooks: BTreeMap<String, HookSettings>,
    /// Where a worker keeps sessions, as it stands in the file.
    pub(crate) sessions: Option<PathBuf>,
}

impl Definitions {
    /// Returns these agents, and the agents that their runs may be handed over to in the end, as far as the file has
    /// them.
    pub(crate) fn reached_from<'a>(
        &'a self,
        agents: impl IntoIterator<Item = &'a str>,
    ) -> BTreeMap<&'a str, &'a Agent> {
        let mut reached = BTreeMap::new();
        let mut open: Vec<&str> = agents.into_iter().collect();
        while let Some(name) = open.pop() {
            if let Some(agent) = self.agents.get(name)
                && reached.insert(name, agent).is_none()
            {
                let next = agent.spec.handoffs.iter();
                open.extend(next.map(|handoff| handoff.name.as_str()));
            }
        }
        reached
    }

    /// Reads the text of the file at `path`, and the files that it includes. Also returns what was read.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<(Self, Sources), AgentFileError> {
        let mut problems = Problems::default();
        let file = Part::parse(text, path, &mut problems);
        let included = match &file {
            Some(file) => include::read(file, path, &problems),
            None => Vec::new(),
        };
        let parts: Vec<_> = included
            .iter()
            .map(|part| Part::parse(&part.text, &part.path, &mut problems))
            .collect();
        let parts: Option<Vec<_>> = parts.into_iter().collect();
        let read = match (file, parts) {
            (Some(file), Some(parts)) => {
                let document = document::assemble(file, parts, &mut problems);
                Some(Self::read(&Table::root(&document, &problems)))
            }
            _ => None,
        };
        let files = problems.take_read();
        let more = problems.take_folders();
        let problems = problems.into_vec();
        match read {
            Some(read) if problems.is_empty() => {
                let paths = included.iter().map(|part| part.path.as_path());
                let folders = included.iter().filter_map(|part| part.folder.as_deref());
                let folders = folders.chain(more.iter().map(PathBuf::as_path));
                let included = included.iter().map(|part| part.text.as_str());
                let texts = std::iter::once(text).chain(included);
                Ok((read, Sources::of(path, texts, paths, folders, &files)))
            }
            _ => Err(AgentFileError::Invalid {
                path: path.to_owned(),
                problems,
            }),
        }
    }

    fn read(root: &Table<'_>) -> Self {
        let file = FileKeys::of(root);
        let providers = providers::read(&file.providers());
        let prices = models::read_prices(&file.prices(), &providers);
        let pools = pools::read(&file.pools());
        let hooks = hooks::read(&file.hooks());
        let guards = guards::read(&file.guards(), &providers);
        let known = Known {
            providers: &providers,
            prices: &prices,
            pools: &pools,
            guards: &guards,
            hooks: &hooks,
        };
        let servers = file.mcp();
        let mut mcp = mcp_settings::read(&servers, &known);
        let names: Vec<&str> = mcp.keys().map(String::as_str).collect();
        let agents = agents::read(&file, &known, &names);
        mcp_settings::settle_sampling(&servers, &mut mcp, &agents);
        Self {
            providers,
            agents,
            prices,
            mcp,
            approvers: approvers::read(&file.approvers()),
            guards,
            hooks,
            sessions: file.sessions().and_then(|table| sessions::read(&table)),
        }
    }

    /// Returns the defaults without a file.
    pub(crate) fn builtin(environment: &dyn Environment) -> Self {
        let providers = providers::defaults();
        let has_key = |name: &str| {
            providers
                .get(name)
                .is_some_and(|settings| settings.key(environment).is_some())
        };
        let (provider, model) = if has_key("openai") {
            ("openai", OPENAI_MODEL)
        } else if has_key("anthropic") {
            ("anthropic", ANTHROPIC_MODEL)
        } else {
            ("demo", DEMO_MODEL)
        };
        let mut spec = AgentSpec {
            name: DEFAULT_AGENT.to_owned(),
            head: RequestHead {
                provider: Some(provider.to_owned()),
                model: model.to_owned(),
                system: Some(SystemPrompt::Text(INSTRUCTIONS.to_owned())),
                ..RequestHead::default()
            }
            .into(),
            max_repeats: Some(agents::MAX_REPEATS),
            tool_search: Some(ToolSearch::default()),
            ..AgentSpec::default()
        };
        let workplace = Workplace::default();
        let options = tools::options(&spec, &workplace);
        spec.head_mut().tools = tools::registry(READ_ONLY_TOOLS, &options).definitions();
        let agent = Agent {
            spec: spec.clone(),
            description: None,
            workplace,
            mcp: Vec::new(),
            hooks: Vec::new(),
            skills: Vec::new(),
        };
        Self {
            prices: models::listed_prices(&providers),
            providers,
            agents: BTreeMap::from([(spec.name, agent)]),
            mcp: BTreeMap::new(),
            approvers: Approvers::default(),
            guards: BTreeMap::new(),
            hooks: BTreeMap::new(),
            sessions: None,
        }
    }

    /// Returns the agent of this name.
    pub(crate) fn agent(&self, name: &str) -> Result<&Agent, AgentFileError> {
        self.agents
            .get(name)
            .ok_or_else(|| AgentFileError::UnknownAgent {
                name: name.to_owned(),
                known: self.agents.keys().cloned().collect(),
            })
    }

    /// Returns whether the demo model answers for this agent.
    pub(crate) fn is_demo(&self, agent: &AgentSpec) -> bool {
        let provider = agent.head.provider.as_deref().unwrap_or_default();
        self.providers
            .get(provider)
            .is_some_and(|settings| settings.kind == Kind::Demo)
    }
}
