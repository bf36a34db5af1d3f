//! The tools of a request, as one API takes them.

use neuron_types::{ProviderError, ToolDefinition};
use serde_json::Value;

/// The tools that are sent, in the API's words.
#[derive(Debug)]
pub struct Tools<'a, T> {
    /// Those that are sent, in order.
    pub sent: Vec<T>,
    /// What they are called.
    pub names: ToolNames<'a>,
}

/// The names of a request's tools, and what is said of those that are not sent.
#[derive(Debug, Default)]
pub struct ToolNames<'a> {
    pub(crate) sent: Vec<&'a str>,
    pub(crate) left_out: Vec<String>,
}

impl<T> Default for Tools<'_, T> {
    fn default() -> Self {
        Self {
            sent: Vec::new(),
            names: ToolNames::default(),
        }
    }
}

impl<'a, T> Tools<'a, T> {
    /// Takes those of the request. `write` puts one into the API's words: `None` where the schema of its arguments is not
    /// that of an object, and it is left out.
    ///
    /// # Errors
    ///
    /// Those of `write`.
    pub fn take(
        &mut self,
        tools: impl IntoIterator<Item = &'a ToolDefinition>,
        write: impl Fn(&'a ToolDefinition) -> Result<Option<T>, ProviderError>,
    ) -> Result<(), ProviderError> {
        for tool in tools {
            let name = &tool.name;
            match write(tool)? {
                Some(written) => {
                    self.sent.push(written);
                    self.names.sent.push(name);
                }
                None => self.names.left_out.push(format!(
                    "the tool {name:?} is left out: the schema of its arguments is not that of an object"
                )),
            }
        }
        Ok(())
    }

    /// Takes one of the API's own tools that the provider adds itself.
    pub fn add(&mut self, name: &'a str, tool: T) {
        self.sent.push(tool);
        self.names.sent.push(name);
    }

    /// Takes the API's own tools. Some of them have no name.
    pub fn take_native(&mut self, tools: &'a [Value], write: impl Fn(&'a Value) -> T) {
        let name = |tool: &'a Value| tool.get("name").and_then(Value::as_str);
        self.sent.extend(tools.iter().map(write));
        let names = tools.iter().map(|tool| name(tool).unwrap_or_default());
        self.names.sent.extend(names);
    }
}
