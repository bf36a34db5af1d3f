/// The payload of a signal with a known meaning does not fit that meaning.
#[derive(Debug, thiserror::Error)]
#[error("the payload does not fit the signal {name}")]
pub struct BadSignal {
    /// The signal's name.
    pub name: String,
    /// What is wrong with the payload.
    pub source: serde_json::Error,
}
