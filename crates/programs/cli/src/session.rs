//! The state that commands share: options, standard output, the agent file, the journal.

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
    /// The home of local runs, whatever the working directory is.
    home: Home,
    /// The agent file that is named, whatever the working directory is.
    config: Option<PathBuf>,
    /// Whether the run works here, and not in its own directory.
    here: bool,
    /// The key that signs decisions, if one is named.
    key_file: Option<PathBuf>,
    /// The database of sessions, if one is named; otherwise sessions are in the home directory.
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

    /// Returns the same session, for a run that works in the current directory and not in its own.
    pub(crate) fn here(&self) -> Self {
        Self {
            here: true,
            ..self.clone()
        }
    }

    /// Returns the same session, with these settings of signatures.
    pub(crate) fn signing(&self, args: &SignArgs) -> Self {
        Self {
            // The command may change its directory.
            key_file: args.sign.as_deref().map(from_here),
            ..self.clone()
        }
    }

    /// Returns the same session, with the sessions in this database, if one is named.
    pub(crate) fn with_sessions_at(self, sessions: Option<PathBuf>) -> Self {
        Self { sessions, ..self }
    }

    /// Returns the key that signs decisions, if one is named.
    pub(crate) const fn key_file(&self) -> Option<&PathBuf> {
        self.key_file.as_ref()
    }

    /// Returns the same session in another directory, to which the process changes. The paths of the command line stay
    /// the same.
    ///
    /// # Errors
    ///
    /// The system's error if the directory cannot be entered.
    pub(crate) fn at(&self, directory: &Path) -> io::Result<Self> {
        let config = self.config.as_deref().map(from_here);
        env::set_current_dir(directory)?;
        Ok(Self {
            config,
            ..self.clone()
        })
    }

    /// Returns the directory that the command works in.
    ///
    /// # Errors
    ///
    /// [`CliError::WorkingDirectory`].
    pub(crate) fn directory(&self) -> Result<PathBuf, CliError> {
        env::current_dir().map_err(CliError::WorkingDirectory)
    }

    /// Returns the agents: those of the agent file, or the defaults without one. A file that was only found is trusted
    /// by a person.
    ///
    /// # Errors
    ///
    /// The errors of [`agent_file_as_it_is`](Self::agent_file_as_it_is) and of [`trust::settle`].
    pub(crate) async fn agent_file(&self) -> Result<AgentFile, CliError> {
        let file = self.agent_file_as_it_is()?;
        trust::settle(&file).await?;
        Ok(file)
    }

    /// Returns the same file for reading, not for opening: the person may not trust its author.
    ///
    /// # Errors
    ///
    /// [`CliError::NoAgentFile`] if the named file does not exist, [`CliError::AgentFile`].
    pub(crate) fn agent_file_as_it_is(&self) -> Result<AgentFile, CliError> {
        let named = self.config.as_deref();
        Ok(AgentFile::find(named, &ProcessEnvironment)?)
    }

    /// Returns the approvers who have to sign decisions about a run, as far as they are known here: from the agent file
    /// that is named, otherwise from that of the directory where a local run works, otherwise from that of the working
    /// directory. A worker has its own.
    ///
    /// # Errors
    ///
    /// [`CliError::NoAgentFile`] and [`CliError::AgentFile`], if the file is named.
    pub(crate) fn approvers(&self, status: &RunStatus) -> Result<Approvers, CliError> {
        let directory = status.directory.as_deref().filter(|_| self.is_local());
        match self.agent_file_of(directory.map(Path::new)) {
            Ok(file) => Ok(file.approvers().clone()),
            Err(error) if self.config.is_some() => Err(error),
            // The file was only found, and may not concern this run.
            Err(error) => {
                note(&format!("the approvers who must sign are unknown: {error}"));
                Ok(Approvers::default())
            }
        }
    }

    /// Returns the agent file of a run, for reading and not for opening: the one that is named, otherwise that of the
    /// directory where the run works, otherwise that of the working directory.
    ///
    /// # Errors
    ///
    /// The errors of [`agent_file_as_it_is`](Self::agent_file_as_it_is).
    pub(crate) fn agent_file_of(&self, directory: Option<&Path>) -> Result<AgentFile, CliError> {
        match (&self.config, directory) {
            (None, Some(directory)) if !self.here => in_directory(directory),
            _ => self.agent_file_as_it_is(),
        }
    }

    /// Returns the client of local runs, for reading only.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`].
    pub(crate) async fn local_to_look_at(&self) -> Result<LocalClient, CliError> {
        self.home.client_to_look().await
    }

    /// Returns the options with which the agent file is opened: its agents work in the working directory.
    ///
    /// # Errors
    ///
    /// [`CliError::WorkingDirectory`].
    pub(crate) fn open_options(&self) -> Result<OpenOptions, CliError> {
        let options = OpenOptions::new(self.directory()?);
        Ok(options.mcp_notices(|notice| note(&notice.to_string())))
    }

    /// Returns the directory of the files of the home as this person's own. It is made if it is missing.
    ///
    /// # Errors
    ///
    /// The errors of [`Home::own`].
    pub(crate) async fn home(&self) -> Result<&Path, CliError> {
        self.home.own().await
    }

    /// Checks early that the home, if it exists, is this person's own: before the command waits for a prompt.
    ///
    /// # Errors
    ///
    /// The errors of [`Home::own`].
    pub(crate) async fn check_home(&self) -> Result<(), CliError> {
        self.home.own_if_any().await?;
        Ok(())
    }

    /// Returns the journal of this person's own home. It is made if it is missing.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`], and the errors of [`Home::own`].
    pub(crate) async fn journal(&self) -> Result<Journal, CliError> {
        Ok(Journal::open(self.home.own().await?).await?)
    }

    /// Returns the journal of this person's own home if it exists: looking for runs creates none.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`], and the errors of [`Home::own`].
    pub(crate) async fn journal_if_any(&self) -> Result<Option<Journal>, CliError> {
        let files = self.home.own_if_any().await?;
        match files.is_some_and(|files| may_be_there(&files.join("neuron.db"))) {
            true => self.journal().await.map(Some),
            false => Ok(None),
        }
    }

    /// Returns the stored conversations. They are beside the journal, in this person's own home, unless a database is
    /// named.
    ///
    /// # Errors
    ///
    /// [`CliError::Sessions`], and the errors of [`Home::own`].
    pub(crate) async fn sessions(&self) -> Result<SessionManager, CliError> {
        match &self.sessions {
            Some(named) => sessions_at(named).await,
            None => sessions_at(&SessionManager::path_in(self.home.own().await?)).await,
        }
    }

    /// Returns the same for reading only, no matter whose home it is. Looking for sessions creates none.
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

    /// Returns whether the sessions are this person's own, as far as is known without asking. A named database may be a
    /// worker's, or of any origin.
    pub(crate) fn owns_sessions(&self) -> bool {
        self.sessions.is_none() && self.home.is_own()
    }

    /// Returns the stored conversations, if there is a place for them: looking for those of a run creates none.
    ///
    /// # Errors
    ///
    /// The errors of [`sessions`](Self::sessions).
    pub(crate) async fn sessions_if_any(&self) -> Result<Option<SessionManager>, CliError> {
        let files = self.home.own_if_any().await?;
        match files.is_some_and(|files| may_be_there(&SessionManager::path_in(files))) {
            true => self.sessions().await.map(Some),
            false => Ok(None),
        }
    }

    /// Returns a run of any engine. It need not exist.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
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

    /// Returns whether a worker of local runs exists that continues them. An error in looking for one counts as no.
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

    /// Returns the client of the engine, to start runs. Local runs begin in this person's own home, which is made if it
    /// is missing.
    ///
    /// # Errors
    ///
    /// The engine cannot be reached, and the errors of [`Home::own`].
    pub(crate) async fn engine(&self) -> Result<Arc<dyn RunClient>, CliError> {
        if self.is_local() {
            self.home.own().await?;
        }
        self.engine_to_look_at().await
    }

    /// Returns the client of the engine, for reading only.
    ///
    /// # Errors
    ///
    /// The engine cannot be reached.
    pub(crate) async fn engine_to_look_at(&self) -> Result<Arc<dyn RunClient>, CliError> {
        engine::open(self.global.engine, &self.home).await
    }

    /// Returns a run of the engine, which need not exist, for decisions, messages or its end. A local run is in this
    /// person's own home.
    ///
    /// # Errors
    ///
    /// The engine cannot be reached, and the errors of [`Home::own`].
    pub(crate) async fn run(&self, run_id: &RunId) -> Result<RunHandle, CliError> {
        self.run_on(self.global.engine, run_id).await
    }

    /// Returns the same run, for reading only.
    ///
    /// # Errors
    ///
    /// The engine cannot be reached.
    pub(crate) async fn run_to_look_at(&self, run_id: &RunId) -> Result<RunHandle, CliError> {
        let client = self.engine_to_look_at().await?;
        Ok(RunHandle::new(client, run_id.clone()))
    }

    /// Returns whether the runs are executed by processes of this machine's user.
    pub(crate) fn is_local(&self) -> bool {
        self.global.engine == EngineName::Local
    }

    /// Returns the command that continues a run, or that continues to watch one on an engine: with the agent file of
    /// this command, if it names one.
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

    /// Returns the text of a command about a run of the same engine.
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

/// Returns the agent file of a directory, or the defaults without one.
fn in_directory(directory: &Path) -> Result<AgentFile, CliError> {
    let path = directory.join(AGENT_FILE);
    // An inaccessible file counts as existing: reading it reports the error.
    match path.try_exists().unwrap_or(true) {
        true => Ok(AgentFile::load(path)?),
        false => Ok(AgentFile::builtin(&ProcessEnvironment)),
    }
}

/// Returns the absolute path of a path from the current directory.
fn from_here(path: &Path) -> PathBuf {
    // An empty path names nothing.
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

async fn sessions_at(database: &Path) -> Result<SessionManager, CliError> {
    let storage = SqliteSessionStorage::open(database).await;
    Ok(SessionManager::new(storage.map_err(SessionError::from)?))
}

/// Returns whether a file exists. An inaccessible one counts as existing: opening it reports the error.
fn may_be_there(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}
