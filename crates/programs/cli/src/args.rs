//! The arguments of the command.

use std::{fmt, net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use neuron_config::DEFAULT_AGENT;
use neuron_types::{Always, RunId};

use crate::runs::{
    by::By,
    changes::{ChangeArgs, duration},
    filter::FilterArgs,
};

/// Durable AI agents: every step of a run is journaled, so an interrupted run continues where it stopped.
#[derive(Debug, Parser)]
#[command(
    name = "neuron",
    version,
    max_term_width = 100,
    after_help = "Local runs are stored in .neuron/, or in the directory that NEURON_HOME names. The addresses of \
                  engines are read as their own tools read them: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, \
                  temporal.toml; RESTATE_INGRESS_URL, RESTATE_ADMIN_URL, RESTATE_AUTH_TOKEN. \
                  NEURON_TASK_QUEUE is the task queue on Temporal and the prefix of the services on \
                  Restate.\n\
                  Exit codes: 0 completed or done, 1 the run failed, was cancelled or ended at a limit, \
                  2 usage, configuration, or the engine cannot be reached, 3 the run waits for a person."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

/// The options of every command, accepted before and after its name.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The engine that runs the agent
    #[arg(
        long,
        global = true,
        env = "NEURON_ENGINE",
        value_enum,
        hide_possible_values = true,
        value_name = "local|temporal|restate",
        default_value = "local"
    )]
    pub(crate) engine: EngineName,
    /// The agent, by its name in the agent file [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The agent file [default: neuron.toml if it exists]
    #[arg(long, global = true, value_name = "FILE", env = "NEURON_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON on standard output: one value, or one a line for events
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show every cause of an error, and a log (RUST_LOG filters it)
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

impl Global {
    /// Returns the name of the agent.
    pub(crate) fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or(DEFAULT_AGENT)
    }
}

/// The engine that runs an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// This process, with the embedded journal.
    Local,
    /// Workers on a Temporal task queue.
    Temporal,
    /// Workers that a Restate server calls.
    Restate,
}

/// Which later calls a decision answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlwaysName {
    /// The same tool with the same arguments.
    Call,
    /// The calls that match the pattern that the ticket shows.
    Prefix,
    /// Every call of the tool.
    Tool,
}

impl AlwaysName {
    pub(crate) const fn always(self) -> Always {
        match self {
            Self::Call => Always::Call,
            Self::Prefix => Always::Prefix,
            Self::Tool => Always::Tool,
        }
    }
}

