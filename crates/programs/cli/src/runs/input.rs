//! Texts from the command line or standard input.

use std::io::{self, IsTerminal as _, Read as _};

use crate::CliError;

/// Returns the prompt: the argument, or standard input if it is `-` or missing. Standard input is not read if it is a
/// terminal and was not asked for.
///
/// # Errors
///
/// [`CliError::NoPrompt`] if it is empty, [`CliError::Stdin`].
pub(crate) fn prompt(argument: Option<String>) -> Result<String, CliError> {
    let text = match argument {
        Some(text) if text != "-" => text,
        None if io::stdin().is_terminal() => return Err(CliError::NoPrompt),
        _ => stdin()?,
    };
    if text.trim().is_empty() {
        return Err(CliError::NoPrompt);
    }
    Ok(text)
}

/// Returns a message: the argument, or standard input if it is `-`.
///
/// # Errors
///
/// [`CliError::EmptyMessage`], [`CliError::Stdin`].
pub(crate) fn message(argument: String) -> Result<String, CliError> {
    let text = if argument == "-" { stdin()? } else { argument };
    if text.trim().is_empty() {
        return Err(CliError::EmptyMessage);
    }
    Ok(text)
}

/// Returns all of standard input, without the line break that ends it.
fn stdin() -> Result<String, CliError> {
    let mut text = String::new();
    io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(CliError::Stdin)?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}
