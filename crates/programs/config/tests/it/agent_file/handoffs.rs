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
    assert!(problem.contains("names \"billing\" twice"), "{problem}");
}

#[test]
fn are_refused_where_the_name_of_the_other_agent_can_be_in_no_name_of_a_tool() {
    for key in ["handoffs", "subagents"] {
        let problem = |name: &str| {
            let text = format!(
                "[agents.default]\nmodel = \"demo/demo\"\n{key} = [\"{name}\"]\n\
                 [agents.\"{name}\"]\nmodel = \"demo/demo\"\n"
            );
            parse(&text).map(|_| ()).map_err(|error| error.to_string())
        };
        for name in ["a b", "a.b", "a/b", &"n".repeat(53)] {
            let problem = problem(name).unwrap_err();
            assert!(problem.contains("rename it with at most"), "{problem}");
        }
        problem(&"n".repeat(52)).unwrap();
    }
}
