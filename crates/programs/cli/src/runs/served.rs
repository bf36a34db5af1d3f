//! Finds out who can continue a run: this command, or the program that has its agent.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use neuron_config::AgentFile;
use neuron_engine::{RunClient as _, RunClientError, RunHandle};
use neuron_local::LocalClient;
use neuron_types::{AgentRef, Blocked, BlockedKind, RunId, RunStatus};

use crate::{CliError, engine, session::Session};

/// Who can continue a run, as far as that is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Server {
    /// This command, with the agent file of the run, and its worker.
    Command,
    /// Only this command, not a worker: the run has the definition of its agent, which is not in the file any more.
    Resume,
    /// A program that has the run's agent, and not this command.
    Program {
        agent: String,
        /// Why this command cannot continue the run.
        why: String,
    },
}

impl Server {
    /// Returns who serves an agent, in view of this file.
    fn of(file: &AgentFile, agent: &AgentRef) -> Self {
        let name = agent.name();
        let definition = match agent {
            AgentRef::Definition(definition) => Some(definition),
            AgentRef::Name(_) => None,
        };
        let why = match (file.definition(name), definition) {
            (_, Some(definition)) if definition.team.is_some() => {
                format!("{name:?} is a workflow of a program")
            }
            (Ok(_), _) => return Self::Command,
            (Err(_), Some(definition)) if file.has_parts_of(definition) => return Self::Resume,
            (Err(error), _) => error.to_string(),
        };
        let agent = name.to_owned();
        Self::Program { agent, why }
    }

    /// Returns what to do so that a run continues which no process executes.
    pub(crate) fn to_do(&self, session: &Session, run_id: &RunId) -> String {
        match self {
            Self::Program { agent, .. } => start(agent),
            _ => format!("continue it with: {}", session.resume_command(run_id)),
        }
    }
}

/// Finds out who can continue runs. Each file is read once.
pub(crate) struct Servers<'a> {
    session: &'a Session,
    /// The agent files by the directories of the runs; `None` if unknown.
    files: BTreeMap<Option<PathBuf>, Option<AgentFile>>,
    /// The client of local runs, once one is needed.
    local: Option<LocalClient>,
}

impl<'a> Servers<'a> {
    pub(crate) const fn new(session: &'a Session) -> Self {
        Self {
            session,
            files: BTreeMap::new(),
            local: None,
        }
    }

    /// Returns who can continue a run of this status, and adds that to the reason that holds the run up: a reader of
    /// the status alone is not sent to a command that cannot continue the run.
    pub(crate) async fn of(&mut self, status: &mut RunStatus) -> Server {
        let kind = status.blocked.as_ref().map(|blocked| blocked.kind);
        let server = match kind {
            Some(
                BlockedKind::NoProcess | BlockedKind::NoWorker | BlockedKind::WorkerUnreachable,
            ) => self.server(status).await,
            _ => Server::Command,
        };
        if let (Server::Program { agent, why }, Some(blocked)) = (&server, &mut status.blocked) {
            let prefix = engine::prefix(self.session.global.engine);
            say_program(blocked, agent, why, prefix.as_deref());
        }
        server
    }

    async fn server(&mut self, status: &RunStatus) -> Server {
        let directory = status.directory.as_deref().map(PathBuf::from);
        let directory = directory.filter(|_| self.session.is_local());
        // Only the name of the agent is known for a run on an engine.
        let agent = match self.session.is_local() {
            true => self.agent(&status.run_id).await,
            false => Ok(AgentRef::from(status.first_agent())),
        };
        match (self.file(directory), agent) {
            (Some(file), Ok(agent)) => Server::of(file, &agent),
            _ => Server::Command,
        }
    }

    /// Returns the agent with which a local run was started.
    async fn agent(&mut self, run_id: &RunId) -> Result<AgentRef, CliError> {
        let client = match self.local.take() {
            Some(client) => client,
            None => self.session.local_to_look_at().await?,
        };
        let request = self.local.insert(client).request(run_id).await?;
        let gone = || RunClientError::UnknownRun {
            run_id: run_id.clone(),
        };
        Ok(request.ok_or_else(gone)?.agent)
    }

