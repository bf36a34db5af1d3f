//! The ids of updates that carry decisions.

use neuron_types::{Decision, RunId};
use uuid::Uuid;

/// The UUID namespace of update ids.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f0c_9b55_1a83_4f0e_9d07_2c4e_b1a6_53d8);

/// Returns the id of the update that carries a decision. The same decision has the same id: an update that is repeated
/// because no answer came reaches the run once.
pub(crate) fn update_id(run_id: &RunId, decision: &Decision) -> Result<String, serde_json::Error> {
    let named = serde_json::to_vec(&(run_id, decision))?;
    Ok(format!("decision-{}", Uuid::new_v5(&NAMESPACE, &named)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run_id() -> RunId {
        RunId::new("r1").unwrap()
    }

    fn decision(ticket: &str) -> Decision {
        serde_json::from_value(json!({"ticket": ticket, "digest": "d", "verdict": "approve"}))
            .unwrap()
    }

    #[test]
    fn the_same_decision_has_the_same_update_id_and_any_other_another() {
        let id = |decision: &Decision| update_id(&run_id(), decision).unwrap();
        let one = decision("t1");
        let commented = Decision {
            comment: Some("yes".into()),
            ..one.clone()
        };
        assert_eq!(id(&one), id(&one.clone()));
        assert_ne!(id(&one), id(&commented));
        assert_ne!(id(&one), id(&decision("t2")));
        let elsewhere = update_id(&RunId::new("r2").unwrap(), &one).unwrap();
        assert_ne!(id(&one), elsewhere);
    }
}
