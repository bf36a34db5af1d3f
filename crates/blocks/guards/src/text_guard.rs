//! Guards that look for something in a text.

use neuron_tool::schema_mismatch;
use neuron_types::{Guard, GuardError, GuardPoint, GuardSubject, GuardVerdict, WasmBoxedFuture};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::{
    finder::Finder,
    scope::Scope,
    secrets,
    then::Then,
    urls::{Hosts, InvalidHost},
};

/// A guard that looks for something in texts: see [the list](crate).
#[derive(Debug, Clone)]
pub struct TextGuard {
    name: String,
    scope: Scope,
    then: Then,
    finder: Finder,
}

/// A pattern is no regular expression, or too large a one.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{pattern:?} cannot be used as a pattern")]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// Why.
    #[source]
    pub source: regex::Error,
}

/// A schema cannot be read: everything would fit it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is no JSON Schema, or refers to other documents")]
pub struct InvalidSchema;

/// Returns whether a schema can be read: with `not` of everything added to it, it then rejects a value.
fn is_readable(schema: &Value) -> bool {
    let Value::Object(fields) = schema else {
        return schema.is_boolean();
    };
    let mut fields = fields.clone();
    let negated = fields.insert("not".to_owned(), json!({}));
    let nothing_fits = Value::Object(fields);
    let values = [json!(null), json!(0), json!(""), json!([]), json!({})];
    let is_refused = |value| schema_mismatch(&nothing_fits, value).is_some();
    values.iter().any(is_refused) && negated.as_ref().is_none_or(is_readable)
}

impl TextGuard {
    /// Returns a guard that finds keys and tokens by their form, and private keys, in what tools return and models answer. It
    /// puts `[secret]` in their place.
    #[must_use]
    pub fn secrets(name: impl Into<String>) -> Self {
        Self::new(name, Finder::Secrets(secrets::patterns()))
            .at([GuardPoint::Result, GuardPoint::Output])
            .then(Then::Replace("[secret]".to_owned()))
    }

