//! Agent files: `neuron.toml`, parsed and checked, and what there is without one.
//!
//! ```
//! use neuron_runtime::AgentFile;
//!
//! let text = r#"
//!     [agents.default]
//!     model = "openai/gpt-6.1-terra"
//!     tools = ["read_file", "bash"]
//!     approve = ["bash"]
//! "#;
//! let file = AgentFile::parse(text, "neuron.toml")?;
//! let agent = file.agent("default")?;
//! assert_eq!(agent.request.model, "gpt-6.1-terra");
//! assert_eq!(agent.request.tools.len(), 2);
//! # Ok::<(), neuron_runtime::AgentFileError>(())
//! ```
//!
//! Reading a file looks nothing up: no variable, no key, no other file. That happens when an
//! [`AgentFile::executor`] is made, and only for the providers that the agent uses.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use neuron_mcp::{McpClientHandler, McpServerSpec, McpServers};
use neuron_tool::READ_ONLY_TOOLS;
use neuron_types::{AgentSpec, CompletionRequest, SystemPrompt};
use toml::de::DeTable;

use self::{
    agents::Agent,
    mcp_answers::Person,
    mcp_settings::McpSettings,
    models::Known,
    problem::{Problems, looks_like_a_key},
    providers::{Kind, ProviderSettings},
    table::Table,
    tools::Workplace,
};
use crate::{DEMO_MODEL, Executor, Prices};

mod activity;
mod agents;
mod anthropic;
mod connect;
mod context;
mod environment;
mod error;
mod json;
mod mcp;
mod mcp_answers;
mod mcp_settings;
mod models;
mod ollama;
mod openai;
mod problem;
mod providers;
mod steps;
mod table;
mod tool_limits;
mod tools;

pub use environment::{Environment, ProcessEnvironment};
pub use error::AgentFileError;
pub use problem::Problem;

/// The name of the agent that is meant where none is named.
pub const DEFAULT_AGENT: &str = "default";

const OPENAI_MODEL: &str = "gpt-6.1-terra";
const ANTHROPIC_MODEL: &str = "claude-sonnet-5-5";
const INSTRUCTIONS: &str = "You are a careful assistant. You can look at the files of the user's working \
    directory with your tools. Look before you answer, and say so when you do not know.";

/// The agents of an agent file, with the providers and prices that they use.
///
/// # The keys
///
/// A key that is not listed is an error. So is an API key in the file: `api_key_env` names a variable.
///
/// | `[providers.NAME]` | Means | Default |
/// | --- | --- | --- |
/// | `kind` | `openai-responses`, `openai-chat`, `anthropic`, `script` or `demo` | for the names `openai`, `anthropic` and `demo`, which need no table: `openai-responses`, `anthropic`, `demo` |
/// | `base_url` | where the API is | `OPENAI_BASE_URL` or `ANTHROPIC_BASE_URL`, else the vendor's |
/// | `api_key_env` | the variable that holds the key | `OPENAI_API_KEY`, or `ANTHROPIC_API_KEY` and `ANTHROPIC_AUTH_TOKEN`; none for a name of your own with a `base_url` |
/// | `file` | the script, beside this file | |
///
/// | `[agents.NAME]` | Means | Default |
/// | --- | --- | --- |
/// | `model` | `provider/model` | must be there |
/// | `instructions` | the system prompt | none |
/// | `tools` | the built-in tools that it has, and `mcp:NAME` for those of an MCP server | none |
/// | `allow`, `approve`, `deny` | calls to make, to ask a person about, to refuse, as [`CallPattern`](neuron_types::CallPattern)s; `"!…"` to except some, `mcp:NAME` or `NAME__TOOL` for a server's | none |
/// | `approval_timeout` | how long a ticket stays open | for ever |
/// | `on_expiry` | `deny` the call or `fail` the run when a ticket lapses | `deny` |
/// | `on_unknown_outcome` | `tell_model` or `ask_person` when it is not known if a write happened | `tell_model` |
/// | `parallel_tools` | the calls of a turn run at the same time | true |
/// | `max_tokens`, `temperature` | passed on to the model | the provider's |
/// | `thinking` | `adaptive`, `disabled`, or a budget of tokens | the provider's |
/// | `effort` | `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max` | the provider's |
/// | `model_timeout`, `tool_timeout` | how long one attempt may take | 10 minutes |
/// | `heartbeat_timeout` | on Temporal: how long a step may be silent until its worker counts as lost, 1 s at least | 10 s |
/// | `task_queue`, `priority` | on Temporal: the queue whose workers make the steps; 1, the first, to 5 | the run's |
/// | `placement` | on Temporal: `activity`, or `local` for tool calls that are no writes in the run's own worker | `local` for those of 5 s at most |
/// | `tool_output_bytes` | how much of a tool's result the model reads | 65,536 |
/// | `allow_outside_cwd` | file tools may leave the working directory | false |
/// | `limits` | `turns`, `tool_calls`, `tokens`, `cost_usd`, `duration` | 50 turns, 200 tool calls |
/// | `context` | `strategy` (`none`, `sliding_window`, `clear_tool_results`, `summarize` or a list), `at_tokens`, `keep`, and for summaries `model`; `sections.NAME` with `content` and `priority`; `reminders.NAME` with `text` and one of `every_turns`, `every_tool_calls`, `at_tokens` | everything is kept; 10 for `keep` |
/// | `retry` | `attempts`, `initial`, `factor`, `max` | 5, 1 s, 2, 60 s |
/// | `extra` | a table of further fields of the provider's request body | none |
/// | `tool.TOOL` | for one tool: the keys of `retry`, `timeout`, `heartbeat_timeout`, `task_queue`, `priority`, `placement` | the agent's |
/// | | `concurrency`: how many of its calls this process makes at once; `rate_limit = { calls = 10, per = "1m" }`: how many begin in any such time | as many as come |
///
/// | `[mcp.NAME]` | Means | Default |
/// | --- | --- | --- |
/// | `command` | the program to start and its arguments, spoken to over its standard input and output | |
/// | `url` | the address of a server over streamable HTTP, instead | |
/// | `env` | variables that the program gets although they look like secrets | none |
/// | `token_env` | the variable that holds the bearer token for `url` | none |
/// | `timeout` | how long starting and each request but a tool call may take | 60 s |
/// | `elicitation` | whether it may ask the person, who says no where there is nobody: see [`AgentFile::set_person`] | false |
/// | `sampling` | whether it may ask a model: `true` for that of its agents, or `"provider/model"` | false |
/// | `sampling_max_tokens` | how long an answer of that model may be | 4,096 |
///
/// `[prices."provider/model"]` has `input`, `output`, `cache_read` and `cache_write`: US dollars for a million
/// tokens. Its table `long_prompt` has the same for prompts of more tokens than its `above`. For OpenAI and
/// Anthropic themselves, their published prices hold where none is set: see [`PriceList`](crate::PriceList).
/// A cost limit needs the prices of the agent's models. Durations have a unit, as in `"90s"`. Amounts
/// are decimal numbers, best in quotes.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFile {
    providers: BTreeMap<String, ProviderSettings>,
    agents: BTreeMap<String, Agent>,
    prices: Prices,
    mcp: BTreeMap<String, McpSettings>,
    /// Those that were started for this file.
    servers: Option<McpServers>,
    /// Who answers what servers ask of a person.
    person: Person,
}

