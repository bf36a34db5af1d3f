//! `neuron trust`

use std::path::Path;

use neuron_config::{AGENT_FILE, AgentFile};
use serde_json::json;

use crate::{CliError, Exit, questions::trust, session::Session, terminal::shown};

/// Trusts the agent file in a directory as it is, and shows what with.
pub(crate) fn trust(session: &Session, folder: &Path) -> Result<Exit, CliError> {
    let found = folder.canonicalize().map(|folder| folder.join(AGENT_FILE));
    let Some(path) = found.ok().filter(|path| path.try_exists().unwrap_or(true)) else {
        let path = folder.to_owned();
        return Err(CliError::NothingToTrust { path });
    };
    let file = AgentFile::load(&path)?;
    let wants = file.wants();
    trust::record(&file)?;
    if session.output.is_json() {
        let value = json!({
            "path": path.to_string_lossy(),
            "digest": file.digest(),
            "trusted": true,
            "wants": wants,
        });
        session.output.value(&value)?;
        return Ok(Exit::Done);
    }
    let path = path.to_string_lossy();
    let path = shown::line(&path);
    let mut lines = vec![match wants.is_empty() {
        true => {
            format!("{path} is trusted as it is: it starts no program and sends no key elsewhere")
        }
        false => format!("{path} is trusted as it is, until it is changed. It may"),
    }];
    lines.extend(trust::lines(&wants));
    session.output.text(&lines.join("\n"))?;
    Ok(Exit::Done)
}
