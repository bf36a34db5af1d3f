//! A rule that has a person asked.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::json::millis;

/// Calls that a person is asked about, and who is asked how.
///
/// In JSON it is the pattern alone, if it says nothing else.
///
/// ```
/// use neuron_types::AskRule;
///
/// let rule: AskRule = serde_json::from_str(r#"{"call": "bash(command=git push*)", "from": "ops", "needed": 2}"#)?;
/// assert_eq!((rule.from.as_deref(), rule.needed), (Some("ops"), 2));
/// assert_eq!(serde_json::to_string(&AskRule::from("bash"))?, r#""bash""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Form", into = "Form")]
pub struct AskRule {
    /// A [pattern](crate::CallPattern) of calls, or one after a `!`, which excepts calls.
    pub call: String,
    /// The group that a decision must come from; any person where `None`.
    pub from: Option<String>,
    /// How many have to approve. Default is 1.
    pub needed: u32,
    /// How long they have; as long as the agent's [tickets](crate::AgentSpec::approval_timeout) where `None`.
    pub within: Option<Duration>,
    /// The group that is asked after that, for as long again; none where `None`.
    pub then: Option<String>,
}

impl AskRule {
    /// Returns the rule for these calls, which any person decides about.
    #[must_use]
    pub fn new(call: impl Into<String>) -> Self {
        Self {
            call: call.into(),
            from: None,
            needed: 1,
            within: None,
            then: None,
        }
    }

    /// Returns whether it says nothing but which calls it is for.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::new(self.call.as_str())
    }

    /// Returns how specific it is; two rules have the same rank only if they say the same.
    fn rank(&self) -> impl Ord + '_ {
        let terms = (&self.from, self.needed, &self.within, &self.then);
        (self.call.len(), self.from.is_some(), &self.call, terms)
    }
}

impl<T: Into<String>> From<T> for AskRule {
    fn from(call: T) -> Self {
        Self::new(call)
    }
}

impl fmt::Display for AskRule {
    /// Writes the pattern.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.call)
    }
}

/// Why and how a person is asked about a call.
///
/// In JSON it is the reason alone, if it says nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "AskingForm", into = "AskingForm")]
pub struct Asking {
    /// Why a person is asked; the ticket carries it.
    pub reason: String,
    /// See [`AskRule::from`].
    pub from: Option<String>,
    /// See [`AskRule::needed`].
    pub needed: u32,
    /// See [`AskRule::within`].
    pub within: Option<Duration>,
    /// See [`AskRule::then`].
    pub then: Option<String>,
}

impl Asking {
    /// Returns a question to any person.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            from: None,
            needed: 1,
            within: None,
            then: None,
        }
    }

    /// Returns the question that serves this one and the other: to the group of either, to as many as any of them wants, and
    /// for the shorter time. Who is asked after that is asked only if both would ask them.
    pub(crate) fn and(self, other: Self) -> Result<Self, String> {
        let from = match (self.from, other.from) {
            (Some(one), Some(other)) if one != other => {
                return Err(format!(
                    "one agent has {one} asked about it and the one that started it {other}, and one question cannot be put to both"
                ));
            }
            (one, other) => one.or(other),
        };
        let within = match (self.within, other.within) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Ok(Self {
            reason: self.reason,
            from,
            needed: self.needed.max(other.needed),
            within,
            then: self.then.filter(|then| other.then.as_ref() == Some(then)),
        })
    }

    /// Asks as these rules say, which are all for one call: whom and for how long as the one with the longest pattern says,
    /// which is the most specific, and as many as any of them wants.
    pub(crate) fn by<'a>(mut self, rules: impl IntoIterator<Item = &'a AskRule>) -> Self {
        let mut specific: Option<&AskRule> = None;
        for rule in rules {
            self.needed = self.needed.max(rule.needed);
            // The order of the rules says nothing.
            if specific.is_none_or(|other| rule.rank() > other.rank()) {
                specific = Some(rule);
            }
        }
        if let Some(rule) = specific {
            self.from.clone_from(&rule.from);
            self.within = rule.within;
            self.then.clone_from(&rule.then);
        }
        self
    }
}

impl<T: Into<String>> From<T> for Asking {
    fn from(reason: T) -> Self {
        Self::new(reason)
    }
}

/// A rule as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Call(String),
    Table {
        call: String,
        #[serde(flatten)]
        terms: Terms,
    },
}

/// A question as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum AskingForm {
    Reason(String),
    Table {
        reason: String,
        #[serde(flatten)]
        terms: Terms,
    },
}

#[derive(Serialize, Deserialize)]
struct Terms {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    needed: u32,
    #[serde(
        rename = "within_ms",
        default,
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    within: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    then: Option<String>,
}

const fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_one(count: &u32) -> bool {
    *count == 1
}

impl From<Form> for AskRule {
    fn from(form: Form) -> Self {
        match form {
            Form::Call(call) => Self::new(call),
            Form::Table { call, terms } => Self {
                call,
                from: terms.from,
                needed: terms.needed,
                within: terms.within,
                then: terms.then,
            },
        }
    }
}

impl From<AskRule> for Form {
    fn from(rule: AskRule) -> Self {
        if rule.is_plain() {
            return Self::Call(rule.call);
        }
        Self::Table {
            call: rule.call,
            terms: Terms {
                from: rule.from,
                needed: rule.needed,
                within: rule.within,
                then: rule.then,
            },
        }
    }
}

impl From<AskingForm> for Asking {
    fn from(form: AskingForm) -> Self {
        match form {
            AskingForm::Reason(reason) => Self::new(reason),
            AskingForm::Table { reason, terms } => Self {
                reason,
                from: terms.from,
                needed: terms.needed,
                within: terms.within,
                then: terms.then,
            },
        }
    }
}

impl From<Asking> for AskingForm {
    fn from(asking: Asking) -> Self {
        if asking == Asking::new(asking.reason.as_str()) {
            return Self::Reason(asking.reason);
        }
        Self::Table {
            reason: asking.reason,
            terms: Terms {
                from: asking.from,
                needed: asking.needed,
                within: asking.within,
                then: asking.then,
            },
        }
    }
}
