//! The Python that programs of others are installed for.

use std::{env, path::PathBuf};

/// Returns the Python that the clients and servers of others which tests use are installed for.
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
