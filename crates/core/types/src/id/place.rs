//! Where a run is.

use std::fmt;

/// Where a run is, so that a decision about one place does not count for another. Its text stands in what people sign;
/// signer and verifier must name it alike.
///
/// ```
/// use neuron_types::Place;
///
/// let place = Place::Temporal { namespace: "default".into() };
/// assert_eq!(place.to_string(), "temporal:default");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The memory of a process: `memory`.
    Memory,
    /// A local home: `local:PATH`.
    Local {
        /// The absolute path of the folder, usually `.neuron`, without links in it.
        home: String,
    },
    /// A namespace of Temporal: `temporal:NAMESPACE`.
    Temporal {
        /// Its name.
        namespace: String,
    },
    /// The services on a Restate server: `restate:PREFIX`. What the server is called, neither its workers nor its clients
    /// need to know.
    Restate {
        /// The prefix of their names.
        prefix: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Local { home } => write!(f, "local:{home}"),
            Self::Temporal { namespace } => write!(f, "temporal:{namespace}"),
            Self::Restate { prefix } => write!(f, "restate:{prefix}"),
        }
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        place.to_string()
    }
}
