//! An MCP server in an agent folder that does not end when it is asked to.

use std::{fs, path::PathBuf};

use neuron_harness::HOSTILE_SERVER;

use crate::AgentFolder;

/// A server that ignores SIGTERM and has a child that ignores it, too. The worker that serves the folder starts the
/// server as `h`. The folder's file `theirs` contains the ids of both. Its tool `h__fine` is one of the agent's.
#[derive(Debug)]
pub struct StubbornServer {
    theirs: PathBuf,
}

impl StubbornServer {
    /// Adds the server to the agent of this folder.
    ///
    /// # Panics
    ///
    /// If the folder cannot be written.
    #[must_use]
    pub fn of(folder: &AgentFolder) -> Self {
        let file = folder.path().join("neuron.toml");
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replace("[\"bash\"]", "[\"bash\", \"mcp:h\"]");
        let theirs = folder.path().join("theirs");
        let command = format!("[\"node\", {HOSTILE_SERVER:?}, \"stubborn\", {theirs:?}]");
        // Without a sandbox its ids are those of this machine, and a command of the agent can end it.
        let text = text.replace("[agents.default]", "[agents.default]\nsandbox = \"off\"");
        let server = format!("[mcp.h]\ncommand = {command}\nsandbox = \"off\"");
        fs::write(&file, format!("{text}\n{server}\n")).unwrap();
        Self { theirs }
    }

    /// Returns the processes of the newest server that was started for the folder.
    ///
    /// # Panics
    ///
    /// If none was started.
    #[must_use]
    pub fn ids(&self) -> Vec<u32> {
        let ids = fs::read_to_string(&self.theirs).unwrap();
        ids.split(' ').map(|id| id.parse().unwrap()).collect()
    }
}
