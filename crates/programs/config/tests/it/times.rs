//! Times that agent files contain, and that nothing waits for.

use std::time::Duration;

pub(crate) const SECOND: Duration = Duration::from_secs(1); // Only compared, never waited for.
pub(crate) const MINUTE: Duration = Duration::from_secs(60); // Only compared, never waited for.
pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60); // Only compared, never waited for.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60); // Only compared, never waited for.
