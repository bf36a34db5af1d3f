//! An MCP server in an agent folder that does not end when it is asked to.

use std::{fs, path::PathBuf};

use neuron_harness::HOSTILE_SERVER;

use crate::AgentFolder;

/// A server that ignores SIGTERM and has a child that does so too. Whoever serves the folder starts it as `h`, and
/// finds the ids of both in the folder's file `theirs`. Its tool `h__fine` is one of the agent's.
#[derive(Debug)]
pub struct StubbornServer {
    theirs: PathBuf,
}

impl StubbornServer {
    /// Gives it to the agent of this folder.
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
        // Its ids are those of this machine then, and a command of the agent can end it.
        let text = text.replace("[agents.default]", "[agents.default]\nsandbox = \"off\"");
        let server = format!("[mcp.h]\ncommand = {command}\nsandbox = \"off\"");
        fs::write(&file, format!("{text}\n{server}\n")).unwrap();
        Self { theirs }
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
