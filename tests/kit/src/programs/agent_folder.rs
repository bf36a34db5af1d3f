//! A folder with an agent file, and the programs that are run in it.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
};

use neuron_config::AgentFile;
use neuron_types::{Message, RunInput};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with an agent file whose agent `default` has the tool `bash` and answers from a script.
#[derive(Debug)]
pub struct AgentFolder {
    folder: TempDir,
}

impl AgentFolder {
    /// The agent follows these turns. `lines` are more lines for it in the file.
    ///
    /// # Panics
    ///
    /// If the folder cannot be written.
    #[must_use]
    pub fn new(turns: &Value, lines: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let script = json!({ "turns": turns }).to_string();
        fs::write(folder.path().join("script.json"), script).unwrap();
        let file = format!(
            "[providers.script]\nkind = \"script\"\nfile = \"script.json\"\n\n\
             [agents.default]\nmodel = \"script/test\"\ntools = [\"bash\"]\n{lines}\n"
        );
        fs::write(folder.path().join("neuron.toml"), file).unwrap();
        Self { folder }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The input of a run of its agent.
    ///
    /// # Panics
    ///
    /// If the file was made unreadable.
    #[must_use]
    pub fn input(&self) -> RunInput {
        let file = AgentFile::load(self.path().join("neuron.toml")).unwrap();
        let agent = file.definition("default").unwrap().clone();
        RunInput::new(agent, Message::user("Go."))
    }

    /// What the agent's calls have written to the file `effects` so far.
    #[must_use]
    pub fn effects(&self) -> String {
        fs::read_to_string(self.path().join("effects")).unwrap_or_default()
    }
}

/// A program in a folder, without input and with an environment that names no engine, agent file or log.
#[must_use]
pub fn program_in(folder: &Path, program: &str) -> Command {
    const OURS: [&str; 3] = ["NEURON_", "TEMPORAL_", "RESTATE_"];
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command.env_remove("RUST_LOG");
    for (name, _) in env::vars_os() {
        if OURS
            .iter()
            .any(|own| name.to_string_lossy().starts_with(own))
        {
            command.env_remove(name);
        }
    }
    command
}

/// A program under way that says a line when it serves. Dropping it kills it.
#[derive(Debug)]
pub struct Program {
    child: Child,
    /// The line.
    pub line: String,
}

impl Program {
    /// Starts it, and waits for its line.
    ///
    /// # Errors
    ///
    /// What keeps it from being started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        Ok(Self { child, line })
    }

    /// Kills it with `SIGKILL`, and returns when it is gone.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop with `SIGTERM`, and waits until it has.
    ///
    /// # Panics
    ///
    /// If that fails.
    pub async fn stop(mut self) -> ExitStatus {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(sent.success());
        let waiting = tokio::task::spawn_blocking(move || self.child.wait().unwrap());
        waiting.await.unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
