//! `neuron sessions`

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use neuron_local::{Session as Stored, SessionError, SessionRun, SessionSummary};
use neuron_types::{ContentBlock, Message, Role};
use serde_json::json;

use crate::{
    CliError, Exit,
    args::SessionsCommand,
    runs::stored,
    session::Session,
    terminal::{output::note, shown},
};

pub(crate) async fn sessions(
    session: &Session,
    command: SessionsCommand,
) -> Result<Exit, CliError> {
    match command {
        SessionsCommand::List => list(session).await,
        SessionsCommand::Show { name } => show(session, &name).await,
        SessionsCommand::Rm { names } => remove(session, &names).await,
        SessionsCommand::Release { name, force } => release(session, &name, force).await,
        SessionsCommand::Export { name } => export(session, &name).await,
        SessionsCommand::Import { file, name } => import(session, &file, name).await,
    }
}

async fn list(session: &Session) -> Result<Exit, CliError> {
    let stored = session.sessions_to_look_at().await?.list().await;
    let stored = stored.map_err(SessionError::from)?;
    if session.output.is_json() {
        session.output.value(&stored)?;
        return Ok(Exit::Done);
    }
    if stored.is_empty() {
        note("there is no session: `neuron run --session NAME` begins one");
        return Ok(Exit::Done);
    }
    let lines: Vec<String> = stored.iter().map(line).collect();
    session.output.text(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn line(stored: &SessionSummary) -> String {
    let messages = match stored.messages {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    };
    let saved = stored.updated_at.format("%Y-%m-%d %H:%M:%S");
    let mut line = format!("{}  {saved}  {messages}", stored.id);
    if let Some(run) = &stored.run {
        line.push_str(&format!("  with run {} on {}", run.run_id, run.engine));
    }
    line
}

async fn show(session: &Session, name: &str) -> Result<Exit, CliError> {
    let stored = load(session, name).await?;
    if session.output.is_json() {
        session.output.value(&stored)?;
        return Ok(Exit::Done);
    }
    let said = stored.messages.iter().flat_map(lines_of);
    let said: Vec<String> = said.collect();
    session.output.text(&said.join("\n"))?;
    Ok(Exit::Done)
}

/// Returns what was said in a message, and which calls were made.
fn lines_of(message: &Message) -> impl Iterator<Item = String> + '_ {
    let who = match message.role {
        Role::Assistant => "agent",
        _ => "user",
    };
    message.content.iter().filter_map(move |block| match block {
        ContentBlock::Text(text) => Some(format!("{who}: {text}")),
        ContentBlock::ToolUse { name, input, .. } => Some(format!("{who} calls {name} {input}")),
        ContentBlock::ToolResult(result) => {
            let state = if result.is_error {
                "failed"
            } else {
                "answered"
            };
            Some(format!("{} {state}", result.name))
        }
        _ => None,
    })
}

async fn remove(session: &Session, names: &[String]) -> Result<Exit, CliError> {
    let sessions = session.sessions().await?;
    for name in names {
        match stored::settle(session, &sessions, name).await {
            // The session is removed, so its lost turn does not matter.
            Err(CliError::Sessions(SessionError::Lost { by, .. })) => {
                let released = sessions.release(name, &by).await;
                released.map_err(SessionError::from)?;
            }
            settled => settled?,
        }
        sessions.remove(name).await?;
    }
    if session.output.is_json() {
        session.output.value(&json!({ "removed": names }))?;
        return Ok(Exit::Done);
    }
    for name in names {
        let line = format!("session {} is deleted", shown::line(name));
        session.output.text(&line)?;
    }
    Ok(Exit::Done)
}

/// Takes a session back from a run whose turn is lost, and reports it. `force` does that for a run in any state.
async fn release(session: &Session, name: &str, force: bool) -> Result<Exit, CliError> {
    let sessions = session.sessions().await?;
    let loaded = sessions.storage().load(name).await;
    let by = loaded.map_err(SessionError::from)?.run;
    let lost = match force {
        true => by,
        false => match stored::settle(session, &sessions, name).await {
            Err(CliError::Sessions(SessionError::Lost { by, .. })) => Some(*by),
            settled => {
                settled?;
                let now = sessions.open(name).await.map_err(SessionError::from)?;
                if let Some(by) = now.run {
                    let id = name.to_owned();
                    return Err(SessionError::Taken { id, by }.into());
                }
                None
            }
        },
    };
    if let Some(by) = &lost {
        let released = sessions.release(name, by).await;
        released.map_err(SessionError::from)?;
    }
    if session.output.is_json() {
        session
            .output
            .value(&json!({ "released": name, "lost": lost }))?;
        return Ok(Exit::Done);
    }
    let lost = lost.map(|by| {
        let SessionRun { run_id, engine, .. } = by;
        format!(", without the turn of run {run_id} on {engine}")
    });
    let line = format!("session {name} is free{}", lost.unwrap_or_default());
    session.output.text(&line)?;
    Ok(Exit::Done)
}

/// Writes the session as JSON, whatever format is asked for: it is meant to be read again.
async fn export(session: &Session, name: &str) -> Result<Exit, CliError> {
    let stored = load(session, name).await?;
    session.output.value(&stored)?;
    Ok(Exit::Done)
}

async fn import(session: &Session, file: &Path, name: Option<String>) -> Result<Exit, CliError> {
    let text = match file.to_str() {
        Some("-") => {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            read.map(|_| text)
        }
        _ => fs::read_to_string(file),
    };
    let path = file.to_owned();
    let text = text.map_err(|source| CliError::SessionFile { path, source })?;
    let mut stored: Stored = serde_json::from_str(&text).map_err(|source| CliError::NotJson {
        what: "the session",
        source,
    })?;
    if let Some(name) = name {
        stored.id = name;
    }
    let stored = session.sessions().await?.import(stored).await;
    let stored = stored.map_err(SessionError::from)?;
    if session.output.is_json() {
        session.output.value(&SessionSummary::from(&stored))?;
    } else {
        let line = format!(
            "session {} is imported, with {} messages",
            stored.id,
            stored.messages.len()
        );
        session.output.text(&line)?;
    }
    Ok(Exit::Done)
}

/// Returns the session, with the result of the run that has it if that run is over. An error in looking at the run is
/// reported.
async fn load(session: &Session, name: &str) -> Result<Stored, CliError> {
    let sessions = session.sessions_to_look_at().await?;
    // A session of another person is shown as it is.
    if session.owns_sessions()
        && let Err(error) = stored::settle(session, &sessions, name).await
    {
        note(&error.to_string());
    }
    let loaded = sessions.storage().load(name).await;
    Ok(loaded.map_err(SessionError::from)?)
}
