use neuron_types::{HandedConversation, Handoff};

use super::parse;

const FILE: &str = r#"
[agents.support]
model = "demo/demo"
handoffs = ["billing", { name = "repairs", conversation = "last" }]
deny = ["transfer_to_repairs"]

[agents.billing]
model = "demo/demo"
description = "Knows the invoices."
handoffs = [{ name = "support", conversation = "summary" }]

[agents.repairs]
model = "demo/demo"
"#;

#[test]
fn are_names_or_tables_that_say_what_the_other_agent_sees() {
    let file = parse(FILE).unwrap();
    let support = file.definition("support").unwrap();
    let billing = Handoff {
        description: "Knows the invoices.".into(),
        ..Handoff::new("billing")
    };
    let repairs = Handoff {
        conversation: HandedConversation::Last,
        ..Handoff::new("repairs")
    };
    assert_eq!(support.handoffs, [billing.clone(), repairs.clone()]);
    assert_eq!(
        support.head.tools,
        [billing.definition(), repairs.definition()]
    );
    let back = &file.definition("billing").unwrap().handoffs;
    assert_eq!(back[0].conversation, HandedConversation::Summary);
}

#[test]
fn are_refused_where_they_name_an_agent_twice() {
    let text = FILE.replace("[\"billing\",", "[\"billing\", \"billing\",");
    let problem = parse(&text).unwrap_err().to_string();
    assert!(problem.contains("names an agent twice"), "{problem}");
}
