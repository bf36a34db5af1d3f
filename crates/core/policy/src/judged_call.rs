//! A call as rules look at it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{ArgumentKind, Certainty, glob::fits, path::CallPath, shell::Script};

/// A call of a tool as rules look at it: what it does, as far as that is known before.
///
/// An argument of [kind](ArgumentKind) `Path` is compared after it was normalised by its text, and a command as the simple
/// commands in it. Everything else is compared as text.
#[derive(Debug, Clone)]
pub struct JudgedCall<'a> {
    tool: &'a str,
    input: &'a Value,
    forms: BTreeMap<&'a str, Form>,
}

#[derive(Debug, Clone)]
enum Form {
    Paths(Vec<CallPath>),
    Script(Script),
}

impl<'a> JudgedCall<'a> {
    /// Returns the call of a tool that nothing is known of.
    #[must_use]
    pub const fn of_texts(tool: &'a str, input: &'a Value) -> Self {
        Self {
            tool,
            input,
            forms: BTreeMap::new(),
        }
    }

    /// Returns the call of a tool whose arguments are for this; without `kinds` nothing is known of them.
    ///
    /// `directory` is the tool's working directory, from the root, where it is known. Where it is not, a path that starts at
    /// the root is outside for what allows, and may be inside for what restricts.
    #[must_use]
    pub fn new(
        tool: &'a str,
        input: &'a Value,
        kinds: Option<&'a BTreeMap<String, ArgumentKind>>,
        directory: Option<&str>,
    ) -> Self {
        let forms = kinds.into_iter().flatten().filter_map(|(name, kind)| {
            let name = plain_name(name);
            let value = argument(input, name)?;
            Some((name, Form::of(*kind, value, directory)?))
        });
        Self {
            tool,
            input,
            forms: forms.collect(),
        }
    }

    /// Returns the tool's name.
    #[must_use]
    pub const fn tool(&self) -> &str {
        self.tool
    }

    /// Returns its arguments.
    #[must_use]
    pub const fn input(&self) -> &Value {
        self.input
    }

    /// Returns whether a pattern that allows is for this argument.
    pub(crate) fn is_covered(&self, name: &str, pattern: &str) -> bool {
        match self.forms.get(plain_name(name)) {
            Some(Form::Paths(paths)) => {
                !paths.is_empty() && paths.iter().all(|path| path.is_covered(pattern))
            }
            Some(Form::Script(script)) => script.is_covered(pattern),
            None => self.fits(name, pattern),
        }
    }

    /// Returns how surely a pattern that restricts is for this argument.
    pub(crate) fn hit(&self, name: &str, pattern: &str) -> Certainty {
        let is_hit = match self.forms.get(plain_name(name)) {
            Some(Form::Script(script)) => return script.hit(pattern),
            Some(Form::Paths(paths)) => paths.iter().any(|path| path.is_hit(pattern)),
            None => false,
        };
        if is_hit || self.fits(name, pattern) {
            Certainty::Yes
        } else {
            Certainty::No
        }
    }

    /// Returns whether the text of an argument fits a pattern.
    fn fits(&self, name: &str, pattern: &str) -> bool {
        match argument(self.input, plain_name(name)) {
            Some(Value::String(text)) => fits(pattern, text),
            Some(other) => fits(pattern, &other.to_string()),
            None => false,
        }
    }

    /// Returns the argument that states what calls like this one have in common, and a pattern of that: the program of
    /// its command, or the directory of its path. `None` where it has no such argument, or several.
    pub(crate) fn common(&self) -> Option<(&str, String)> {
        let mut forms = self.forms.iter();
        let (Some((name, form)), None) = (forms.next(), forms.next()) else {
            return None;
        };
        let value = match form {
            Form::Script(script) => script.prefix()?,
            Form::Paths(paths) => {
                let [path] = paths.as_slice() else {
                    return None;
                };
                let directory = path.directory()?;
                let is_plain = !directory.contains(['*', '?']);
                is_plain.then(|| match directory.as_str() {
                    "" => "*".to_owned(),
                    directory => format!("{directory}/*"),
                })?
            }
        };
        Some((name, value))
    }
}

impl Form {
    fn of(kind: ArgumentKind, value: &Value, directory: Option<&str>) -> Option<Self> {
        let texts: Vec<&str> = match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<_>>()?,
            _ => return None,
        };
        Some(match (kind, value) {
            (ArgumentKind::Path, _) => {
                let paths = texts.iter().map(|text| CallPath::new(text, directory));
                Self::Paths(paths.collect())
            }
            (ArgumentKind::ShellCommand, Value::Array(_)) => Self::Script(Script::of_words(&texts)),
            (ArgumentKind::ShellCommand, _) => {
                Self::Script(Script::read(texts.first().copied().unwrap_or_default()))
            }
        })
    }
}

/// The name of an argument; a JSON pointer stays one where it leads into an argument.
fn plain_name(name: &str) -> &str {
    match name.strip_prefix('/') {
        Some(plain) if !plain.is_empty() && !plain.contains(['/', '~']) => plain,
        _ => name,
    }
}

fn argument<'a>(input: &'a Value, name: &str) -> Option<&'a Value> {
    if name.starts_with('/') {
        input.pointer(name)
    } else {
        input.get(name)
    }
}
