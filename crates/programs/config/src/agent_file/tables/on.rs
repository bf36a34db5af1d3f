//! What happens to runs that cannot continue: the table `on` of an agent.

use neuron_types::{OnExpiry, OnHalt, OnLoop, OnUnknownOutcome};

use crate::agent_file::text::{
    keys::keys,
    kinds::{Choice, words},
};

words!(OnExpiry: "deny" => Self::Deny, "fail" => Self::Fail);
words!(OnUnknownOutcome: "result" => Self::TellModel, "ask" => Self::AskPerson);
words!(OnHalt: "end" => Self::End, "ask" => Self::Ask);
words!(OnLoop: "hint" => Self::Hint, "ask" => Self::Ask, "end" => Self::End);

keys! {
    pub(crate) struct OnKeys {
        /// What happens when a model call fails for good: the run ends, or a person is asked.
        failure: Choice<OnHalt> = "end",
        /// What happens when one of the limits is reached: the run ends, or a person is asked.
        limit: Choice<OnHalt> = "end",
        /// What happens to a call whose ticket lapsed: the model reads that no person decided, or the run fails.
        expiry: Choice<OnExpiry> = "deny",
        /// What happens to a write whose outcome is unknown: see Concepts.
        unknown_outcome: Choice<OnUnknownOutcome> = "result",
        /// What happens when a call has had the same result twice as often as `max_repeats` sets: see Runs that repeat
        /// themselves.
        r#loop: Choice<OnLoop> = "hint",
    }
}
