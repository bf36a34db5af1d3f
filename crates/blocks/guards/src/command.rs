//! A guard that is a program.

use std::time::Duration;

use neuron_types::{Guard, GuardError, GuardPoint, GuardSubject, GuardVerdict, WasmBoxedFuture};
use serde_json::{Map, json};

use crate::{process::Program, scope::Scope, then::Then};

/// A guard that is a program. It reads what it looks at as one JSON object on its standard input and writes its
/// [verdict](GuardVerdict) as another on its standard output.
///
/// ```json
/// {"point": "call", "tool": "bash", "text": "{\"command\":\"ls\"}", "input": {"command": "ls"}}
/// {"verdict": "block", "reason": "not on a Sunday"}
/// ```
///
/// `tool` is left out where no tool is concerned, and `input` anywhere but at calls. A program that ends with another
/// code than 0, that takes too long, or whose answer is no verdict, has failed.
#[derive(Debug, Clone)]
pub struct CommandGuard {
    name: String,
    program: Program,
    scope: Scope,
    /// `None` if it passes what it could not say anything about.
    on_failure: Option<Then>,
}

impl CommandGuard {
    /// Returns a guard that looks everywhere. It blocks where it fails.
    #[must_use]
    pub fn new(name: impl Into<String>, program: Program) -> Self {
        Self {
            name: name.into(),
            program,
            scope: Scope::default(),
            on_failure: Some(Then::Block),
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

    /// Sets what is done about what it could not say anything about; what would be replaced is blocked.
    #[must_use]
    pub fn failing(mut self, then: Then) -> Self {
        self.on_failure = Some(then);
        self
    }

    /// Passes what it could not say anything about.
    #[must_use]
    pub fn passing_on_failure(mut self) -> Self {
        self.on_failure = None;
        self
    }

    async fn ask(&self, subject: GuardSubject<'_>) -> Result<GuardVerdict, GuardError> {
        if !self.scope.concerns(&subject) {
            return Ok(GuardVerdict::Pass);
        }
        let mut question = Map::new();
        question.insert("point".to_owned(), json!(subject.point));
        question.insert("text".to_owned(), subject.text.into());
        if let Some(tool) = subject.tool {
            question.insert("tool".to_owned(), tool.into());
        }
        if let Some(input) = subject.input {
            question.insert("input".to_owned(), input.clone());
        }
        let answer = self.program.ask(&question).await?;
        serde_json::from_str(&answer).map_err(|source| GuardError {
            message: "its answer is no verdict".to_owned(),
            source: Some(source.into()),
        })
    }
}

impl Guard for CommandGuard {
    fn name(&self) -> &str {
        &self.name
    }

    fn looks_at(&self, point: GuardPoint) -> bool {
        self.scope.at.contains(&point)
    }

    fn timeout(&self) -> Duration {
        self.program.most()
    }

    fn on_failure(&self, reason: String) -> GuardVerdict {
        match &self.on_failure {
            Some(then) => then.failure(reason),
            None => GuardVerdict::Pass,
        }
    }

    fn check<'a>(
        &'a self,
        subject: GuardSubject<'a>,
    ) -> WasmBoxedFuture<'a, Result<GuardVerdict, GuardError>> {
        Box::pin(self.ask(subject))
    }
}
