//! What the commands share: options, standard output, the agent file, the journal.

use std::{
    env, io,
    path::{self, Path, PathBuf},
    sync::Arc,
};

use neuron_approvers::Approvers;
use neuron_config::{AGENT_FILE, AgentFile, OpenOptions, ProcessEnvironment};
use neuron_engine::{RunClient, RunHandle};
use neuron_local::{
    InMemorySessionStorage, Journal, LocalClient, SessionError, SessionManager,
    SqliteSessionStorage,
};
use neuron_types::{RunId, RunStatus};
use neuron_worker::variable;

use crate::{
    CliError,
    args::{EngineName, Global, SignArgs},
    engine,
    home::Home,
    questions::trust,
    terminal::output::{Output, note},
    terminal::shown,
};

/// One call of the command.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) global: Global,
    pub(crate) output: Output,
    /// Where local runs are kept, wherever this goes to work.
    home: Home,
    /// The agent file that is named, wherever this goes to work.
    config: Option<PathBuf>,
    /// The run works here, and not in its own directory.
    here: bool,
    /// The key that signs what is decided, if one is named.
    key_file: Option<PathBuf>,
    /// The database of sessions, if one is named: else it is in the home directory.
    sessions: Option<PathBuf>,
}

impl Session {
    pub(crate) fn new(global: Global) -> Self {
        Self {
            output: Output::new(global.json),
            home: Home::find(),
            config: global.config.clone(),
            here: false,
            key_file: None,
            sessions: None,
            global,
        }
    }

    /// The same, for a run that works in the current directory whatever its own is.
    pub(crate) fn here(&self) -> Self {
        Self {
            here: true,
            ..self.clone()
        }
    }

    /// The same, with what is said about who signs.
    pub(crate) fn signing(&self, args: &SignArgs) -> Self {
        Self {
            // The command may go elsewhere.
            key_file: args.sign.as_deref().map(from_here),
            ..self.clone()
        }
    }

    /// The same, with sessions in this database, if one is named.
    pub(crate) fn with_sessions_at(self, sessions: Option<PathBuf>) -> Self {
        Self { sessions, ..self }
    }

    /// The key that signs what is decided, if one is named.
    pub(crate) const fn key_file(&self) -> Option<&PathBuf> {
        self.key_file.as_ref()
    }

    /// The same in another directory, to which the process goes. What the command line names is where it was.
    ///
    /// # Errors
    ///
    /// The system's, where nobody can go there.
    pub(crate) fn at(&self, directory: &Path) -> io::Result<Self> {
        let config = self.config.as_deref().map(from_here);
        env::set_current_dir(directory)?;
        Ok(Self {
            config,
            ..self.clone()
        })
    }

    /// The directory that the command works in.
    ///
    /// # Errors
    ///
    /// [`CliError::WorkingDirectory`].
    pub(crate) fn directory(&self) -> Result<PathBuf, CliError> {
        env::current_dir().map_err(CliError::WorkingDirectory)
    }

    /// The agents: those of the agent file, or what there is without one. A file that was only found is trusted by a
    /// person.
    ///
    /// # Errors
    ///
    /// Those of [`agent_file_as_it_is`](Self::agent_file_as_it_is), and those of [`trust::settle`].
    pub(crate) async fn agent_file(&self) -> Result<AgentFile, CliError> {
        let file = self.agent_file_as_it_is()?;
        trust::settle(&file).await?;
        Ok(file)
    }

    /// The same, to be looked at and not to be opened: whoever wrote it may be nobody whom a person trusts.
    ///
    /// # Errors
    ///
    /// [`CliError::NoAgentFile`] where one is named that does not exist, [`CliError::AgentFile`].
    pub(crate) fn agent_file_as_it_is(&self) -> Result<AgentFile, CliError> {
        let named = self.config.as_deref();
        Ok(AgentFile::find(named, &ProcessEnvironment)?)
    }

    /// Those who have to sign what is decided about a run, as far as can be said here: as the agent file says that is
    /// named, else that of the directory where a local run works, else that of the working directory. A worker has its own.
    ///
    /// # Errors
    ///
    /// [`CliError::NoAgentFile`] and [`CliError::AgentFile`], if it is named.
    pub(crate) fn approvers(&self, status: &RunStatus) -> Result<Approvers, CliError> {
        let directory = status.directory.as_deref().filter(|_| self.is_local());
        match self.agent_file_of(directory.map(Path::new)) {
            Ok(file) => Ok(file.approvers().clone()),
            Err(error) if self.config.is_some() => Err(error),
            // It was only found, and may be nobody's business here.
            Err(error) => {
                note(&format!("who has to sign is not known: {error}"));
                Ok(Approvers::default())
            }
        }
    }

