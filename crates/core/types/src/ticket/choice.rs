//! What there is to choose from where a step or a budget came to an end.

use std::fmt;

use serde_json::Value;

use crate::TicketKind;

/// What a person chooses for a ticket of kind [failure](TicketKind::Failure), [budget](TicketKind::Budget),
/// [unknown outcome](TicketKind::UnknownOutcome) or [guard](TicketKind::Guard).
///
/// ```
/// use neuron_types::{Choice, TicketKind};
/// use serde_json::json;
///
/// let choice = Choice::parse(TicketKind::UnknownOutcome, r#"happened:{"id": 7}"#);
/// assert_eq!(choice, Ok(Choice::Happened(Some(json!({"id": 7})))));
/// assert!(Choice::parse(TicketKind::UnknownOutcome, "extend:turns=5").is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// `retry`: make the step again.
    Retry,
    /// `retry:MODEL`: make it with this model.
    RetryWith(String),
    /// `extend:KEY=VALUE`: raise this limit by this amount: see [`Extension`](crate::Extension).
    Extend {
        /// The limit.
        key: String,
        /// By how much.
        by: String,
    },
    /// `happened` or `happened:JSON`: the call took effect, with this result if it is known.
    Happened(Option<Value>),
    /// `release`: what a guard found something in passes as it is.
    Release,
    /// `withhold`: it does not; the model reads that it was withheld.
    Withhold,
    /// `end`: end the run.
    End,
}

impl Choice {
    /// Returns what tickets of this kind list as their choices; nothing if they have none of their own.
    #[must_use]
    pub fn listed(kind: TicketKind) -> Vec<String> {
        forms(kind).iter().map(|form| (*form).to_owned()).collect()
    }

    /// Reads what was chosen for a ticket of this kind.
    ///
    /// # Errors
    ///
    /// A sentence that says what there is to choose from.
    pub fn parse(kind: TicketKind, text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let unknown = || {
            let known = forms(kind).join(", ");
            format!("there is no choice {text:?}: choose {known}")
        };
        match (kind, name, value) {
            (TicketKind::Failure | TicketKind::UnknownOutcome, "retry", None) => Ok(Self::Retry),
            (TicketKind::Failure, "retry", Some(model)) if !model.is_empty() => {
                Ok(Self::RetryWith(model.to_owned()))
            }
            (TicketKind::Budget, "extend", Some(value)) => match value.split_once('=') {
                Some((key, by)) if !key.is_empty() && !by.is_empty() => Ok(Self::Extend {
                    key: key.to_owned(),
                    by: by.to_owned(),
                }),
                _ => Err(unknown()),
            },
            (TicketKind::UnknownOutcome, "happened", None) => Ok(Self::Happened(None)),
            (TicketKind::UnknownOutcome, "happened", Some(value)) => serde_json::from_str(value)
                .map(|result| Self::Happened(Some(result)))
                .map_err(|error| format!("what stands behind \"happened:\" is not JSON: {error}")),
            (
                TicketKind::Failure
                | TicketKind::Budget
                | TicketKind::UnknownOutcome
                | TicketKind::Guard,
                "end",
                None,
            ) => Ok(Self::End),
            (TicketKind::Guard, "release", None) => Ok(Self::Release),
            (TicketKind::Guard, "withhold", None) => Ok(Self::Withhold),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retry => f.write_str("retry"),
            Self::RetryWith(model) => write!(f, "retry:{model}"),
            Self::Extend { key, by } => write!(f, "extend:{key}={by}"),
            Self::Happened(None) => f.write_str("happened"),
            Self::Happened(Some(result)) => write!(f, "happened:{result}"),
            Self::Release => f.write_str("release"),
            Self::Withhold => f.write_str("withhold"),
            Self::End => f.write_str("end"),
        }
    }
}

const fn forms(kind: TicketKind) -> &'static [&'static str] {
    match kind {
        TicketKind::Failure => &["retry", "retry:MODEL", "end"],
        TicketKind::Budget => &["extend:KEY=VALUE", "end"],
        TicketKind::UnknownOutcome => &["happened", "happened:JSON", "retry", "end"],
        TicketKind::Guard => &["release", "withhold", "end"],
        TicketKind::Call | TicketKind::Question | TicketKind::Form | TicketKind::External => &[],
    }
}
