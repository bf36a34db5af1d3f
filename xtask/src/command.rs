//! Running other programs.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;

/// Runs a command that writes to the user's terminal.
///
/// # Errors
///
/// Returns an error if the command cannot be started or fails.
pub(crate) fn show(command: &mut Command) -> Result<(), Error> {
    let line = line(command);
    eprintln!("$ {line}");
    let status = command.status().map_err(|source| Error::Start {
        command: line.clone(),
        source,
    })?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Failed {
            command: line,
            status,
        })
    }
}

/// Runs a command whose standard output is read here, and whose standard error is shown.
///
/// # Errors
///
/// Returns an error if the command cannot be started or fails.
pub(crate) fn read(command: &mut Command) -> Result<String, Error> {
    let line = line(command);
    eprintln!("$ {line}");
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Error::Start {
            command: line.clone(),
            source,
        })?;
    if !output.status.success() {
        return Err(Error::Failed {
            command: line,
            status: output.status,
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command without showing anything, unless it fails.
///
/// # Errors
///
/// Returns an error, with everything that the command printed, if it cannot be started or fails.
pub(crate) fn quiet(command: &mut Command) -> Result<(), Error> {
    let line = line(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| Error::Start {
            command: line.clone(),
            source,
        })?;
    if output.status.success() {
        return Ok(());
    }
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Err(Error::FailedQuietly {
        command: line,
        status: output.status,
        output: text.trim_end().to_owned(),
    })
}

/// Returns what a command prints, or nothing if it cannot be started or fails.
pub(crate) fn ask(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns a command as a person would type it, the program by its file name.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![
        program
            .file_name()
            .unwrap_or(program.as_os_str())
            .to_string_lossy(),
    ];
    words.extend(command.get_args().map(|word| word.to_string_lossy()));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_a_command_by_its_file_name() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command.args(["fmt", "--check"]);

        assert_eq!(line(&command), "cargo fmt --check");
    }

    #[test]
    fn a_quiet_failure_carries_what_was_printed() {
        let error = quiet(Command::new("cargo").arg("no-such-chore"));

        let message = error
            .expect_err("cargo does not know the chore")
            .to_string();
        assert!(message.contains("no-such-chore"), "{message}");
    }

    #[test]
    fn nothing_is_answered_by_a_program_that_is_missing() {
        assert_eq!(ask(&mut Command::new("no-such-program-anywhere")), None);
    }
}
