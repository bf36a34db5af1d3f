//! Runs of agents with many tools: what they load, and what their model calls carry.

use futures::executor::block_on;
use neuron_loop::{Action, AgentLoop, AgentMachine, Observation};
use neuron_types::{
    AgentOrigin, AgentSpec, CompletionRequest, ContentItem, CurrentDefinition, Decision, Effect,
    ExitReason, FIND_TOOLS, Handoff, Lineage, Message, OnHalt, PermissionDecision, RunInput,
    ToolDefinition, ToolEffects, ToolOutput, ToolSearch, UpgradeRequest, Verdict, json_bytes,
};
use serde_json::json;

use crate::{
    door::TestDoor,
    driver::Keep,
    support::{
        agent, at, authorize, calls, calls_of, decide, definition_ended, exit, input, last_results,
        make, model_ended, reread, says, tickets, to_model_call,
    },
};

/// The agent, with 400 tools of servers.
fn many() -> AgentSpec {
    let mut agent = AgentSpec {
        tool_search: Some(ToolSearch::default()),
        ..agent()
    };
    let servers = ["github", "jira"];
    let tools = (0..200).flat_map(|number| {
        servers.map(|server| ToolDefinition {
            name: format!("{server}__tool_{number}"),
            description: format!("Does the {number} of {server}. ").repeat(4),
            input_schema: json!({"type": "object"}),
            ..ToolDefinition::default()
        })
    });
    agent.head_mut().tools.extend(tools);
    agent
}

fn by_provider() -> ToolSearch {
    ToolSearch {
        provider: true,
        ..ToolSearch::default()
    }
}

