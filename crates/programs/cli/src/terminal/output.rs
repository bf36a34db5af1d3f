//! Standard output: the answer, or one JSON value, and nothing else.

use std::io::{self, IsTerminal as _, Write as _};

use neuron_types::shown_json;
use serde::Serialize;
use serde_json::Value;

use crate::{CliError, terminal::shown};

/// Writes to standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    terminal: bool,
}

impl Output {
    /// Returns an output that writes JSON if `json`.
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            terminal: io::stdout().is_terminal(),
        }
    }

    /// Returns whether the output is for programs.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Returns whether a person reads the answer here while it arrives.
    pub(crate) const fn is_watched(self) -> bool {
        self.terminal && !self.json
    }

    /// Writes a value on one line. Control characters are escaped in it, and it is the same JSON.
    ///
    /// # Errors
    ///
    /// [`CliError::Stdout`].
    pub(crate) fn value(self, value: &impl Serialize) -> Result<(), CliError> {
        let line = serde_json::to_string(value)
            .map_err(io::Error::from)
            .map_err(CliError::Stdout)?;
        let mut line = shown_json(line);
        line.push('\n');
        write(&line)
    }

    /// Writes a value with the counts of runs, as [`Output::value`] does. Tokens that were used and that no provider
    /// reported are `null`.
    ///
    /// # Errors
    ///
    /// [`CliError::Stdout`].
    pub(crate) fn counts(self, value: &impl Serialize) -> Result<(), CliError> {
        let json = serde_json::to_value(value).map_err(io::Error::from);
        let mut json = json.map_err(CliError::Stdout)?;
        match remove_unknown(&mut json) {
            true => self.value(&json),
            false => self.value(value),
        }
    }

    /// Writes a text and a line break. For a terminal, control characters are escaped; files and pipes get the text as
    /// it is.
    ///
    /// # Errors
    ///
    /// [`CliError::Stdout`].
    pub(crate) fn text(self, text: &str) -> Result<(), CliError> {
        let shown = if self.terminal {
            shown::text(text)
        } else {
            text.into()
        };
        let end = if shown.ends_with('\n') { "" } else { "\n" };
        write(&format!("{shown}{end}"))
    }
}

/// Removes the counts of calls whose prompt has no tokens: no provider reported them. Returns whether any were removed.
fn remove_unknown(json: &mut Value) -> bool {
    if let Value::Array(list) = json {
        return list
            .iter_mut()
            .fold(false, |any, it| remove_unknown(it) | any);
    }
    let Value::Object(fields) = json else {
        return false;
    };
    let mut calls = ["turn", "turns", "requests"].into_iter();
    let has_calls = calls.any(|name| fields.get(name).is_some_and(|count| *count != 0));
    let mut any = false;
    if let Some(Value::Object(usage)) = fields.get_mut("usage")
        && has_calls
        && usage.get("input_tokens").is_some_and(|count| *count == 0)
    {
        usage.insert("input_tokens".to_owned(), Value::Null);
        usage.insert("output_tokens".to_owned(), Value::Null);
        any = true;
    }
    for part in ["groups", "total", "tree", "tree_total"] {
        any |= fields.get_mut(part).is_some_and(remove_unknown);
    }
    any
}

fn write(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(CliError::Stdout)
}

/// Writes a piece of an answer to a terminal. Nothing can be done if that fails.
pub(crate) fn piece(text: &str) {
    write(&shown::text(text)).ok();
}

/// Writes a line to standard error. Nothing can be done if that fails.
pub(crate) fn note(line: &str) {
    // Not `eprintln!`, which panics when the reader is gone.
    writeln!(io::stderr().lock(), "{}", shown::text(line)).ok();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_that_no_provider_reported_are_null() {
        let sum = |turns, input, output| json!({"turns": turns, "usage": {"input_tokens": input, "output_tokens": output}});
        let unknown = json!({"turns": 1, "usage": {"input_tokens": null, "output_tokens": null}});
        for (mut written, expected) in [
            (sum(1, 0, 0), unknown.clone()),
            (sum(1, 2, 0), sum(1, 2, 0)),
            (sum(0, 0, 0), sum(0, 0, 0)),
            (
                json!([sum(1, 0, 0), sum(1, 0, 0)]),
                json!([unknown, unknown]),
            ),
            (
                json!({"groups": [sum(1, 0, 0)], "total": sum(1, 3, 1)}),
                json!({"groups": [unknown], "total": sum(1, 3, 1)}),
            ),
            (
                json!({"output": {"turns": 1, "usage": {"input_tokens": 0}}}),
                json!({"output": {"turns": 1, "usage": {"input_tokens": 0}}}),
            ),
        ] {
            let before = written.clone();
            assert_eq!(remove_unknown(&mut written), before != expected);
            assert_eq!(written, expected);
        }
    }
}
