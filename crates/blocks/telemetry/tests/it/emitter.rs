//! A process that emits: variables are those of a whole process.

use std::{
    env,
    process::{Command, Stdio},
};

/// What it printed, and whether it ended well.
#[derive(Debug)]
pub(crate) struct Emitted {
    pub(crate) ended_well: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs it with these variables and no others of OpenTelemetry.
pub(crate) fn emit(arguments: &[&str], variables: &[(&str, &str)]) -> Emitted {
    let test = env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    let mut command = Command::new(folder.join("examples/emit_telemetry"));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy().to_lowercase();
        if text.starts_with("otel_") || text.ends_with("_proxy") {
            command.env_remove(name);
        }
    }
    let command = command
        .args(arguments)
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Emitted {
        ended_well: output.status.success(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}
