//! What the command line says.

use std::{fmt, net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use neuron_config::DEFAULT_AGENT;
use neuron_types::{Always, RunId};

use crate::runs::{
    by::By,
    changes::{ChangeArgs, duration},
    filter::FilterArgs,
};

/// Agents that survive: every step of a run is journaled, so a run that was cut off goes on where it was.
#[derive(Debug, Parser)]
#[command(
    name = "neuron",
    version,
    max_term_width = 100,
    after_help = "Local runs are kept in .neuron/, or where NEURON_HOME says. Engines are addressed as their \
                  own tools do: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, \
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

/// Accepted before and after the command's name.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// What runs the agent
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
    /// Show whole causes of errors, and a log (RUST_LOG filters it)
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

impl Global {
    /// The name of the agent that is meant.
    pub(crate) fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or(DEFAULT_AGENT)
    }
}

/// What runs the agent.
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
    /// Those that fit the pattern that the ticket shows.
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
    /// As it is typed, and as it stands in a run's status.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Temporal => "temporal",
            Self::Restate => "restate",
        }
    }

    /// What starts a worker.
    pub(crate) const fn worker(self) -> &'static str {
        match self {
            Self::Local => "neuron worker",
            Self::Temporal => "neuron-temporal-worker",
            Self::Restate => "neuron-restate-worker --register",
        }
    }

    /// What says where the engine is.
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

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an agent here, journaled in an embedded database
    Run(RunHereArgs),
    /// Go on with a local run after a crash or a decision
    Resume(ResumeArgs),
    /// Start a run on an engine and print its id
    Submit(SubmitArgs),
    /// Follow a run to its end and print its output
    Wait(WaitArgs),
    /// Show where a run stands
    Status(StatusArgs),
    /// List the newest runs, a line each
    Runs(RunsArgs),
    /// Show what was said and done in a run: messages, calls, results, decisions
    Show(ShowArgs),
    /// Sum up what runs used and cost
    Costs(CostsArgs),
    /// Show a run's events
    Events(EventsArgs),
    /// List the open tickets of one run or of all
    Approvals(ApprovalsArgs),
    /// Say yes to a ticket
    Approve(ApproveArgs),
    /// Say no to a ticket
    Deny(DenyArgs),
    /// Answer a question, or fill in a form
    Answer(AnswerArgs),
    /// Deliver the result of a deferred tool
    Complete(CompleteArgs),
    /// Choose what becomes of a run at its limit, of one that failed, or of a call whose outcome nobody knows
    Decide(DecideArgs),
    /// Queue a user message
    Send(SendArgs),
    /// Send any named signal
    Signal(SignalArgs),
    /// Cancel a run
    Cancel(CancelArgs),
    /// Have a run adopt the worker's current definition of its agent at its next turn
    Upgrade(UpgradeArgs),
    /// Execute local runs: those that were submitted, interrupted or decided (Ctrl-C stops it)
    #[command(
        after_help = "With --engine temporal or restate this serves the agents of the agent file there, with the options of that \
                      engine's worker: `neuron worker --engine temporal --help` lists them."
    )]
    Worker(WorkerArgs),
    /// Forget local runs that are over
    Rm(RmArgs),
    /// List, show, carry and forget the conversations that runs take up with --session
    Sessions(SessionsArgs),
    /// List the agents that the agent file defines, checked
    Agents(AgentsArgs),
    /// Find out how the server of a provider differs from what its API says, and which settings it needs
    Doctor(DoctorArgs),
    /// Trust the agent file of a directory as it is, and the runs in its .neuron
    Trust(TrustArgs),
    /// Offer the agent's tools to MCP clients, or look at MCP servers
    Mcp(McpArgs),
    /// Replay an exported Temporal history against this build
    Replay(ReplayArgs),
    /// Start the engines here for development (Ctrl-C stops them)
    Dev,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What to do; `-` or none reads it from standard input
    pub(crate) prompt: Option<String>,
    /// The run's id: letters, digits, `.`, `_` and `-` [default: a new one]
    #[arg(long)]
    pub(crate) id: Option<RunId>,
    /// Go on with this stored conversation, which the run is added to; a new one if there is none
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
    /// The database of a worker's sessions, as `to` of [sessions] in its agent file names it [default: sessions.db in the home
    /// directory]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) at: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions, the newest first
    List,
    /// Show what was said in a session
    Show {
        /// The session
        name: String,
    },
    /// Forget sessions that no run has
    Rm {
        /// The sessions
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Take a session back from a run that its engine has forgotten: it goes on without that run's turn
    Release {
        /// The session
        name: String,
        /// Do so whatever became of the run, and ask nobody
        #[arg(long)]
        force: bool,
    },
    /// Print a session as JSON, to be imported elsewhere
    Export {
        /// The session
        name: String,
    },
    /// Take in a session that was exported
    Import {
        /// The file; `-` reads standard input
        file: PathBuf,
        /// Another name for it
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
    /// Work in the current directory [default: in that of the run]
    #[arg(long)]
    pub(crate) here: bool,
    #[command(flatten)]
    pub(crate) segment: SegmentArgs,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
}

/// When a run continues as new, in another segment of its journal.
#[derive(Debug, Args)]
pub(crate) struct SegmentArgs {
    /// The operations of one segment of the journal: model calls, tool calls and waits [default: 4000]
    #[arg(long, value_name = "N")]
    pub(crate) segment_events: Option<u64>,
    /// The bytes of results in one segment of the journal [default: 32 MiB]
    #[arg(long, value_name = "N")]
    pub(crate) segment_bytes: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The provider, by its name in the agent file. Its server is asked at most 12 small requests
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: String,
    /// The model that is asked [default: the first of the provider that an agent has]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// How long each answer may take
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    pub(crate) timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Where the agent file, or .neuron, is
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
    /// Offer the agent's tools over standard input and output, or over HTTP
    ///
    /// Calls that the agent file denies or wants a person's approval for are refused: there is nobody to ask.
    Serve(McpServeArgs),
    /// Show what the MCP servers of the agent file offer
    List(McpListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct McpServeArgs {
    /// Serve http://ADDR/mcp instead. With NEURON_MCP_TOKEN set clients must send it as a bearer token, which
    /// addresses that other machines can reach require
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

/// Who signs what is decided.
#[derive(Debug, Args)]
pub(crate) struct SignArgs {
    /// Sign decisions with this SSH key [default: if the agent file has approvers, a key of theirs in ssh-agent]
    #[arg(long, value_name = "KEYFILE")]
    pub(crate) sign: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A history as `temporal workflow show --output json` prints it
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
    /// Show the runs below it too: those that it started, and that those started
    #[arg(long)]
    pub(crate) tree: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// How many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// Only this turn; 0 is what was said before the first
    #[arg(long, value_name = "N")]
    pub(crate) turn: Option<u32>,
    /// Show results to their end
    #[arg(long)]
    pub(crate) full: bool,
    /// Show what the model thought
    #[arg(long)]
    pub(crate) thinking: bool,
    /// Show the runs below it too: those that it started, and that those started
    #[arg(long, conflicts_with = "turn")]
    pub(crate) tree: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CostsArgs {
    /// Sum up by tenant, by agent, or by the label of this name
    #[arg(long, value_name = "tenant|agent|LABEL")]
    pub(crate) by: Option<By>,
    /// Only runs that started no longer ago, as 24h or 30days
    #[arg(long, value_name = "AGE", value_parser = duration)]
    pub(crate) since: Option<Duration>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// Go on until the run ends, or nobody executes the local run
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Show those of the runs below it too, in order of time
    #[arg(long)]
    pub(crate) tree: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    /// The run's id: with those of the runs below it [default: all runs]
    pub(crate) run: Option<RunId>,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// Make the call with these arguments instead: a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
}

/// What both decisions have in common.
#[derive(Debug, Args)]
pub(crate) struct DecisionArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The ticket, or CHILD/TICKET for that of a run below; may be left out if the run has exactly one open
    pub(crate) ticket: Option<String>,
    #[command(flatten)]
    pub(crate) by: ByArgs,
    /// Answer later calls of the run so too, where they are asked about for the same reason: the same call, those with
    /// the ticket's prefix, or all of the tool
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
    /// The ticket, or CHILD/TICKET for that of a run below
    pub(crate) ticket: String,
    /// The answer; for a form a JSON object with the answers by their names
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompleteArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The ticket, or CHILD/TICKET for that of a run below
    pub(crate) ticket: String,
    /// The result [default: null]
    #[arg(value_name = "JSON")]
    pub(crate) output: Option<String>,
    /// The token that the tool was handed
    #[arg(long)]
    pub(crate) token: Option<String>,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DecideArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// The ticket, or CHILD/TICKET for that of a run below
    pub(crate) ticket: String,
    /// One of the ticket's choices, as `retry`, `extend:turns=10`, `happened` or `end`
    pub(crate) choice: String,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

/// Who decides, and about what they saw.
#[derive(Debug, Args)]
pub(crate) struct ByArgs {
    /// What you have to say; the model reads it when you deny
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    /// Who decides [default: the owner of the key that signs, else the user, as USER@HOST]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) approver: Option<String>,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
    /// Refuse unless this is the digest of the ticket [default: that of the open ticket]
    #[arg(long)]
    pub(crate) digest: Option<String>,
    /// How long to wait for what the run makes of it, where somebody executes the run
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
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UpgradeArgs {
    /// The run's id
    pub(crate) run: RunId,
    /// Wait until the run has done so, however long that takes [default: 10 s at most]
    #[arg(long)]
    pub(crate) wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// How many runs are executed at once
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) max_runs: u16,
    /// How long calls in flight get to end when the worker is to stop [default: 25s]
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
    /// Only runs that ended longer ago, as 24h or 30days; without RUN all of them
    #[arg(long, value_name = "AGE", value_parser = duration)]
    pub(crate) older_than: Option<Duration>,
}