    fn file(&mut self, directory: Option<PathBuf>) -> Option<&AgentFile> {
        let session = self.session;
        let read = |directory: &Option<PathBuf>| file_of(session, directory.as_deref());
        let found = self.files.entry(directory);
        let found = found.or_insert_with_key(read);
        found.as_ref()
    }
}

/// Returns the agent file of a run; `None` if it cannot be read. Resuming the run then reports the error.
fn file_of(session: &Session, directory: Option<&Path>) -> Option<AgentFile> {
    let is_lost = directory.is_some_and(|directory| !directory.is_dir());
    let file = session.agent_file_of(directory).ok();
    file.filter(|_| !is_lost)
}

/// Returns who can continue a run that no process executes.
pub(crate) async fn server_of(session: &Session, status: &RunStatus) -> Server {
    Servers::new(session).server(status).await
}

/// Returns what to do so that a run continues which no process executes.
pub(crate) async fn to_do(session: &Session, run: &RunHandle) -> String {
    let server = match run.status().await {
        Ok(status) => server_of(session, &status).await,
        Err(_) => Server::Command,
    };
    server.to_do(session, run.id())
}

/// Rejects resuming a local run whose agent belongs to another program.
///
/// # Errors
///
/// [`CliError::OtherProgram`].
pub(crate) fn check(
    session: &Session,
    run_id: &RunId,
    agent: &AgentRef,
    directory: Option<&Path>,
) -> Result<(), CliError> {
    let file = file_of(session, directory);
    match file.map(|file| Server::of(&file, agent)) {
        Some(Server::Program { why, .. }) => Err(CliError::OtherProgram {
            run_id: run_id.clone(),
            why,
        }),
        _ => Ok(()),
    }
}

fn start(agent: &str) -> String {
    format!("start the program that serves its agent {agent:?}")
}

/// Adds to a run's hold-up that its program has to be started. The status already names a task queue that no worker
/// polls.
fn say_program(blocked: &mut Blocked, agent: &str, why: &str, prefix: Option<&str>) {
    let before = match blocked.kind {
        BlockedKind::NoProcess => {
            format!("no process executes the run, and this command cannot: {why}")
        }
        _ => blocked.detail.clone(),
    };
    let under = prefix.map(|prefix| format!(" under the prefix {prefix:?}"));
    blocked.detail = format!("{before}; {}{}", start(agent), under.unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_config::ProcessEnvironment;

    use super::*;

    fn said(kind: BlockedKind, detail: &str, prefix: Option<&str>) -> String {
        let why = "unknown agent \"draft\": there is only default";
        let mut blocked = Blocked::new(kind, DateTime::UNIX_EPOCH, detail.to_owned());
        say_program(&mut blocked, "draft", why, prefix);
        assert_eq!(blocked.kind, kind);
        blocked.detail
    }

    #[test]
    fn what_holds_a_run_up_names_the_agent_and_where_it_is_served() {
        assert_eq!(
            said(BlockedKind::NoProcess, "no process executes the run", None),
            "no process executes the run, and this command cannot: unknown agent \"draft\": there is only default; start \
             the program that serves its agent \"draft\""
        );
        let temporal = "no worker polls the task queue \"drafts\"";
        assert_eq!(
            said(BlockedKind::NoWorker, temporal, None),
            "no worker polls the task queue \"drafts\"; start the program that serves its agent \"draft\""
        );
        let restate = "the run's worker cannot be reached: connection refused";
        assert_eq!(
            said(BlockedKind::WorkerUnreachable, restate, Some("drafts")),
            "the run's worker cannot be reached: connection refused; start the program that serves its agent \"draft\" \
             under the prefix \"drafts\""
        );
    }

    #[test]
    fn an_agent_that_the_file_has_is_the_commands() {
        let file = AgentFile::builtin(&ProcessEnvironment);
        let default = AgentRef::from("default");
        assert_eq!(Server::of(&file, &default), Server::Command);
        let other = Server::of(&file, &AgentRef::from("draft"));
        let Server::Program { agent, why } = other else {
            panic!("{other:?}");
        };
        assert_eq!(agent, "draft");
        assert_eq!(why, "unknown agent \"draft\": there is only default");
    }
}
