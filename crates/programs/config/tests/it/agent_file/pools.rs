use neuron_types::{Allowance, SubAgent};
use rust_decimal::Decimal;

use super::parse;

const FILE: &str = r#"
[pools.research]
cost_usd = 20

[pools.tests]
tokens = 1_000_000

[agents.lead]
model = "demo/demo"
subagents = ["explorer", "writer"]

[agents.explorer]
model = "demo/demo"
subagents = ["reader"]
handoffs = ["tester"]

[agents.reader]
model = "openai/gpt-6.1-terra"
pool = "research"

[agents.tester]
model = "demo/demo"
pool = "tests"
subagents = ["explorer"]

[agents.writer]
model = "demo/demo"
"#;

#[test]
fn are_had_by_every_agent_whose_trees_use_them() {
    let file = parse(FILE).unwrap();
    let research = Allowance {
        tokens: None,
        cost_usd: Some(Decimal::from(20)),
    };
    let tests = Allowance {
        tokens: Some(1_000_000),
        cost_usd: None,
    };
    let both = [
        ("research".to_owned(), research),
        ("tests".to_owned(), tests),
    ];
    for name in ["lead", "explorer", "tester"] {
        let agent = file.definition(name).unwrap();
        assert_eq!(agent.pools, both.clone().into(), "{name}");
    }
    let reader = file.definition("reader").unwrap();
    assert_eq!(reader.pool.as_deref(), Some("research"));
    assert_eq!(reader.pools, [both[0].clone()].into());
    let writer = file.definition("writer").unwrap();
    assert!(writer.pool.is_none() && writer.pools.is_empty());
}

#[test]
fn are_named_where_an_agent_may_start_those_that_use_them() {
    let file = parse(FILE).unwrap();
    let lead = file.definition("lead").unwrap();
    let used: Vec<(&str, Vec<&str>)> = lead.subagents.iter().map(used_by).collect();
    let both = vec!["research", "tests"];
    assert_eq!(used, [("explorer", both), ("writer", vec![])]);
}

fn used_by(subagent: &SubAgent) -> (&str, Vec<&str>) {
    let pools = subagent.pools.iter().map(String::as_str);
    (&subagent.name, pools.collect())
}

#[test]
fn are_refused_where_they_hold_nothing_or_are_not_there_or_cannot_be_kept() {
    let problem = |from: &str, to: &str| {
        assert!(FILE.contains(from), "{from}");
        parse(&FILE.replace(from, to)).unwrap_err().to_string()
    };
    let none = problem("cost_usd = 20", "");
    assert!(
        none.contains("[pools.research]") && none.contains("cost_usd"),
        "{none}"
    );
    let unknown = problem("pool = \"tests\"", "pool = \"test\"");
    assert!(
        unknown.contains("\"test\"") && unknown.contains("tests"),
        "{unknown}"
    );
    let price = problem("gpt-6.1-terra", "gpt-nobody");
    assert!(price.contains("pool in [agents.reader]"), "{price}");
    assert!(
        price.contains("price of openai/gpt-nobody is not known"),
        "{price}"
    );
    let other = problem("cost_usd = 20", "cost_usd = 20\nturns = 5");
    assert!(other.contains("turns"), "{other}");
}
