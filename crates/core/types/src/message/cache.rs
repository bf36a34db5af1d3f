//! Prompt caching.

use serde::{Deserialize, Serialize};

/// Marks the end of a prefix that the provider may cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheControl {
    /// How long; the provider's default where `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<CacheTtl>,
}

/// How long a cached prefix lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheTtl {
    /// Five minutes after its last use.
    FiveMinutes,
    /// One hour after its last use.
    OneHour,
}
