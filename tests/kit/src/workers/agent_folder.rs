//! A folder with an agent file.

use std::{fs, path::Path};

use neuron_config::AgentFile;
use neuron_harness::FakeModel;
use neuron_types::{AgentSpec, Message, RunRequest};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with an agent file whose agent `default` has the tool `bash` and answers from a script, or asks a model.
#[derive(Debug)]
pub struct AgentFolder {
    folder: TempDir,
}

impl AgentFolder {
    /// Returns a folder whose agent follows these turns. `lines` are more lines for it in the file.
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

    /// Returns a folder whose agent asks this model.
    ///
    /// # Panics
    ///
    /// If the folder cannot be written.
    #[must_use]
    pub fn asking(model: &FakeModel) -> Self {
        let folder = TempDir::new().unwrap();
        let file = model.agent_file("tools = [\"bash\"]\n");
        fs::write(folder.path().join("neuron.toml"), file).unwrap();
        Self { folder }
    }

    /// Returns a command that notes `begun` among the [effects](Self::effects), and `ended` once
    /// [`release`](Self::release) was called.
    #[must_use]
    pub fn held_command() -> &'static str {
        "echo begun >> effects; while [ ! -e go ]; do sleep 0.02; done; echo ended >> effects" // Between two looks.
    }

    /// Lets the [held commands](Self::held_command) end.
    ///
    /// # Panics
    ///
    /// If the folder cannot be written.
    pub fn release(&self) {
        fs::write(self.path().join("go"), "").unwrap();
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Changes the file, for the workers that are started from now on.
    ///
    /// # Panics
    ///
    /// If the file does not contain the text, or cannot be written.
    pub fn change(&self, text: &str, new: &str) {
        let path = self.path().join("neuron.toml");
        let file = fs::read_to_string(&path).unwrap();
        assert!(file.contains(text), "{text} is not in {file}");
        fs::write(path, file.replace(text, new)).unwrap();
    }

    /// Returns the definition of its agent, as the file has it.
    ///
    /// # Panics
    ///
    /// If the file cannot be read any more.
    #[must_use]
    pub fn definition(&self) -> AgentSpec {
        let file = AgentFile::load(self.path().join("neuron.toml")).unwrap();
        file.definition("default").unwrap().clone()
    }

    /// Returns the input of a run of its agent.
    #[must_use]
    pub fn request() -> RunRequest {
        RunRequest::new("default", Message::user("Go."))
    }

    /// Returns what the agent's calls have written to the file `effects` so far.
    #[must_use]
    pub fn effects(&self) -> String {
        fs::read_to_string(self.path().join("effects")).unwrap_or_default()
    }
}

impl Drop for AgentFolder {
    fn drop(&mut self) {
        // A held command ends even if its worker was killed.
        fs::write(self.path().join("go"), "").ok();
    }
}
