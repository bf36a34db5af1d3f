use std::time::Duration;

use serde::{Serialize, Serializer};

/// How long a model stays loaded after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepAlive {
    /// This long. Zero unloads it at once.
    For(Duration),
    /// Until the server ends or needs the room.
    Forever,
}

/// Seconds, negative for ever.
impl Serialize for KeepAlive {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::For(duration) if duration.subsec_nanos() == 0 => {
                serializer.serialize_u64(duration.as_secs())
            }
            Self::For(duration) => serializer.serialize_f64(duration.as_secs_f64()),
            Self::Forever => serializer.serialize_i64(-1),
        }
    }
}