    /// Returns a guard that finds what one of these regular expressions matches, everywhere. It blocks.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern`].
    pub fn patterns(
        name: impl Into<String>,
        patterns: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, InvalidPattern> {
        let patterns = patterns.into_iter().map(|pattern| {
            let pattern = pattern.as_ref();
            Regex::new(pattern).map_err(|source| InvalidPattern {
                pattern: pattern.to_owned(),
                source,
            })
        });
        let patterns = patterns.collect::<Result<_, _>>()?;
        let name = name.into();
        let what = format!("what {name} looks for");
        Ok(Self::new(name, Finder::Patterns(patterns, what)))
    }

    /// Returns a guard that finds texts of more than `most` characters, in prompts and messages. It blocks.
    #[must_use]
    pub fn length(name: impl Into<String>, most: usize) -> Self {
        Self::new(name, Finder::Longer(most)).at([GuardPoint::Input])
    }

    /// Returns a guard that finds addresses whose hosts are not among these, in calls and answers. It blocks.
    /// `*.example.com` stands for all hosts below `example.com`.
    ///
    /// An address is what has a scheme and `://`: a host that is merely named is not found.
    ///
    /// # Errors
    ///
    /// [`InvalidHost`].
    pub fn urls(
        name: impl Into<String>,
        hosts: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, InvalidHost> {
        let finder = Finder::Urls(Hosts::parse(hosts)?);
        Ok(Self::new(name, finder).at([GuardPoint::Call, GuardPoint::Output]))
    }

    /// Returns a guard that finds what is no JSON, or does not fit a JSON Schema, in what tools return. It blocks.
    ///
    /// # Errors
    ///
    /// [`InvalidSchema`].
    pub fn json(name: impl Into<String>, schema: Option<Value>) -> Result<Self, InvalidSchema> {
        match schema {
            Some(schema) if !is_readable(&schema) => Err(InvalidSchema),
            schema => Ok(Self::new(name, Finder::NoJson(schema)).at([GuardPoint::Result])),
        }
    }

    fn new(name: impl Into<String>, finder: Finder) -> Self {
        Self {
            name: name.into(),
            scope: Scope::default(),
            then: Then::default(),
            finder,
        }
    }

    /// Sets where it looks.
    #[must_use]
    pub fn at(mut self, points: impl IntoIterator<Item = GuardPoint>) -> Self {
        self.scope.at = points.into_iter().collect();
        self
    }

    /// Sets the tools whose calls and results it looks at. Default is all.
    #[must_use]
    pub fn of_tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scope.tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// Sets what is done about what it finds.
    #[must_use]
    pub fn then(mut self, then: Then) -> Self {
        self.then = then;
        self
    }

    fn verdict(&self, subject: GuardSubject<'_>) -> GuardVerdict {
        if !self.scope.concerns(&subject) {
            return GuardVerdict::Pass;
        }
        match subject.input {
            Some(input) => self.of_input(subject.text, input),
            None => match self.finder.find(subject.text) {
                None => GuardVerdict::Pass,
                Some(found) => {
                    let reason = found.reason.clone();
                    let replaced = |by: &str| self.finder.replaced(&found, subject.text, by);
                    self.then.verdict(reason, replaced)
                }
            },
        }
    }

    /// Looks at each text of the arguments as it is, and not at what JSON makes of it; at their JSON, where it is the whole
    /// that is looked at.
    fn of_input(&self, text: &str, input: &Value) -> GuardVerdict {
        if matches!(self.finder, Finder::Longer(_) | Finder::NoJson(_)) {
            return match self.finder.find(text) {
                None => GuardVerdict::Pass,
                Some(found) => self.then.failure(found.reason),
            };
        }
        let mut looked = Looked {
            finder: &self.finder,
            by: match &self.then {
                Then::Replace(by) => Some(by),
                _ => None,
            },
            reason: None,
            loses_fields: false,
        };
        let changed = looked.at(input);
        match looked.reason {
            None => GuardVerdict::Pass,
            // Two fields cannot have one name, and what one of them says is not to get lost.
            Some(reason) if looked.loses_fields => self.then.failure(reason),
            Some(reason) => self.then.verdict(reason, |_| changed.to_string()),
        }
    }
}

/// A look at all that arguments say.
struct Looked<'a> {
    finder: &'a Finder,
    /// What takes the place of what is found, where it is replaced.
    by: Option<&'a str>,
    /// Why something is not passed on.
    reason: Option<String>,
    /// Whether fields have one name now.
    loses_fields: bool,
}

impl Looked<'_> {
    /// Returns the value with what is found in it replaced, names of fields and numbers included.
    fn at(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text).unwrap_or_else(|| text.clone())),
            Value::Number(number) => match self.text(&number.to_string()) {
                Some(text) => Value::String(text),
                None => value.clone(),
            },
            Value::Array(items) => Value::Array(items.iter().map(|item| self.at(item)).collect()),
            Value::Object(fields) => {
                let changed = fields.iter().map(|(name, field)| {
                    let name = self.text(name).unwrap_or_else(|| name.clone());
                    (name, self.at(field))
                });
                let changed: Map<String, Value> = changed.collect();
                self.loses_fields |= changed.len() < fields.len();
                Value::Object(changed)
            }
            Value::Bool(_) | Value::Null => value.clone(),
        }
    }

    /// Returns the text with what is found in it replaced, if anything is.
    fn text(&mut self, text: &str) -> Option<String> {
        let found = self.finder.find(text)?;
        let changed = self.by.map(|by| self.finder.replaced(&found, text, by));
        self.reason.get_or_insert(found.reason);
        changed
    }
}

impl Guard for TextGuard {
    fn name(&self) -> &str {
        &self.name
    }

    fn looks_at(&self, point: GuardPoint) -> bool {
        self.scope.at.contains(&point)
    }

    fn on_failure(&self, reason: String) -> GuardVerdict {
        // It never fails.
        GuardVerdict::Block { reason }
    }

    fn check<'a>(
        &'a self,
        subject: GuardSubject<'a>,
    ) -> WasmBoxedFuture<'a, Result<GuardVerdict, GuardError>> {
        Box::pin(async move { Ok(self.verdict(subject)) })
    }
}
