//! The workers of the engines, as a user starts them.

use std::{env, path::PathBuf};

use neuron_harness::{Running, World, eventually};

/// Returns the program of this name, which is beside the command unless a variable names another one.
pub(crate) fn worker(name: &str, world: &World) -> PathBuf {
    let variable = name.to_uppercase().replace('-', "_");
    let neuron = PathBuf::from(world.command::<&str>(&[]).get_program());
    let program = env::var_os(variable).map_or_else(|| neuron.with_file_name(name), PathBuf::from);
    assert!(
        program.exists(),
        "there is no {}: run the tests with `cargo xtask test`, or `cargo build -p {name}` first",
        program.display()
    );
    program
}

/// Waits until a worker has printed this, which shows that it serves.
pub(crate) fn serves(worker: &mut Running, ready: &str) {
    eventually("a worker that serves", || {
        let said = worker.stdout() + &worker.stderr();
        assert!(worker.is_running(), "the worker has ended: {said}");
        said.contains(ready).then_some(())
    });
}
