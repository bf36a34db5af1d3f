//! What keeps a benchmark from being made.

use std::error::Error;

/// Why a benchmark could not be made.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;
