//! Agents that others may start do not work in wider places than theirs.

use super::parse;

/// Returns a file with a lead that may start a helper, with these further lines in their tables.
fn file(lead: &str, helper: &str) -> String {
    format!(
        "[agents.lead]\nmodel = \"demo/demo\"\nsubagents = [\n  \"helper\",\n]\n{lead}\n\
         [agents.helper]\nmodel = \"demo/demo\"\n{helper}\n"
    )
}

#[test]
fn a_helper_in_a_wider_place_is_a_problem_at_its_name_in_the_list() {
    let problem = |lead: &str, helper: &str| {
        let error = parse(&file(lead, helper)).expect_err(helper);
        error.to_string()
    };
    let told = problem("sandbox = \"read-only\"", "sandbox = \"off\"");
    assert_eq!(
        told,
        "neuron.toml:4: subagents in [agents.lead] names an agent that works in a wider place: sandbox confines less in \
         [agents.helper] than in [agents.lead]; write sandbox = \"read-only\" in [agents.helper]"
    );
    let told = problem("", "allow_outside_cwd = true");
    assert!(
        told.contains("write allow_outside_cwd = false in [agents.helper]"),
        "{told}"
    );
    for (key, lead, helper) in [
        ("write", "sandbox = \"read-only\"", ""),
        ("read", "", "sandbox = { read = [\"~/data\"] }"),
        ("network", "", "sandbox = { network = true }"),
        ("memory", "sandbox = { memory = \"1GiB\" }", ""),
        (
            "processes",
            "sandbox = { processes = 5 }",
            "sandbox = { processes = 6 }",
        ),
    ] {
        let told = problem(lead, helper);
        assert!(
            told.contains(&format!(
                "{key} of the sandbox allows more in [agents.helper]"
            )),
            "{told}"
        );
    }
}

#[test]
fn a_helper_in_a_place_that_is_no_wider_is_taken() {
    for (lead, helper) in [
        ("", ""),
        ("", "sandbox = \"read-only\""),
        ("sandbox = \"off\"", "sandbox = { network = true }"),
        (
            "sandbox = { network = true, read = [\"~/data\"] }",
            "sandbox = { read = [\"~/data\"], write = [] }",
        ),
        ("allow_outside_cwd = true", ""),
        (
            "sandbox = { memory = \"2GiB\" }",
            "sandbox = { memory = \"1GiB\" }",
        ),
    ] {
        let file = file(lead, helper);
        assert!(parse(&file).is_ok(), "{file}");
    }
}

#[test]
fn what_defaults_say_of_helpers_and_places_counts_for_each_agent() {
    let text = "[defaults]\nmodel = \"demo/demo\"\nsandbox = \"read-only\"\nsubagents = [\"b\"]\n\
                [agents.a]\n[agents.b]\nsubagents = []\n";
    assert!(parse(text).is_ok());
    let wider = format!("{text}sandbox = \"workspace\"\n");
    let told = parse(&wider).expect_err("wider").to_string();
    assert!(
        told.contains("write of the sandbox allows more in [agents.b] than in [agents.a]"),
        "{told}"
    );
}

#[test]
fn each_agent_on_the_way_to_a_wider_one_is_looked_at() {
    // The lead lists no agent that is wider, and the one that it lists does.
    let text = "[agents.lead]\nmodel = \"demo/demo\"\nsandbox = \"read-only\"\nsubagents = [\"between\"]\n\
                [agents.between]\nmodel = \"demo/demo\"\nsandbox = \"read-only\"\nsubagents = [{ name = \"deep\" }]\n\
                [agents.deep]\nmodel = \"demo/demo\"\nsandbox = \"off\"\n";
    let told = parse(text).expect_err("deep").to_string();
    assert!(
        told.starts_with("neuron.toml:8: subagents in [agents.between]"),
        "{told}"
    );
    assert!(told.contains("[agents.deep]"), "{told}");
}

#[test]
fn a_run_is_handed_over_to_no_wider_place() {
    let file = file("sandbox = \"read-only\"", "sandbox = \"off\"");
    let error = parse(&file.replace("subagents", "handoffs")).unwrap_err();
    let told = error.to_string();
    let named = "handoffs in [agents.lead] names an agent that works in a wider place";
    assert!(told.contains(named), "{told}");
}
