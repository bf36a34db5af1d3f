//! Where a run works.

use std::path::Path;

use neuron_executor::Executor;

/// Returns why a run does not continue here that works in this directory, if its tools would work in another one here. A run
/// without a directory works where its executor does.
///
/// Runs that the command submits name their directory, and share a home with those of a program.
pub(crate) fn elsewhere(run: Option<&Path>, executor: &Executor) -> Option<String> {
    let run = run?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let own = executor.cwd();
    (real(run) != real(own)).then(|| {
        format!(
            "it works in {}, and the agent's tools work in {} here: start the program there, or set the agent's `dir`",
            run.display(),
            own.display()
        )
    })
}
