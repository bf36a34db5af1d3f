//! What came of the guards that looked at one thing.

use serde::{Deserialize, Serialize};

use crate::{FailureKind, GuardVerdict, Spent, StepFailure};

/// What came of the guards that looked at one thing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guarded {
    /// What was said that is no pass, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<GuardNote>,
    /// What takes the place of what was looked at, and of the arguments of a call as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
    /// Why what takes the place of an answer is not of the form that the answer must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<String>,
    /// Whether it passes.
    #[serde(skip_serializing_if = "GuardEnd::is_pass")]
    pub end: GuardEnd,
    /// The guards that have not looked because they have models asked, for which the run has a step of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deferred: Vec<String>,
    /// What models used and cost that judges had asked in the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Box<Spent>>,
}

/// What one guard said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardNote {
    /// Its name.
    pub guard: String,
    /// The name of its [verdict](crate::GuardVerdict).
    pub verdict: String,
    /// Why.
    pub reason: String,
}

/// Whether something passes that guards looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardEnd {
    /// It passes.
    #[default]
    Pass,
    /// If a person agrees, who is asked for this reason.
    Ask(String),
    /// It does not pass, for this reason.
    Block(String),
    /// The run ends, for this reason.
    Trip(String),
}

impl GuardEnd {
    /// Returns whether it passes.
    #[must_use]
    pub const fn is_pass(&self) -> bool {
        matches!(self, Self::Pass)
    }

    /// Returns how strict it is.
    const fn strictness(&self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Ask(_) => 1,
            Self::Block(_) => 2,
            Self::Trip(_) => 3,
        }
    }

    /// The stricter of two; of two that are as strict, the first.
    fn and(self, other: Self) -> Self {
        match self.strictness() >= other.strictness() {
            true => self,
            false => other,
        }
    }
}

impl Guarded {
    /// Takes in what a guard of this name says next.
    pub fn take(&mut self, guard: &str, verdict: GuardVerdict) {
        if let Some(reason) = verdict.reason() {
            self.notes.push(GuardNote {
                guard: guard.to_owned(),
                verdict: verdict.as_str().to_owned(),
                reason: reason.to_owned(),
            });
        }
        let end = match verdict {
            GuardVerdict::Pass | GuardVerdict::Warn { .. } => GuardEnd::Pass,
            GuardVerdict::Replace { with, .. } => {
                self.replaced = Some(with);
                GuardEnd::Pass
            }
            GuardVerdict::Ask { reason } => GuardEnd::Ask(reason),
            GuardVerdict::Block { reason } => GuardEnd::Block(reason),
            GuardVerdict::Trip { reason } => GuardEnd::Trip(reason),
        };
        self.end = std::mem::take(&mut self.end).and(end);
    }

    /// Notes that the guard of this name has not looked, and does in a step of its own.
    pub fn defer(&mut self, guard: &str) {
        if !self.deferred.iter().any(|known| known == guard) {
            self.deferred.push(guard.to_owned());
        }
    }

    /// Returns it together with what was said then: the strictest counts.
    #[must_use]
    pub fn and_then(mut self, then: Self) -> Self {
        self.notes.extend(then.notes);
        if then.replaced.is_some() {
            (self.replaced, self.mismatch) = (then.replaced, then.mismatch);
        }
        self.end = self.end.and(then.end);
        for guard in then.deferred {
            self.defer(&guard);
        }
        self.spent = Spent::sum(self.spent, then.spent);
        self
    }

    /// Returns whether there is nothing to say.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// Returns it in a box, if there is anything to say.
    #[must_use]
    pub fn into_box(self) -> Option<Box<Self>> {
        (!self.is_silent()).then(|| Box::new(self))
    }

    /// Returns the failure of a step that a guard ended the run in; `None` if none did.
    #[must_use]
    pub fn tripped(&self) -> Option<StepFailure> {
        match &self.end {
            GuardEnd::Trip(reason) => {
                Some(StepFailure::new(FailureKind::Guardrail, reason.clone()))
            }
            _ => None,
        }
    }
}

/// Why an answer is [withheld] whose judges had not looked at it when the run had no time left for them. It is no part of
/// the conversation.
pub const LEFT_UNJUDGED: &str = "the run stopped before judges had looked at it";

/// Returns what stands in the place of a text that guards did not pass, for this reason.
#[must_use]
pub fn withheld(reason: &str) -> String {
    format!("[withheld: {reason}]")
}
