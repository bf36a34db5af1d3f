//! `neuron trust`

use std::path::{Path, PathBuf};

use neuron_config::{AGENT_FILE, AgentFile};
use serde_json::json;

use crate::{
    CliError, Exit,
    home::HOME,
    questions::{home::Contents, trust},
    session::Session,
    terminal::shown,
};

/// Trusts the agent file in a directory as it is, and the home of runs there, and prints what they are trusted with.
pub(crate) async fn trust(session: &Session, folder: &Path) -> Result<Exit, CliError> {
    let found = folder.canonicalize().ok();
    let there = |name| {
        let path = found.as_ref().map(|folder| folder.join(name));
        path.filter(|path: &PathBuf| path.try_exists().unwrap_or(true))
    };
    let (path, home) = (there(AGENT_FILE), there(HOME));
    if path.is_none() && home.is_none() {
        let path = folder.to_owned();
        return Err(CliError::NothingToTrust { path });
    }
    // An invalid file leaves the home as it is.
    let file = path.map(AgentFile::load).transpose()?;
    // The file is not trusted either if the home cannot be.
    let home = match home {
        Some(path) => {
            let contents = Contents::of(&path).await?;
            contents.adopt(&path)?;
            Some((path, contents))
        }
        None => None,
    };
    if let Some(file) = &file {
        trust::record(file)?;
    }
    if session.output.is_json() {
        let path = file.as_ref().and_then(AgentFile::path);
        session.output.value(&json!({
            "path": path.map(Path::to_string_lossy),
            "digest": file.as_ref().map(AgentFile::digest),
            "trusted": true,
            "wants": file.as_ref().map(AgentFile::wants),
            "home": home.as_ref().map(|(path, contents)| contents.to_json(path)),
        }))?;
        return Ok(Exit::Done);
    }
    let mut lines = file.as_ref().map(lines_of).unwrap_or_default();
    if let Some((path, contents)) = &home {
        let path = path.to_string_lossy();
        let path = shown::line(&path);
        lines.push(format!("{path} is trusted as your own home of"));
        lines.extend(contents.lines());
    }
    session.output.text(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn lines_of(file: &AgentFile) -> Vec<String> {
    let path = file.path().unwrap_or(Path::new(AGENT_FILE));
    let path = path.to_string_lossy();
    let path = shown::line(&path);
    let wants = file.wants();
    let mut lines = vec![match wants.is_empty() {
        true => {
            format!("{path} is trusted as it is: it starts no program and sends no key elsewhere")
        }
        false => format!("{path} is trusted as it is, until it is changed. It may"),
    }];
    lines.extend(trust::lines(&wants));
    lines
}
