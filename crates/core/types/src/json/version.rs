//! Which form of a run's input and state this build reads.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

/// The version of the form in which this build writes a run's [request](crate::RunRequest) and
/// [state](crate::RunState).
pub const STATE_VERSION: u32 = 4;

/// Stands in a run's request and state for [`STATE_VERSION`].
///
/// JSON of another version, or without one as inputs were in version 1, is rejected with a
/// [sentence](StateVersion::unread) that names the version: a run is finished by a build that knows its version, and no
/// engine ends it for that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StateVersion;

impl StateVersion {
    /// The version in which an input or a state was written.
    ///
    /// # Errors
    ///
    /// If it is no JSON object.
    pub fn of(json: &str) -> Result<u32, serde_json::Error> {
        #[derive(Deserialize)]
        struct Versioned {
            #[serde(default = "first")]
            version: u32,
        }
        serde_json::from_str::<Versioned>(json).map(|input| input.version)
    }
}

impl StateVersion {
    /// Returns why this build does not read a run of this version: a sentence without the run's name.
    #[must_use]
    pub fn unread(found: u32) -> String {
        if found > STATE_VERSION {
            return format!(
                "the run was written by a newer version of neuron: state version {found}, this one knows up to \
                 {STATE_VERSION}"
            );
        }
        format!(
            "the run has version {found} of the run state, and this build reads version {STATE_VERSION}: finish it \
             with the build that started it"
        )
    }

    /// The version of an input that says none: not this one.
    pub(crate) fn unsaid<E: de::Error>() -> Result<Self, E> {
        known(first())
    }
}

/// The version of inputs that say none.
const fn first() -> u32 {
    1
}

impl Serialize for StateVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(STATE_VERSION)
    }
}

impl<'de> Deserialize<'de> for StateVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As an option, so that a missing field comes here too.
        deserializer.deserialize_option(VersionVisitor)
    }
}

struct VersionVisitor;

impl<'de> Visitor<'de> for VersionVisitor {
    type Value = StateVersion;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the version of a run's state")
    }

    fn visit_none<E: de::Error>(self) -> Result<StateVersion, E> {
        StateVersion::unsaid()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<StateVersion, D::Error> {
        known(u32::deserialize(deserializer)?)
    }
}

fn known<E: de::Error>(found: u32) -> Result<StateVersion, E> {
    if found == STATE_VERSION {
        return Ok(StateVersion);
    }
    Err(E::custom(StateVersion::unread(found)))
}
