//! The seed of the tests.

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::{BuildHasher as _, Hasher as _};

use crate::error::Error;

/// The variable with the seed of everything that tests draw.
pub(super) const SEED: &str = "NEURON_TEST_SEED";

/// Returns the seed that was asked for.
pub(super) fn asked() -> Result<Option<u64>, Error> {
    let Ok(said) = env::var(SEED) else {
        return Ok(None);
    };
    let seed = said.trim().parse();
    seed.map(Some).map_err(|_| Error::Seed { said })
}

/// Draws a seed. It is short enough to be typed.
pub(super) fn draw() -> u64 {
    // The keys of hash maps are the only randomness of the standard library.
    RandomState::new().build_hasher().finish() % 1_000_000_000
}
