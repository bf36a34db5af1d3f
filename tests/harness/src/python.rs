//! The Python with the installed programs of other projects.

use std::{env, path::PathBuf};

/// Returns the Python with the other projects' clients and servers that tests use.
///
/// # Panics
///
/// If `NEURON_PYTHON` is not set.
#[must_use]
pub fn python() -> PathBuf {
    let python = env::var_os("NEURON_PYTHON").expect(
        "NEURON_PYTHON is not set: run the tests with `cargo xtask test`, or set it to the path that \
         `cargo xtask engines clients` prints",
    );
    python.into()
}
