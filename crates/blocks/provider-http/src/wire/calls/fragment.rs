use serde_json::{Map, Value};

/// What one fragment says. What is empty is not said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fragment {
    /// The call's place among those of the answer, as the server counts.
    pub index: Option<u64>,
    /// The call's id.
    pub id: Option<String>,
    /// The tool's name.
    pub name: Option<String>,
    /// More of the arguments, as JSON text.
    pub arguments: String,
    /// The arguments are a text of the tool's own, and no JSON.
    pub is_plain: bool,
    /// The call's other fields: the newest count.
    pub extra: Map<String, Value>,
}

impl Fragment {
    pub(super) fn without_empty(mut self) -> Self {
        self.id = self.id.filter(|id| !id.is_empty());
        self.name = self.name.filter(|name| !name.is_empty());
        self
    }
}
