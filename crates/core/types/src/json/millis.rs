//! Durations as whole milliseconds, for serde's `with`, so that a journal reads the same in every language.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

fn whole(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Writes a duration as whole milliseconds.
///
/// # Errors
///
/// The serializer's.
pub fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(whole(*value))
}

/// Reads a duration of whole milliseconds.
///
/// # Errors
///
/// The deserializer's, where it is no such number.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

/// The same for an optional value: `null`, or no field.
pub mod option {
    use super::{Deserialize, Deserializer, Duration, Serializer, whole};

    /// Writes a duration as whole milliseconds, if there is one.
    ///
    /// # Errors
    ///
    /// The serializer's.
    pub fn serialize<S: Serializer>(
        value: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(duration) => serializer.serialize_some(&whole(*duration)),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a duration of whole milliseconds, if there is one.
    ///
    /// # Errors
    ///
    /// The deserializer's, where it is no such number.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}