    /// The agent file that a run goes on with, to be looked at and not to be opened: the one that is named, else that of the
    /// directory where it works, else that of the working directory.
    ///
    /// # Errors
    ///
    /// As [`agent_file_as_it_is`](Self::agent_file_as_it_is).
    pub(crate) fn agent_file_of(&self, directory: Option<&Path>) -> Result<AgentFile, CliError> {
        match (&self.config, directory) {
            (None, Some(directory)) if !self.here => in_directory(directory),
            _ => self.agent_file_as_it_is(),
        }
    }

    /// The client of local runs, to look at them and no more.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`].
    pub(crate) async fn local_to_look_at(&self) -> Result<LocalClient, CliError> {
        self.home.client_to_look().await
    }

    /// What the agent file is opened with: its agents work in the working directory.
    ///
    /// # Errors
    ///
    /// [`CliError::WorkingDirectory`].
    pub(crate) fn open_options(&self) -> Result<OpenOptions, CliError> {
        let options = OpenOptions::new(self.directory()?);
        Ok(options.mcp_notices(|notice| note(&notice.to_string())))
    }

    /// The directory of the files of the home, which is made if it is missing: this person's own.
    ///
    /// # Errors
    ///
    /// Those of [`Home::own`].
    pub(crate) async fn home(&self) -> Result<&Path, CliError> {
        self.home.own().await
    }

    /// Sees to it early that the home, if there is one, is this person's own: before a prompt is waited for.
    ///
    /// # Errors
    ///
    /// Those of [`Home::own`].
    pub(crate) async fn check_home(&self) -> Result<(), CliError> {
        self.home.own_if_any().await?;
        Ok(())
    }

    /// The journal, which is made if it is missing, of this person's own home.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`], and those of [`Home::own`].
    pub(crate) async fn journal(&self) -> Result<Journal, CliError> {
        Ok(Journal::open(self.home.own().await?).await?)
    }

    /// The journal of this person's own home if there is one: looking for runs makes none.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`], and those of [`Home::own`].
    pub(crate) async fn journal_if_any(&self) -> Result<Option<Journal>, CliError> {
        let files = self.home.own_if_any().await?;
        match files.is_some_and(|files| may_be_there(&files.join("neuron.db"))) {
            true => self.journal().await.map(Some),
            false => Ok(None),
        }
    }

    /// The stored conversations, which are kept beside the journal, in this person's own home, unless a database is named.
    ///
    /// # Errors
    ///
    /// [`CliError::Sessions`], and those of [`Home::own`].
    pub(crate) async fn sessions(&self) -> Result<SessionManager, CliError> {
        match &self.sessions {
            Some(named) => sessions_at(named).await,
            None => sessions_at(&SessionManager::path_in(self.home.own().await?)).await,
        }
    }

    /// The same, to be looked at and no more, in whose home ever. Looking for sessions makes none.
    ///
    /// # Errors
    ///
    /// [`CliError::Sessions`].
    pub(crate) async fn sessions_to_look_at(&self) -> Result<SessionManager, CliError> {
        let path = match &self.sessions {
            Some(named) => Some(named.clone()),
            None => {
                let files = self.home.to_look_at().await?;
                files.map(|files| SessionManager::path_in(&files))
            }
        };
        match path.filter(|path| may_be_there(path)) {
            Some(path) => sessions_at(&path).await,
            None => Ok(SessionManager::new(InMemorySessionStorage::new())),
        }
    }

    /// Whether the sessions are this person's own, as far as is known without asking. Those that are named are a worker's, or
    /// lie anywhere.
    pub(crate) fn owns_sessions(&self) -> bool {
        self.sessions.is_none() && self.home.is_own()
    }

    /// The stored conversations, if there is a place of them: looking for those of a run makes none.
    ///
    /// # Errors
    ///
    /// As [`sessions`](Self::sessions).
    pub(crate) async fn sessions_if_any(&self) -> Result<Option<SessionManager>, CliError> {
        let files = self.home.own_if_any().await?;
        match files.is_some_and(|files| may_be_there(&SessionManager::path_in(files))) {
            true => self.sessions().await.map(Some),
            false => Ok(None),
        }
    }

