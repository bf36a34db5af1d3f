//! What a guard is shown.

use serde_json::Value;

use crate::GuardPoint;

/// What a guard is shown.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct GuardSubject<'a> {
    /// Where in the run it is.
    pub point: GuardPoint,
    /// The tool whose call or result it is.
    pub tool: Option<&'a str>,
    /// The text: of a message, a result or an answer, or the arguments of a call as JSON.
    pub text: &'a str,
    /// The arguments of a call.
    pub input: Option<&'a Value>,
}

impl<'a> GuardSubject<'a> {
    /// Returns a text at this point, of no tool.
    #[must_use]
    pub const fn new(point: GuardPoint, text: &'a str) -> Self {
        Self {
            point,
            tool: None,
            text,
            input: None,
        }
    }

    /// Returns the same with another text.
    #[must_use]
    pub const fn of_text(mut self, text: &'a str) -> Self {
        self.text = text;
        self
    }

    /// Sets the tool that it is of.
    #[must_use]
    pub const fn of_tool(mut self, tool: &'a str) -> Self {
        self.tool = Some(tool);
        self
    }

    /// Sets the arguments of the call that it is.
    #[must_use]
    pub const fn with_input(mut self, input: &'a Value) -> Self {
        self.input = Some(input);
        self
    }
}
