//! What happens to runs that cannot continue: the table `on` of an agent.

use neuron_types::{OnExpiry, OnHalt, OnLoop, OnUnknownOutcome};

use crate::agent_file::text::table::Table;

const EXPIRIES: [(&str, OnExpiry); 2] = [("deny", OnExpiry::Deny), ("fail", OnExpiry::Fail)];

const UNKNOWN_OUTCOMES: [(&str, OnUnknownOutcome); 2] = [
    ("result", OnUnknownOutcome::TellModel),
    ("ask", OnUnknownOutcome::AskPerson),
];

const HALTS: [(&str, OnHalt); 2] = [("end", OnHalt::End), ("ask", OnHalt::Ask)];

const LOOPS: [(&str, OnLoop); 3] = [
    ("hint", OnLoop::Hint),
    ("ask", OnLoop::Ask),
    ("end", OnLoop::End),
];

#[derive(Debug, Default)]
pub(crate) struct On {
    pub(crate) repeats: OnLoop,
    pub(crate) failure: OnHalt,
    pub(crate) limit: OnHalt,
    pub(crate) expiry: OnExpiry,
    pub(crate) unknown_outcome: OnUnknownOutcome,
}

pub(crate) fn read(agent: &Table<'_>) -> On {
    let Some(table) = agent.table("on") else {
        return On::default();
    };
    table.expect_keys(&["failure", "limit", "expiry", "unknown_outcome", "loop"]);
    On {
        repeats: table.choice("loop", &LOOPS).unwrap_or_default(),
        failure: table.choice("failure", &HALTS).unwrap_or_default(),
        limit: table.choice("limit", &HALTS).unwrap_or_default(),
        expiry: table.choice("expiry", &EXPIRIES).unwrap_or_default(),
        unknown_outcome: table
            .choice("unknown_outcome", &UNKNOWN_OUTCOMES)
            .unwrap_or_default(),
    }
}
