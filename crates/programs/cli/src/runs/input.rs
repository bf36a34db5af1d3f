//! Texts that come from the command line or standard input.

use std::io::{self, IsTerminal as _, Read as _};

use crate::CliError;

/// The prompt: the argument, or standard input where it is `-` or missing. Standard input is not waited for
/// where it is a terminal and nobody asked for it.
///
/// # Errors
///
/// [`CliError::NoPrompt`] where it is empty, [`CliError::Stdin`].
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

/// A message: the argument, or standard input where it is `-`.
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

/// All of standard input, without the line break that ends it.
fn stdin() -> Result<String, CliError> {
    let mut text = String::new();
    io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(CliError::Stdin)?;
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}
