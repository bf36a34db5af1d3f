//! Which tool calls a rule is for.

use serde_json::Value;

/// Some calls: `TOOL`, or `TOOL(ARGUMENT=VALUE)`.
///
/// In `TOOL` and `VALUE`, `*` stands for any characters and `?` for one. `ARGUMENT` is the name of an argument,
/// or a JSON pointer such as `/filter/kind` to a value inside one. A value that is no text is compared as
/// JSON. A call without the argument is not among them.
///
/// ```
/// use neuron_types::CallPattern;
/// use serde_json::json;
///
/// let pushes = CallPattern::parse("bash(command=git push*)").unwrap();
/// assert!(pushes.matches("bash", &json!({"command": "git push origin"})));
/// assert!(!pushes.matches("bash", &json!({"command": "git status"})));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPattern<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// An argument and its value.
    pub argument: Option<(&'a str, &'a str)>,
}

impl<'a> CallPattern<'a> {
    /// Reads one; `None` if it is none.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let Some((tool, rest)) = text.split_once('(') else {
            return (!text.is_empty()).then_some(Self {
                tool: text,
                argument: None,
            });
        };
        let (name, value) = rest.strip_suffix(')')?.split_once('=')?;
        (!tool.is_empty() && !name.is_empty()).then_some(Self {
            tool,
            argument: Some((name, value)),
        })
    }

    /// Whether this call is among them.
    #[must_use]
    pub fn matches(&self, tool: &str, input: &Value) -> bool {
        if !self.matches_tool(tool) {
            return false;
        }
        let Some((name, pattern)) = self.argument else {
            return true;
        };
        let found = if name.starts_with('/') {
            input.pointer(name)
        } else {
            input.get(name)
        };
        match found {
            Some(Value::String(text)) => fits(pattern, text),
            Some(other) => fits(pattern, &other.to_string()),
            None => false,
        }
    }

    /// Whether calls of this tool can be among them.
    #[must_use]
    pub fn matches_tool(&self, tool: &str) -> bool {
        fits(self.tool, tool)
    }

    /// Whether it names one tool, and not several by `*` or `?`.
    #[must_use]
    pub fn names_tool(&self) -> bool {
        !self.tool.contains(['*', '?'])
    }
}

/// Whether the whole text fits a pattern with `*` and `?`. Takes at most the product of their lengths.
fn fits(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // What follows the last `*`, and the text that it has to fit or a later part of.
    let mut last = None;
    loop {
        let here = text.clone();
        match (pattern.next(), text.next()) {
            (Some('*'), _) => {
                text = here.clone();
                last = Some((pattern.clone(), here));
            }
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {}
            _ => {
                let Some((rest, mut later)) = last.take() else {
                    return false;
                };
                if later.next().is_none() {
                    return false;
                }
                pattern = rest.clone();
                text = later.clone();
                last = Some((rest, later));
            }
        }
    }
}
