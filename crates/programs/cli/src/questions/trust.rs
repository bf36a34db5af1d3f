//! Asks once whether to trust an agent file that was found and not named.

use std::{io, path::Path};

use neuron_config::{
    AgentFile, AgentFileError, ProcessEnvironment, TrustStore, Wants, check_trust,
};

use crate::{
    CliError,
    terminal::keyboard::can_ask,
    terminal::line_reader::{Line, LineReader},
    terminal::output::note,
    terminal::shown,
};

const QUESTION: &str = "Do you trust it? [y]es, [n]o: ";

/// Makes sure that a file may be used. In a terminal the person is asked, and the answer is recorded.
///
/// # Errors
///
/// [`CliError::Untrusted`] if the person does not trust it, [`CliError::Terminal`], and the errors of [`record`].
pub(crate) async fn settle(file: &AgentFile) -> Result<(), CliError> {
    let error = match check_trust(file, &ProcessEnvironment) {
        Ok(()) => return Ok(()),
        Err(error) => error,
    };
    if let AgentFileError::Untrusted { path, wants } = &error
        && can_ask()
    {
        introduce(path, wants);
        if asked().await.map_err(CliError::Terminal)? {
            return record(file);
        }
    }
    Err(error.into())
}

/// Records that a person trusts a file as it is.
///
/// # Errors
///
/// [`CliError::NoTrustStore`] and [`CliError::TrustStore`].
pub(crate) fn record(file: &AgentFile) -> Result<(), CliError> {
    let store = TrustStore::find(&ProcessEnvironment).ok_or(CliError::NoTrustStore)?;
    store.trust(file).map_err(CliError::TrustStore)
}

/// Returns what a file wants, a line each, as a terminal may show it.
pub(crate) fn lines(wants: &Wants) -> Vec<String> {
    let lines = wants.lines();
    let lines = lines.iter().map(|line| format!("  {}", shown::line(line)));
    lines.collect()
}

fn introduce(path: &Path, wants: &Wants) {
    let path = path.to_string_lossy();
    note(&format!(
        "the agent file {} was found here, and its current content is not trusted. It would",
        shown::line(&path)
    ));
    lines(wants).iter().for_each(|line| note(line));
}

/// Returns whether the person answers yes.
pub(super) async fn asked() -> io::Result<bool> {
    let (reader, _question) = LineReader::new().await?;
    let asking = tokio::task::spawn_blocking(move || -> io::Result<bool> {
        reader.forget_typed();
        loop {
            match reader.answer(QUESTION)? {
                Line::Text(text) => match text.trim() {
                    "y" | "yes" => return Ok(true),
                    "n" | "no" => return Ok(false),
                    _ => {}
                },
                Line::Ended | Line::TakenBack => return Ok(false),
            }
        }
    });
    asking.await.map_err(io::Error::other)?
}
