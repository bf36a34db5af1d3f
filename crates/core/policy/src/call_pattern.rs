//! Which tool calls a rule is for.

use crate::{Certainty, JudgedCall, glob::fits};

/// Some calls: `TOOL`, or `TOOL(ARGUMENT=VALUE)`.
///
/// In `TOOL` and `VALUE`, `*` stands for any characters and `?` for one. `ARGUMENT` is the name of an argument,
/// or a JSON pointer such as `/filter/kind` to a value inside one. A call without the argument is not among them. A value
/// that is no text is compared as JSON.
///
/// What is compared is what the call does, not how it is spelled, where the tool says what an argument
/// [is for](crate::ArgumentKind):
///
/// - A path is compared after it was normalised: `./src/../src//x` is `src/x`. What leaves the working directory is not
///   allowed by a pattern that stays in it.
/// - A command is compared as its words with one blank between them, without their quotes: `git  "push"` is `git push`. A
///   pattern allows one simple command: nothing with an operator or an expansion of the shell. In one that allows, a `*`
///   stays in its word, unless it is a word of its own or the pattern's end; a last word `*` stands for any further
///   words. A pattern that restricts is for every command inside, also where `sudo`, `env`, `sh -c` or another program
///   executes it, and for the text as a whole.
///
/// ```
/// use neuron_policy::{ArgumentKind, CallPattern, Certainty, JudgedCall};
/// use serde_json::json;
///
/// let kinds = [("command".to_owned(), ArgumentKind::ShellCommand)].into();
/// let push = CallPattern::parse("bash(command=git push*)").unwrap();
/// for (command, is_allowed, is_restricted) in [
///     ("git push origin", true, Certainty::Yes),
///     ("git   'push'", true, Certainty::Yes),
///     ("git push; ls", false, Certainty::Yes),
///     ("sudo git push", false, Certainty::Yes),
///     ("git $1", false, Certainty::Maybe),
///     ("git status", false, Certainty::No),
/// ] {
///     let input = json!({ "command": command });
///     let call = JudgedCall::new("bash", &input, Some(&kinds), None);
///     assert_eq!(push.allows(&call), is_allowed, "{command}");
///     assert_eq!(push.restricts(&call), is_restricted, "{command}");
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPattern<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// An argument and its value.
    pub argument: Option<(&'a str, &'a str)>,
}

impl<'a> CallPattern<'a> {
    /// Reads a pattern; `None` if the text is not a pattern.
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

    /// Returns whether this call is among them for what allows calls: where it is not certain, it is not.
    #[must_use]
    pub fn allows(&self, call: &JudgedCall<'_>) -> bool {
        self.matches_tool(call.tool())
            && self
                .argument
                .is_none_or(|(name, value)| call.is_covered(name, value))
    }

    /// Returns how certain it is that this call is among them, for a rule that asks about calls or denies them.
    #[must_use]
    pub fn restricts(&self, call: &JudgedCall<'_>) -> Certainty {
        match self.argument {
            _ if !self.matches_tool(call.tool()) => Certainty::No,
            None => Certainty::Yes,
            Some((name, value)) => call.hit(name, value),
        }
    }

    /// Returns whether calls of this tool can be among them.
    #[must_use]
    pub fn matches_tool(&self, tool: &str) -> bool {
        fits(self.tool, tool)
    }

    /// Returns whether it names one tool, and not several by `*` or `?`.
    #[must_use]
    pub fn names_tool(&self) -> bool {
        !self.tool.contains(['*', '?'])
    }
}

impl JudgedCall<'_> {
    /// A pattern for calls like this one: `TOOL(ARGUMENT=VALUE)` with the program of its command, or the directory of its
    /// path; `None` where it has no such argument, or several, or a pattern cannot say it.
    #[must_use]
    pub fn prefix(&self) -> Option<String> {
        let (name, value) = self.common()?;
        let text = format!("{}({name}={value})", self.tool());
        // Other names of tools and arguments cannot be said.
        let pattern = CallPattern::parse(&text)?;
        let is_said = pattern.names_tool() && pattern.allows(self);
        is_said.then_some(text)
    }
}
