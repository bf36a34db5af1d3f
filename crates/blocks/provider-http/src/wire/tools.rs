//! The tools of a request, as one API takes them.

use serde_json::Value;

/// The tools that are sent, and what is said of those that are not.
#[derive(Debug)]
pub struct Tools<T> {
    /// Those that are sent, in order.
    pub sent: Vec<T>,
    /// A sentence for each that is left out, with its name and the reason.
    pub left_out: Vec<String>,
}

impl<T> Default for Tools<T> {
    fn default() -> Self {
        Self {
            sent: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

impl<T> Tools<T> {
    /// Leaves a tool out whose schema is not that of an object.
    pub fn leave_out(&mut self, name: &str) {
        self.left_out.push(format!(
            "the tool {name:?} is left out: the schema of its arguments is not that of an object"
        ));
    }
}

/// The name of one of an API's own tools; empty where it has none.
#[must_use]
pub fn name_of_native(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}
