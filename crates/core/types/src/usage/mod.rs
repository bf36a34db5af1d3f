//! What runs use, and how much they may use.

pub(crate) mod amount;
pub(crate) mod extension;
pub(crate) mod held;
pub(crate) mod limit_overrides;
pub(crate) mod limits;
pub(crate) mod model_rate;
pub(crate) mod pooled;
pub(crate) mod spent;
pub(crate) mod token_usage;