fn request(machine: &AgentMachine) -> CompletionRequest {
    match machine.next() {
        Action::Start(steps) => match &steps[0].effect {
            Effect::Model(request) => request.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// What the next model call carries beside the agent's five own tools.
fn sent(machine: &mut AgentMachine) -> Vec<String> {
    to_model_call(machine);
    let tools = &request(machine).head.tools;
    let names = tools.iter().skip(5).map(|tool| tool.name.clone());
    names.collect()
}

fn found(names: &[&str]) -> ToolOutput {
    ToolOutput {
        loaded: names.iter().map(|name| (*name).to_owned()).collect(),
        ..ToolOutput::text("found")
    }
}

/// A turn in which the model looks for tools, and this is found.
fn find(machine: &mut AgentMachine, names: &[&str]) {
    turn(machine, FIND_TOOLS, found(names));
}

/// A turn with one call of this tool, which comes to this.
fn turn(machine: &mut AgentMachine, tool: &str, output: ToolOutput) {
    to_model_call(machine);
    model_ended(machine, Ok(calls(&[(tool, json!({"query": "a"}))])), 1);
    authorize(machine, vec![PermissionDecision::Allow]);
    make(machine, vec![Ok(output)], 3);
}

fn begun(agent: AgentSpec) -> AgentMachine {
    AgentMachine::new(input(agent), at(0))
}

#[test]
fn the_first_request_carries_few_tools_and_later_ones_what_was_loaded_in_another_process_too() {
    let mut machine = begun(many());
    assert_eq!(sent(&mut machine), [FIND_TOOLS]);
    let tools = &request(&machine).head.tools;
    assert!(json_bytes(tools).unwrap() <= 8_000);
    find(&mut machine, &["jira__tool_7", "github__tool_3"]);
    let mut machine = reread(&machine);
    let whole = [FIND_TOOLS, "jira__tool_7", "github__tool_3"];
    assert_eq!(sent(&mut machine), whole);
    let tools = &machine.agent().head.tools;
    let loaded = request(&machine).head.tools.last().cloned().unwrap();
    assert!(tools.contains(&loaded), "it is sent as it is defined");
    find(&mut machine, &["github__tool_3", "github__tool_4"]);
    let whole = [
        FIND_TOOLS,
        "jira__tool_7",
        "github__tool_3",
        "github__tool_4",
    ];
    assert_eq!(sent(&mut machine), whole);
}

#[test]
fn to_find_tools_is_a_read_that_the_policy_judges_as_any_call() {
    let mut machine = begun(many());
    to_model_call(&mut machine);
    let asked = calls(&[(FIND_TOOLS, json!({"query": "a"})), ("look", json!({}))]);
    model_ended(&mut machine, Ok(asked), 1);
    let denied = PermissionDecision::Deny("not today".into());
    authorize(&mut machine, vec![PermissionDecision::Allow, denied]);
    let (made, options) = calls_of(machine.next()).unwrap();
    assert_eq!(made.len(), 1);
    assert_eq!(options[0].effects, ToolEffects::ReadOnly);
    make(&mut machine, vec![Ok(found(&["jira__tool_7"]))], 3);
    assert_eq!(sent(&mut machine), [FIND_TOOLS, "jira__tool_7"]);
}

#[test]
fn a_tool_that_is_called_by_its_name_is_made_and_loaded() {
    let mut machine = begun(many());
    turn(&mut machine, "github__tool_9", ToolOutput::text("done"));
    assert_eq!(
        last_results(&machine)[0].content,
        [ContentItem::Text("done".into())]
    );
    assert_eq!(sent(&mut machine), [FIND_TOOLS, "github__tool_9"]);
}

#[test]
fn a_tool_that_a_provider_has_searched_is_loaded_when_it_is_called_and_another_provider_is_sent_it()
{
    let mut agent = many();
    agent.on_failure = OnHalt::Ask;
    agent.tool_search = Some(by_provider());
    agent.head_mut().fallback_models = vec!["other/n".into()];
    let mut machine = begun(agent);
    assert_eq!(sent(&mut machine), [FIND_TOOLS]);
    let searched = request(&machine).head.searched_tools.clone();
    assert_eq!(searched.len(), 400);
    turn(&mut machine, "github__tool_9", ToolOutput::text("done"));
    let mut machine = reread(&machine);
    assert_eq!(sent(&mut machine), [FIND_TOOLS, "github__tool_9"]);
    let head = request(&machine).head;
    assert_eq!(head.searched_tools.len(), 399);
    let is_called = |tool: &ToolDefinition| tool.name == "github__tool_9";
    assert!(!head.searched_tools.iter().any(is_called));
    change_model(&mut machine);
    assert_eq!(sent(&mut machine), [FIND_TOOLS, "github__tool_9"]);
    assert_eq!(request(&machine).head.model, "n");
}

#[test]
fn what_a_provider_may_find_counts_with_each_call_of_a_run_with_a_budget() {
    let mut agent = many();
    agent.tool_search = Some(by_provider());
    agent.limits.tokens = Some(1_000_000);
    let mut machine = begun(agent);
    for tool in ["github__tool_9", "look"] {
        to_model_call(&mut machine);
        let searched = request(&machine).head.searched_tools.clone();
        let least = json_bytes(&searched).unwrap();
        let held = machine.state().budget.held.unwrap();
        let input = held.amount.tokens - held.output;
        assert!(input >= u64::try_from(least).unwrap(), "{input} of {least}");
        turn(&mut machine, tool, ToolOutput::text("done"));
    }
}

#[test]
fn a_tool_that_there_is_not_is_answered_with_those_that_are_sent_and_a_hint() {
    let mut machine = begun(many());
    to_model_call(&mut machine);
    model_ended(&mut machine, Ok(calls(&[("github__none", json!({}))])), 1);
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    let said = "there is no tool \"github__none\": use look, push, cancel, hold, suspend, find_tools; find_tools finds others";
    assert_eq!(
        last_results(&machine)[0].content,
        [ContentItem::Text(said.into())]
    );
    assert_eq!(sent(&mut machine), [FIND_TOOLS]);
}

#[test]
fn where_the_provider_searches_a_tool_that_there_is_not_is_answered_without_ours_that_finds_others()
{
    let mut agent = many();
    agent.tool_search = Some(by_provider());
    let mut machine = begun(agent);
    to_model_call(&mut machine);
    model_ended(&mut machine, Ok(calls(&[("github__none", json!({}))])), 1);
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    let said = "there is no tool \"github__none\": use look, push, cancel, hold, suspend; search the tools for others";
    assert_eq!(
        last_results(&machine)[0].content,
        [ContentItem::Text(said.into())]
    );
}

#[test]
fn an_agent_with_few_tools_has_none_that_finds_others() {
    let few = AgentSpec {
        tool_search: Some(ToolSearch::default()),
        ..agent()
    };
    let mut machine = begun(few);
    to_model_call(&mut machine);
    model_ended(&mut machine, Ok(calls(&[(FIND_TOOLS, json!({}))])), 1);
    authorize(&mut machine, vec![PermissionDecision::Allow]);
    let said = "there is no tool \"find_tools\": use look, push, cancel, hold, suspend";
    assert_eq!(
        last_results(&machine)[0].content,
        [ContentItem::Text(said.into())]
    );
}

#[test]
fn nothing_is_loaded_by_another_tool_or_an_error_nor_what_the_run_does_not_have() {
    let mut machine = begun(many());
    turn(&mut machine, "look", found(&["jira__tool_7"]));
    let failed = ToolOutput {
        is_error: true,
        ..found(&["jira__tool_8"])
    };
    turn(&mut machine, FIND_TOOLS, failed);
    find(&mut machine, &["jira__gone", "jira__tool_9", "look"]);
    let note = ContentItem::Text("[not in this run: jira__gone]".into());
    assert_eq!(last_results(&machine)[0].content[1], note);
    assert_eq!(sent(&mut machine), [FIND_TOOLS, "jira__tool_9"]);
}

/// The model fails, and a person chooses the other one.
fn change_model(machine: &mut AgentMachine) {
    to_model_call(machine);
    let failure = neuron_types::StepFailure::new(neuron_types::FailureKind::Unavailable, "no key");
    model_ended(machine, Err(failure), 4);
    let ticket = tickets(machine).remove(0);
    let other = ticket
        .choices
        .iter()
        .find(|choice| choice.contains("other/n"));
    let decision = Decision {
        choice: Some(other.unwrap().clone()),
        ..Decision::of(&ticket, Verdict::Choose)
    };
    decide(machine, decision, 5);
}

#[test]
fn what_was_loaded_stays_with_another_model() {
    let mut agent = AgentSpec {
        on_failure: OnHalt::Ask,
        ..many()
    };
    agent.head_mut().fallback_models = vec!["other/n".into()];
    let mut machine = begun(agent);
    find(&mut machine, &["jira__tool_7"]);
    change_model(&mut machine);
    assert_eq!(sent(&mut machine), [FIND_TOOLS, "jira__tool_7"]);
    assert_eq!(request(&machine).head.model, "n");
}

#[test]
fn what_was_loaded_stays_with_another_definition_as_far_as_that_has_it() {
    let start = RunInput {
        origin: Some(AgentOrigin::default()),
        ..input(many())
    };
    let mut machine = AgentMachine::new(start, at(0)).with_lineage(Lineage::default());
    find(&mut machine, &["jira__tool_7", "github__tool_3"]);
    let wish = Observation::UpgradeArrived(UpgradeRequest::default());
    machine.feed(wish, at(4)).unwrap();
    machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
    let mut newer = many();
    let tools = &mut newer.head_mut().tools;
    tools.retain(|tool| tool.name != "jira__tool_7");
    let here = CurrentDefinition::Here(Box::new(newer));
    definition_ended(&mut machine, Ok(here), 5);
    assert_eq!(sent(&mut machine), [FIND_TOOLS, "github__tool_3"]);
}

#[test]
fn another_agent_of_the_run_has_loaded_nothing_and_the_first_has_its_own_again() {
    let with = |name: &str, to: &str| {
        let handoff = Handoff::new(to);
        let mut agent = AgentSpec {
            name: name.into(),
            ..many()
        };
        agent.head_mut().tools.push(handoff.definition());
        agent.handoffs = vec![handoff];
        agent
    };
    let (one, two) = (with("one", "two"), with("two", "one"));
    let start = RunInput {
        origin: Some(AgentOrigin::default()),
        ..input(one.clone())
    };
    let mut machine = AgentMachine::new(start, at(0));
    let searched = |machine: &mut AgentMachine| sent(machine).split_off(1);
    find(&mut machine, &["jira__tool_7"]);
    assert_eq!(searched(&mut machine), [FIND_TOOLS, "jira__tool_7"]);
    hand_over(&mut machine, "transfer_to_two", two);
    assert_eq!(searched(&mut machine), [FIND_TOOLS]);
    find(&mut machine, &["jira__tool_8"]);
    assert_eq!(searched(&mut machine), [FIND_TOOLS, "jira__tool_8"]);
    hand_over(&mut machine, "transfer_to_one", one);
    assert_eq!(searched(&mut machine), [FIND_TOOLS, "jira__tool_7"]);
}

fn hand_over(machine: &mut AgentMachine, tool: &str, to: AgentSpec) {
    to_model_call(machine);
    model_ended(machine, Ok(calls(&[(tool, json!({"reason": ""}))])), 6);
    authorize(machine, vec![PermissionDecision::Allow]);
    machine.feed(Observation::Messages(vec![]), at(6)).unwrap();
    let here = CurrentDefinition::Here(Box::new(to));
    definition_ended(machine, Ok(here), 7);
}

#[test]
fn the_size_of_the_next_request_counts_what_was_loaded_once() {
    let mut machine = begun(many());
    assert_eq!(machine.uncounted_tools(), None);
    find(&mut machine, &["jira__tool_7", "github__tool_3"]);
    let counted = machine.uncounted_tools().unwrap().text();
    assert!(counted.contains("Does the 7 of jira.") && counted.contains("Does the 3 of github."));
    assert_eq!(machine.state().context.reported.tools_since, 2);
    machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
    let kept = Observation::ContextKept {
        tokens: 100,
        estimated: 90,
    };
    machine.feed(kept, at(4)).unwrap();
    assert_eq!(machine.uncounted_tools(), None);
    assert_eq!(machine.state().context.reported.tools_since, 2);
    model_ended(&mut machine, Ok(says("done")), 5);
    assert_eq!(machine.state().context.reported.tools_since, 0);
}

#[test]
fn a_run_that_is_complete_with_its_first_result_is_not_with_what_it_found() {
    let agent = AgentSpec {
        stop_on_first_tool: true,
        ..many()
    };
    let mut machine = begun(agent);
    find(&mut machine, &["jira__tool_7"]);
    turn(&mut machine, "jira__tool_7", ToolOutput::text("done"));
    machine.feed(Observation::Messages(vec![]), at(4)).unwrap();
    assert_eq!(exit(&machine), ExitReason::Complete);
    assert_eq!(machine.state().last_text.as_deref(), Some("done"));
}

#[test]
fn a_run_counts_the_tools_that_it_is_sent_before_its_next_call() {
    let answers = vec![calls(&[("github__tool_9", json!({}))]), says("done")];
    let mut run = AgentLoop::new(TestDoor::new(answers), Keep, input(many()));
    block_on(run.run()).unwrap();
    let last = run.machine().messages().last().map(Message::text);
    assert_eq!(last.as_deref(), Some("done"));
    assert_eq!(run.machine().uncounted_tools(), None);
    let agent = run.machine().agent();
    assert_eq!(
        run.machine().state().loaded.of(&agent.name),
        ["github__tool_9"]
    );
}
