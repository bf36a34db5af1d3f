use neuron_types::{CacheControl, CacheTtl};
use serde::Serialize;
use serde_json::Value;

const HOUR: &str = "1h";

/// Ends a cached prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Marker {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl Marker {
    /// Makes a marker with this life; the API's default where `None`.
    pub(crate) fn new(ttl: Option<CacheTtl>) -> Self {
        Self {
            kind: "ephemeral",
            ttl: ttl.map(|ttl| match ttl {
                CacheTtl::FiveMinutes => "5m",
                CacheTtl::OneHour => HOUR,
            }),
        }
    }

    /// Returns the marker that something in the API's own words brought.
    pub(crate) fn of_native(block: &Value) -> Option<Self> {
        let control = block.get("cache_control").filter(|own| !own.is_null())?;
        let hour = control.get("ttl").and_then(Value::as_str) == Some(HOUR);
        Some(Self::new(hour.then_some(CacheTtl::OneHour)))
    }

    pub(crate) fn is_short(self) -> bool {
        self.ttl != Some(HOUR)
    }
}

impl From<&CacheControl> for Marker {
    fn from(control: &CacheControl) -> Self {
        Self::new(control.ttl)
    }
}
