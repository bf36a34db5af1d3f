use serde_json::{Map, Value};

/// A call that has come whole.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedCall {
    /// Its id: the server's, or a random one where the server gave none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as the server wrote them.
    pub arguments: String,
    /// The call's other fields.
    pub extra: Map<String, Value>,
}