    /// A run of any engine, whether there is such a run or not.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub(crate) async fn run_on(
        &self,
        engine: EngineName,
        run_id: &RunId,
    ) -> Result<RunHandle, CliError> {
        if engine == EngineName::Local {
            self.check_home().await?;
        }
        let client = engine::open(engine, &self.home).await?;
        Ok(RunHandle::new(client, run_id.clone()))
    }

    /// Whether a worker of local runs is there, which goes on with them. One that cannot be looked for is not.
    pub(crate) async fn has_worker(&self) -> bool {
        if !self.is_local() {
            return false;
        }
        let client = self.home.client_to_look().await;
        match client {
            Ok(client) => client.has_worker().await,
            Err(_) => false,
        }
    }

    /// What runs the agents, to start runs. Local ones begin in this person's own home, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// What keeps the engine from being reached, and those of [`Home::own`].
    pub(crate) async fn engine(&self) -> Result<Arc<dyn RunClient>, CliError> {
        if self.is_local() {
            self.home.own().await?;
        }
        self.engine_to_look_at().await
    }

    /// What runs the agents, to be looked at and no more.
    ///
    /// # Errors
    ///
    /// What keeps the engine from being reached.
    pub(crate) async fn engine_to_look_at(&self) -> Result<Arc<dyn RunClient>, CliError> {
        engine::open(self.global.engine, &self.home).await
    }

    /// A run of the engine, whether there is such a run or not, to be decided about, told something or ended. A local one is in
    /// this person's own home.
    ///
    /// # Errors
    ///
    /// What keeps the engine from being reached, and those of [`Home::own`].
    pub(crate) async fn run(&self, run_id: &RunId) -> Result<RunHandle, CliError> {
        self.run_on(self.global.engine, run_id).await
    }

    /// The same, to be looked at and no more.
    ///
    /// # Errors
    ///
    /// What keeps the engine from being reached.
    pub(crate) async fn run_to_look_at(&self, run_id: &RunId) -> Result<RunHandle, CliError> {
        let client = self.engine_to_look_at().await?;
        Ok(RunHandle::new(client, run_id.clone()))
    }

    /// Whether the runs are executed by processes of this machine's person.
    pub(crate) fn is_local(&self) -> bool {
        self.global.engine == EngineName::Local
    }

    /// What to type to go on with a run, or to go on watching one on an engine: with the agent file of this
    /// command, if it names one.
    pub(crate) fn resume_command(&self, run_id: &RunId) -> String {
        if self.global.engine != EngineName::Local {
            return self.typed(&format!("wait {run_id}"));
        }
        let mut command = self.typed(&format!("resume {run_id}"));
        if self.here {
            command.push_str(" --here");
        }
        let named = self.global.config.as_ref();
        let from_environment = variable("NEURON_CONFIG").map(PathBuf::from);
        if let Some(path) = named.filter(|path| Some(*path) != from_environment.as_ref()) {
            let path = path.to_string_lossy();
            command.push_str(&format!(" --config {}", shown::shell_word(&path)));
        }
        command
    }

    /// What to type for a command about a run of the same engine.
    pub(crate) fn typed(&self, words: &str) -> String {
        let engine = self.global.engine;
        let named_anyway = variable("NEURON_ENGINE");
        let named_anyway = named_anyway.unwrap_or_else(|| EngineName::Local.as_str().into());
        if engine.as_str() == named_anyway {
            format!("neuron {words}")
        } else {
            format!("neuron {words} --engine {engine}")
        }
    }
}

/// The agent file of a directory, or what there is without one.
fn in_directory(directory: &Path) -> Result<AgentFile, CliError> {
    let path = directory.join(AGENT_FILE);
    // One that cannot be looked at is there: reading it says what is wrong.
    match path.try_exists().unwrap_or(true) {
        true => Ok(AgentFile::load(path)?),
        false => Ok(AgentFile::builtin(&ProcessEnvironment)),
    }
}

/// What a path names from the current directory, from wherever it is looked for.
fn from_here(path: &Path) -> PathBuf {
    // An empty one names nothing.
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

async fn sessions_at(database: &Path) -> Result<SessionManager, CliError> {
    let storage = SqliteSessionStorage::open(database).await;
    Ok(SessionManager::new(storage.map_err(SessionError::from)?))
}

/// Whether a file is there. What cannot be looked at is: opening it says what is wrong.
fn may_be_there(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}
