//! An MCP server in an agent folder that does not end when it is asked to.

use std::{fs, path::PathBuf};

use neuron_config::{AgentFile, OpenOptions};
use neuron_harness::HOSTILE_SERVER;
use neuron_types::{Message, RunInput};

use crate::AgentFolder;

/// A server that ignores SIGTERM and has a child that does so too. Whoever serves the folder starts it as `h`, and
/// finds the ids of both in the folder's file `theirs`.
#[derive(Debug)]
pub struct StubbornServer {
    /// The input of a run of the folder's agent, which has the server's tools: `h__fine` is one of them.
    pub input: RunInput,
    theirs: PathBuf,
}

impl StubbornServer {
    /// Gives it to the agent of this folder. Its tools are discovered here, by one of its own that has ended
    /// when this returns.
    ///
    /// # Panics
    ///
    /// If the folder cannot be written or the server does not start.
    pub async fn of(folder: &AgentFolder) -> Self {
        let file = folder.path().join("neuron.toml");
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replace("[\"bash\"]", "[\"bash\", \"mcp:h\"]");
        let start_as = |name: &str| {
            let ids = folder.path().join(name);
            let command = format!("[\"node\", {HOSTILE_SERVER:?}, \"stubborn\", {ids:?}]");
            fs::write(&file, format!("{text}\n[mcp.h]\ncommand = {command}\n")).unwrap();
            ids
        };
        start_as("mine");
        let agents = AgentFile::load(&file).unwrap();
        let agents = agents.open(OpenOptions::new(folder.path())).await.unwrap();
        agents.stop().await;
        let agent = agents.agent("default").unwrap();
        Self {
            input: RunInput::new(agent, Message::user("Go.")),
            theirs: start_as("theirs"),
        }
    }

    /// The processes of the newest one that was started for the folder.
    ///
    /// # Panics
    ///
    /// If none was.
    #[must_use]
    pub fn ids(&self) -> Vec<u32> {
        let ids = fs::read_to_string(&self.theirs).unwrap();
        ids.split(' ').map(|id| id.parse().unwrap()).collect()
    }
}