impl AgentFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::Read`], or what [`AgentFile::parse`] finds.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, AgentFileError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| AgentFileError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Checks the text of a file. `path` names it in errors, and paths in it start from its directory.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::Invalid`] with everything that is wrong.
    pub fn parse(text: &str, path: impl Into<PathBuf>) -> Result<Self, AgentFileError> {
        let path = path.into();
        let problems = Problems::new(text);
        let (document, errors) = DeTable::parse_recoverable(text);
        // With broken syntax the rest would be guesswork.
        let file = errors.is_empty().then(|| {
            let root = Table::root(document.get_ref(), &problems);
            Self::read(&root, path.parent().unwrap_or_else(|| Path::new("")))
        });
        for error in errors {
            let span = error.span().unwrap_or_default();
            let message = error.message();
            // The parser's own text quotes the line, which may hold a key. A name is enough.
            let name = text
                .get(span.clone())
                .filter(|name| message == "duplicate key" && !looks_like_a_key(name))
                .map(|name| format!(" {name}"))
                .unwrap_or_default();
            problems.add(
                span.start,
                format!("this is not valid TOML: {message}{name}"),
            );
        }
        let problems = problems.into_vec();
        match file {
            Some(file) if problems.is_empty() => Ok(file),
            _ => Err(AgentFileError::Invalid { path, problems }),
        }
    }

    fn read(root: &Table<'_>, folder: &Path) -> Self {
        root.expect_keys(&["providers", "agents", "prices", "mcp"]);
        let providers = providers::read(root, folder);
        let prices = models::read_prices(root, &providers);
        let known = Known {
            providers: &providers,
            prices: &prices,
        };
        let mut mcp = mcp_settings::read(root, &known);
        let agents = agents::read(root, &known, &mcp);
        mcp_settings::settle_sampling(root, &mut mcp, &agents);
        Self {
            providers,
            agents,
            prices,
            mcp,
            servers: None,
            person: Person::default(),
        }
    }

    /// What there is without a file: an agent `default` with the tools that change nothing and the first
    /// provider whose key is set, OpenAI before Anthropic; with no key the demo provider.
    #[must_use]
    pub fn builtin(environment: &dyn Environment) -> Self {
        let providers = providers::defaults();
        let has_key = |name: &str| {
            providers
                .get(name)
                .is_some_and(|settings| connect::key(settings, environment).is_some())
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
            request: CompletionRequest {
                provider: Some(provider.to_owned()),
                model: model.to_owned(),
                system: Some(SystemPrompt::Text(INSTRUCTIONS.to_owned())),
                ..CompletionRequest::default()
            },
            ..AgentSpec::default()
        };
        let workplace = Workplace::default();
        let options = tools::options(&spec, &workplace);
        spec.request.tools = tools::registry(READ_ONLY_TOOLS, &options).definitions();
        let agent = Agent {
            spec: spec.clone(),
            workplace,
            mcp: Vec::new(),
        };
        Self {
            prices: models::listed_prices(&providers),
            providers,
            agents: BTreeMap::from([(spec.name, agent)]),
            mcp: BTreeMap::new(),
            servers: None,
            person: Person::default(),
        }
    }

    /// Sets who answers what MCP servers ask of a person, those with `elicitation = true`. Call it before
    /// [`AgentFile::start_mcp`]. Default is nobody: such servers are told that the person declines.
    pub fn set_person(&mut self, person: Arc<dyn McpClientHandler>) {
        self.person = Person(Some(person));
    }

    /// Starts the MCP servers that these agents use, and gives the agents their tools. Call it before
    /// [`AgentFile::agent`] and [`AgentFile::executor`], once, and stop what it answers with when all runs are
    /// done. Agents that there are not count as agents without servers.
    ///
    /// The tools do not change afterwards, whatever the servers do: a run carries those that its agent had.
    /// Servers may work in `cwd`, and ask models and people where the file allows it.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::Mcp`] and [`AgentFileError::McpVariable`]. No server runs then.
    pub async fn start_mcp(
        &mut self,
        agents: impl IntoIterator<Item = impl AsRef<str>>,
        cwd: &Path,
        environment: &dyn Environment,
    ) -> Result<McpServers, AgentFileError> {
        let agents = agents.into_iter();
        let wanted = agents.flat_map(|name| self.mcp_servers(name.as_ref()).to_vec());
        let wanted = wanted.collect();
        mcp::start(self, wanted, cwd, environment).await
    }

    /// As [`AgentFile::start_mcp`], for an agent that an earlier version of this file may have defined.
    ///
    /// # Errors
    ///
    /// As [`AgentFile::start_mcp`].
    pub async fn start_mcp_for(
        &mut self,
        agent: &AgentSpec,
        cwd: &Path,
        environment: &dyn Environment,
    ) -> Result<McpServers, AgentFileError> {
        let tools = agent.request.tools.iter();
        let servers = tools.filter_map(|tool| mcp::server_of(&tool.name));
        let wanted = servers.map(ToOwned::to_owned).collect();
        mcp::start(self, wanted, cwd, environment).await
    }

    /// The MCP servers that an agent uses. Empty if there is no such agent.
    #[must_use]
    pub fn mcp_servers(&self, agent: &str) -> &[String] {
        let agent = self.agents.get(agent);
        agent.map_or(&[], |agent| agent.mcp.as_slice())
    }

    /// The names of all MCP servers of the file, sorted.
    pub fn all_mcp_servers(&self) -> impl Iterator<Item = &str> {
        self.mcp.keys().map(String::as_str)
    }

    /// What it takes to start one MCP server, by its name in the file: where it is, and what it is answered when
    /// it asks. It may work in `cwd`.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::UnknownMcpServer`] and [`AgentFileError::McpVariable`].
    pub fn mcp_server(
        &self,
        name: &str,
        cwd: &Path,
        environment: &dyn Environment,
    ) -> Result<(McpServerSpec, Arc<dyn McpClientHandler>), AgentFileError> {
        mcp::one(self, name, cwd, environment)
    }

    /// An agent, as a run of it carries it.
    ///
    /// # Errors
    ///
    /// [`AgentFileError::UnknownAgent`], which names the agents that there are, and
    /// [`AgentFileError::McpNotStarted`].
    pub fn agent(&self, name: &str) -> Result<AgentSpec, AgentFileError> {
        match self.agents.get(name) {
            Some(agent) => {
                mcp::require_started(self, name, &agent.mcp)?;
                Ok(agent.spec.clone())
            }
            None => Err(AgentFileError::UnknownAgent {
                name: name.to_owned(),
                known: self.agents.keys().cloned().collect(),
            }),
        }
    }

    /// All agents, in the order of their names. Without the tools of MCP servers that were not started.
    pub fn agents(&self) -> impl Iterator<Item = &AgentSpec> {
        self.agents.values().map(|agent| &agent.spec)
    }

    /// Whether the demo model answers for this agent.
    #[must_use]
    pub fn is_demo(&self, agent: &AgentSpec) -> bool {
        let provider = agent.request.provider.as_deref().unwrap_or_default();
        self.providers
            .get(provider)
            .is_some_and(|settings| settings.kind == Kind::Demo)
    }

    /// Makes the executor of an agent, whose tools work in `cwd`. The agent may be one that an earlier
    /// version of this file defined, as a run keeps its definition.
    ///
    /// # Errors
    ///
    /// A provider or tool of the agent is not there any more, its key is not set, its script cannot be read,
    /// or an MCP server of one of its tools was not started.
    pub fn executor(
        &self,
        agent: &AgentSpec,
        cwd: impl Into<PathBuf>,
        environment: &dyn Environment,
    ) -> Result<Executor, AgentFileError> {
        connect::executor(self, agent, cwd.into(), environment)
    }
}
