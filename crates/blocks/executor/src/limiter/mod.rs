//! Keeping the requests for one key within its rate.

pub(crate) mod admission;
pub(crate) mod charges;
pub(crate) mod estimate;
pub(crate) mod line;
pub(crate) mod pacing;
pub(crate) mod rate_limiter;
pub(crate) mod rates;
pub(crate) mod shared;
pub(crate) mod turned_away;
pub(crate) mod wait;