impl EngineName {
    /// Returns the name as a person types it and as a run's status shows it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Temporal => "temporal",
            Self::Restate => "restate",
        }
    }

    /// Returns the command that starts a worker of the engine.
    pub(crate) const fn worker(self) -> &'static str {
        match self {
            Self::Local => "neuron worker",
            Self::Temporal => "neuron-temporal-worker",
            Self::Restate => "neuron-restate-worker --register",
        }
    }

    /// Returns the environment variables that address the engine.
    pub(crate) const fn variables(self) -> &'static str {
        match self {
            Self::Local => "NEURON_HOME",
            Self::Temporal => "TEMPORAL_ADDRESS",
            Self::Restate => "RESTATE_INGRESS_URL and RESTATE_ADMIN_URL",
        }
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an agent in this process, journaled in an embedded database
    Run(RunHereArgs),
    /// Continue a local run after a crash or a decision
    Resume(ResumeArgs),
    /// Start a run on an engine and print its id
    Submit(SubmitArgs),
    /// Follow a run to its end and print its output
    Wait(WaitArgs),
    /// Show the state of a run
    Status(StatusArgs),
    /// List the newest runs, one per line
    Runs(RunsArgs),
    /// Show the transcript of a run: messages, calls, results, decisions
    Show(ShowArgs),
    /// Sum up the tokens and the costs of runs
    Costs(CostsArgs),
    /// Show a run's events
    Events(EventsArgs),
    /// List the open tickets of one run or of all
    Approvals(ApprovalsArgs),
    /// Approve a ticket
    Approve(ApproveArgs),
    /// Deny a ticket
    Deny(DenyArgs),
    /// Answer a question, or fill in a form
    Answer(AnswerArgs),
    /// Deliver the result of a deferred tool
    Complete(CompleteArgs),
    /// Decide about a run at its limit, a run that failed, or a call whose outcome is unknown
    Decide(DecideArgs),
    /// Queue a user message for a run
    Send(SendArgs),
    /// Send a signal by its name
    Signal(SignalArgs),
    /// Cancel a run
    Cancel(CancelArgs),
    /// Switch a run to the worker's current definition of its agent at the run's next turn
    Upgrade(UpgradeArgs),
    /// Execute local runs that were submitted, interrupted or decided (Ctrl-C stops the worker)
    #[command(
        after_help = "With --engine temporal or restate, the worker serves the agents of the agent file on that engine, with the \
                      options of that engine's worker: `neuron worker --engine temporal --help` lists them."
    )]
    Worker(WorkerArgs),
    /// Delete local runs that have ended
    Rm(RmArgs),
    /// List, show, export, import and delete the conversations that runs continue with --session
    Sessions(SessionsArgs),
    /// Check the agent file and list its agents
    Agents(AgentsArgs),
    /// Test how a provider's server differs from its API, and print the settings that it needs
    Doctor(DoctorArgs),
    /// Trust the current agent file of a directory, and the runs in its .neuron
    Trust(TrustArgs),
    /// Serve the agent's tools to MCP clients, or list the tools of MCP servers
    Mcp(McpArgs),
    /// Replay an exported Temporal history against this build
    Replay(ReplayArgs),
    /// Start the engines on this machine for development (Ctrl-C stops them)
    #[command(
        after_help = "Without --engine, both are started: Temporal at 127.0.0.1:7233 (UI 8233), and Restate at 127.0.0.1:8080 \
                      (admin and UI 9070). TEMPORAL_ADDRESS, RESTATE_INGRESS_URL and RESTATE_ADMIN_URL set other ports. The \
                      programs are those that NEURON_TEMPORAL and NEURON_RESTATE name; without these variables, `temporal` \
                      and `restate-server` on the PATH."
    )]
    Dev,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The task; if it is `-` or absent, it is read from standard input
    pub(crate) prompt: Option<String>,
    /// The run's id: letters, digits, `.`, `_` and `-` [default: a new one]
    #[arg(long)]
    pub(crate) id: Option<RunId>,
    /// Continue this stored conversation and add the run to it; a name without a conversation starts one
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
    /// The database of a worker's sessions, which `to` of [sessions] in its agent file names [default: sessions.db in
    /// the home directory]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) at: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions, the newest first
    List,
    /// Show the messages of a session
    Show {
        /// The session
        name: String,
    },
    /// Delete sessions that no run is using
    Rm {
        /// The sessions
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Release a session from a run that its engine has deleted; the session continues without that run's turn
    Release {
        /// The session
        name: String,
        /// Release it whatever the state of the run, without a question
        #[arg(long)]
        force: bool,
    },
    /// Print a session as JSON, for an import elsewhere
    Export {
        /// The session
        name: String,
    },
    /// Import a session that was exported
    Import {
        /// The file; `-` reads standard input
        file: PathBuf,
        /// Another name for the session
        #[arg(long = "as", value_name = "NAME")]
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunHereArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) segment: SegmentArgs,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    pub(crate) of: RunRef,
    /// Work in the current directory [default: the run's directory]
    #[arg(long)]
    pub(crate) here: bool,
    #[command(flatten)]
    pub(crate) segment: SegmentArgs,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
}

