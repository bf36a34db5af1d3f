//! Which step of a run an effect is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which step of a run this is. Stable under replay; the idempotency key is made of it and of what no other run has.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct StepId {
    /// Which of the agents that take turns in one run; 0 for a run's own.
    #[serde(default, skip_serializing_if = "is_own")]
    pub scope: u16,
    /// The turn, counted from 1.
    pub turn: u32,
    /// The position in the turn: 0 for the model call, the n-th tool call is n,
    /// [`StepId::SUMMARY`] counted downwards for the calls of a context strategy, and [`StepId::OWN_CALLS`] counted
    /// upwards for those that the loop makes for itself. [`StepId::BEGIN`] is before all.
    pub position: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_own(scope: &u16) -> bool {
    *scope == 0
}

/// As `turn:position`, and before it the scope and `/` where it is not 0.
impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scope != 0 {
            write!(f, "{}/", self.scope)?;
        }
        write!(f, "{}:{}", self.turn, self.position)
    }
}

impl StepId {
    /// Returns the step at this place of the run's own agent.
    #[must_use]
    pub const fn new(turn: u32, position: u32) -> Self {
        Self {
            scope: 0,
            turn,
            position,
        }
    }

    /// Reads a step as it stands in idempotency keys; `None` if the text is not a step.
    ///
    /// ```
    /// use neuron_types::StepId;
    ///
    /// let step = StepId { scope: 2, ..StepId::new(7, 1) };
    /// assert_eq!(StepId::parse(&step.to_string()), Some(step));
    /// assert_eq!(StepId::parse("7:0"), Some(StepId::new(7, 0)));
    /// assert_eq!(StepId::parse("7"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (scope, step) = text.split_once('/').unwrap_or(("0", text));
        let (turn, position) = step.split_once(':')?;
        Some(Self {
            scope: scope.parse().ok()?,
            turn: turn.parse().ok()?,
            position: position.parse().ok()?,
        })
    }

    /// Returns the id of the first [ticket](crate::Ticket) about the call of this step.
    ///
    /// ```
    /// use neuron_types::StepId;
    ///
    /// assert_eq!(StepId::new(2, 1).ticket(), "t2-1");
    /// assert_eq!(StepId { scope: 1, ..StepId::new(2, 1) }.ticket(), "s1-t2-1");
    /// ```
    #[must_use]
    pub fn ticket(&self) -> String {
        let scope = match self.scope {
            0 => String::new(),
            scope => format!("s{scope}-"),
        };
        format!("{scope}t{}-{}", self.turn, self.position)
    }

    /// Returns whether this is the id of a ticket about the call of this step: of the first one, or of one that was opened
    /// after it.
    ///
    /// ```
    /// use neuron_types::StepId;
    ///
    /// let step = StepId::new(2, 1);
    /// assert!(step.has_ticket("t2-1") && step.has_ticket("t2-1-2"));
    /// assert!(!step.has_ticket("t2-12") && !step.has_ticket("s1-t2-1"));
    /// ```
    #[must_use]
    pub fn has_ticket(&self, ticket: &str) -> bool {
        match ticket.strip_prefix(&self.ticket()) {
            Some("") => true,
            Some(again) => again
                .strip_prefix('-')
                .is_some_and(|count| count.parse::<u32>().is_ok()),
            None => false,
        }
    }

    /// The number from which on the positions of the loop's own calls count up, as verifications, previews, questions
    /// for outcomes and for definitions: the n-th such call of a run, counted from 1, has this number plus n as its
    /// position. No turn has that many calls.
    pub const OWN_CALLS: u32 = 1_000_000_000;

    /// The step by which a run [begins](crate::Effect::Begin).
    pub const BEGIN: Self = Self::new(0, Self::OWN_CALLS);

    /// The step by which a run reports its end to the run that started it.
    pub const TELL: Self = Self::new(0, Self::OWN_CALLS - 1);

    /// The position of the first model call that a context strategy makes before a turn.
    pub const SUMMARY: u32 = u32::MAX;
}
