//! The errors of benchmarks.

use std::error::Error;

/// Why a benchmark could not be made.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;