/// The limits of one segment of a run's journal: at a limit the run continues as new.
#[derive(Debug, Args)]
pub(crate) struct SegmentArgs {
    /// The most operations in one segment of the journal: model calls, tool calls and waits [default: 4000]
    #[arg(long, value_name = "N")]
    pub(crate) segment_events: Option<u64>,
    /// The most bytes of results in one segment of the journal [default: 32 MiB]
    #[arg(long, value_name = "N")]
    pub(crate) segment_bytes: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The provider, by its name in the agent file. Its server gets at most 12 small requests
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: String,
    /// The model to test [default: the provider's model that the agent file names first]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The most time for each answer
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    pub(crate) timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The directory with the agent file or .neuron
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: McpCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Serve the agent's tools over standard input and output, or over HTTP
    ///
    /// A call is rejected if the agent file denies it or requires approval for it: no approver can be asked here.
    Serve(McpServeArgs),
    /// List the tools of the agent file's MCP servers
    List(McpListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct McpServeArgs {
    /// Serve http://ADDR/mcp instead. If NEURON_MCP_TOKEN is set, clients must send it as a bearer token; an address
    /// that other machines can reach requires it
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct McpListArgs {
    /// The servers, by their names in the agent file [default: all]
    #[arg(value_name = "SERVER")]
    pub(crate) servers: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Follow the run to its end and print its output
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    /// Print the JSON Schema of agent files instead, for editors
    #[arg(long)]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    #[command(flatten)]
    pub(crate) of: RunRef,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
}

/// The key that signs decisions.
#[derive(Debug, Args)]
pub(crate) struct SignArgs {
    /// Sign decisions with this SSH key [default: if the agent file has approvers, the key of one in ssh-agent]
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) sign: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A history, as `temporal workflow show --output json` prints it
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RunRef {
    /// The run's id
    pub(crate) run: RunId,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) of: RunRef,
    /// Show the runs below it too: its children and their children
    #[arg(long)]
    pub(crate) tree: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// The most runs to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// Show only this turn; 0 shows the messages before the first turn
    #[arg(long, value_name = "N")]
    pub(crate) turn: Option<u32>,
    /// Show whole results
    #[arg(long)]
    pub(crate) full: bool,
    /// Show the model's thinking
    #[arg(long)]
    pub(crate) thinking: bool,
    /// Show the runs below it too: its children and their children
    #[arg(long, conflicts_with = "turn")]
    pub(crate) tree: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CostsArgs {
    /// Sum up by tenant, by agent, or by the label of this name
    #[arg(long, value_name = "tenant|agent|LABEL")]
    pub(crate) by: Option<By>,
    /// Only runs that started within this time, such as 24h or 30days
    #[arg(long, value_name = "AGE", value_parser = duration)]
    pub(crate) since: Option<Duration>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// Follow the run until it ends, or until no process executes the local run
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Show the events of the runs below it too, in order of time
    #[arg(long)]
    pub(crate) tree: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    /// The run's id; lists the tickets of the runs below it too [default: all runs]
    pub(crate) run: Option<RunId>,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// Make the call with these arguments instead, a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
}

/// The arguments that an approval and a denial have in common.
#[derive(Debug, Args)]
pub(crate) struct DecisionArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The ticket, or CHILD/TICKET for a ticket of a run below; optional if the run has exactly one open ticket
    pub(crate) ticket: Option<String>,
    #[command(flatten)]
    pub(crate) by: ByArgs,
    /// Give the same answer to later calls of the run that need approval for the same reason: the same call, calls with
    /// the ticket's prefix, or all calls of the tool
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "call|prefix|tool"
    )]
    pub(crate) always: Option<AlwaysName>,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The ticket, or CHILD/TICKET for a ticket of a run below
    pub(crate) ticket: String,
    /// The answer; for a form, a JSON object with an answer for each field's name
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The ticket, or CHILD/TICKET for a ticket of a run below
    pub(crate) ticket: String,
    /// The result [default: null]
    #[arg(value_name = "JSON")]
    pub(crate) output: Option<String>,
    /// The token that the tool received
    #[arg(long)]
    pub(crate) token: Option<String>,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DecideArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The ticket, or CHILD/TICKET for a ticket of a run below
    pub(crate) ticket: String,
    /// One of the ticket's choices, such as `retry`, `extend:turns=10`, `happened` or `end`
    pub(crate) choice: String,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

/// The approver, and the ticket that the approver saw.
#[derive(Debug, Args)]
pub(crate) struct ByArgs {
    /// A comment; the model reads the comment of a denial
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    /// The approver's name [default: the owner of the key that signs, else the user, as USER@HOST]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) approver: Option<String>,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
    /// Fail unless this is the digest of the ticket [default: the digest of the open ticket]
    #[arg(long)]
    pub(crate) digest: Option<String>,
    /// The most time to wait for the run to apply the decision, if a process executes the run
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    pub(crate) within: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The message; `-` reads it from standard input
    pub(crate) message: String,
}

#[derive(Debug, Args)]
pub(crate) struct SignalArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The signal's name
    pub(crate) name: String,
    /// The payload [default: null]
    #[arg(value_name = "JSON")]
    pub(crate) payload: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// Wait until the run has switched, without a limit [default: at most 10 s]
    #[arg(long)]
    pub(crate) wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The most runs to execute at once
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) max_runs: u16,
    /// The most time for calls in flight to end when the worker stops [default: 25s]
    #[arg(long, value_name = "DURATION", env = "NEURON_GRACE", value_parser = duration)]
    pub(crate) grace: Option<Duration>,
    /// Serve /healthz, /readyz and /metrics at this address
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) segment: SegmentArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// The runs' ids
    #[arg(value_name = "RUN", required_unless_present = "older_than")]
    pub(crate) runs: Vec<RunId>,
    /// Only runs that ended longer ago than this, such as 24h or 30days; without RUN, all such runs
    #[arg(long, value_name = "AGE", value_parser = duration)]
    pub(crate) older_than: Option<Duration>,
}
