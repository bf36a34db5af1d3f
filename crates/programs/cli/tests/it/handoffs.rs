//! Runs that are handed over to another agent of the agent file.

use serde_json::json;

use crate::support::Home;

#[test]
fn a_run_here_goes_on_as_the_agent_that_it_is_handed_over_to() {
    let home = Home::new();
    home.write(
        "neuron.toml",
        r#"
[providers.front]
kind = "script"
file = "front.json"

[providers.billing]
kind = "script"
file = "billing.json"

[agents.default]
model = "front/script"
handoffs = ["billing"]

[agents.billing]
model = "billing/script"
tools = ["bash"]
"#,
    );
    let transfers = json!({"turns": [
        {"tool_calls": [{"name": "transfer_to_billing", "input": {"reason": "An invoice."}}]},
    ]});
    // The first answer is that of the other model.
    let pays = json!({"turns": [
        {"text": "never said"},
        {"tool_calls": [{"name": "bash", "input": {"command": "echo paid >> paid"}}]},
        {"text": "It is paid."},
    ]});
    home.write("front.json", &transfers.to_string());
    home.write("billing.json", &pays.to_string());
    home.neuron(&["run", "--id", "r1", "Pay it."])
        .exits(0)
        .prints("It is paid.\n");
    assert_eq!(home.read("paid"), "paid\n");
    let status = home.status("r1");
    assert_eq!(status["agent"], "billing");
    assert_eq!(status["began_as"], "default");
    let events = home.neuron(&["events", "r1"]).exits(0).stdout;
    assert!(
        events.contains("handed over by default to billing: An invoice."),
        "{events}"
    );
    let shown = home.neuron(&["show", "r1"]).exits(0).stdout;
    assert!(!shown.contains("not complete"), "{shown}");
    assert!(
        shown.contains("The conversation goes to the agent billing: An invoice."),
        "{shown}"
    );
}
