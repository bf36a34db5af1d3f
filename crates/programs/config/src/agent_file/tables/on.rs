//! What becomes of what goes on no further: the table `on` of an agent.

use neuron_types::{OnExpiry, OnUnknownOutcome};

use crate::agent_file::text::table::Table;

const EXPIRIES: [(&str, OnExpiry); 2] = [("deny", OnExpiry::Deny), ("fail", OnExpiry::Fail)];

const UNKNOWN_OUTCOMES: [(&str, OnUnknownOutcome); 2] = [
    ("result", OnUnknownOutcome::TellModel),
    ("ask", OnUnknownOutcome::AskPerson),
];

/// Whether a person is asked.
const ENDS: [(&str, bool); 2] = [("end", false), ("ask", true)];

#[derive(Debug, Default)]
pub(crate) struct On {
    pub(crate) expiry: OnExpiry,
    pub(crate) unknown_outcome: OnUnknownOutcome,
}

pub(crate) fn read(agent: &Table<'_>) -> On {
    let Some(table) = agent.table("on") else {
        return On::default();
    };
    table.expect_keys(&["failure", "limit", "expiry", "unknown_outcome"]);
    for key in ["failure", "limit"] {
        if table.choice(key, &ENDS) == Some(true) {
            let message = "is \"ask\", which is not supported yet: write \"end\"";
            table.problem(key, table.offset_of(key), message);
        }
    }
    On {
        expiry: table.choice("expiry", &EXPIRIES).unwrap_or_default(),
        unknown_outcome: table
            .choice("unknown_outcome", &UNKNOWN_OUTCOMES)
            .unwrap_or_default(),
    }
}
