//! A folder with an agent file.

use std::{fs, path::Path};

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
