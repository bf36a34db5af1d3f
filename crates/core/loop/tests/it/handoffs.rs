//! Runs that are handed over to another agent.

use futures::executor::block_on;
use neuron_loop::{AgentLoop, AgentMachine};
use neuron_types::{
    AgentOrigin, AgentSpec, ApprovalRules, AskRule, Bounds, CompletionRequest, CompletionResponse,
    ContentBlock, ContentItem, ContextError, ContextPolicy, ContextRule, ContextStrategy, Decision,
    ExitReason, HandedConversation, Handoff, LimitOverrides, Limits, Message, ModelHandle,
    Overrides, Parent, RequestHead, RunEvent, RunId, RunInput, SystemPrompt,
};
use serde_json::json;
use uuid::Uuid;

use crate::{
    door::TestDoor,
    driver::Keep,
    support::{agent, calls, input, one_call, says},
};

/// The agent, which may hand its runs over to `billing`.
fn support(conversation: HandedConversation) -> AgentSpec {
    let handoff = Handoff {
        conversation,
        ..Handoff::new("billing")
    };
    let mut agent = AgentSpec {
        name: "support".into(),
        ..agent()
    };
    agent.head_mut().tools.push(handoff.definition());
    agent.handoffs = vec![handoff];
    agent
}

fn whole() -> AgentSpec {
    support(HandedConversation::Whole)
}

/// Another model with instructions and rules of its own.
fn billing() -> AgentSpec {
    let mut agent = AgentSpec {
        name: "billing".into(),
        approvals: ApprovalRules {
            deny: vec!["push".into()],
            ..ApprovalRules::default()
        },
        ..agent()
    };
    let head = agent.head_mut();
    head.system = Some(SystemPrompt::Text("You know the invoices.".into()));
    head.model = "n".into();
    head.tools.retain(|tool| tool.name != "hold");
    agent
}

fn transfer() -> (&'static str, serde_json::Value) {
    (
        "transfer_to_billing",
        json!({"reason": "It is about an invoice."}),
    )
}

fn transfers() -> CompletionResponse {
    calls(&[transfer()])
}

/// Executes a run for which this is the definition of another agent, and returns the door that it went through.
fn ran(
    input: RunInput,
    other: Option<AgentSpec>,
    answers: Vec<CompletionResponse>,
) -> (TestDoor, AgentMachine) {
    let door = TestDoor::new(answers);
    if let Some(other) = other {
        door.define(other);
    }
    let mut run = AgentLoop::new(door.clone(), Keep, input);
    block_on(run.run()).unwrap();
    let machine = run.machine().clone();
    (door, machine)
}

fn handed(door: &TestDoor) -> Vec<(String, String, String)> {
    let events = door.events();
    let handed = events.iter().filter_map(|event| match event {
        RunEvent::HandedOver {
            from, to, reason, ..
        } => Some((from.clone(), to.clone(), reason.clone())),
        _ => None,
    });
    handed.collect()
}

/// Returns what the model reads in its n-th call, counted from 1.
fn told(door: &TestDoor, call: usize) -> Vec<String> {
    let (request, _) = door.requests()[call - 1].clone();
    request.messages.iter().map(text_of).collect()
}

fn text_of(message: &Message) -> String {
    let blocks = message.content.iter().map(|block| match block {
        ContentBlock::ToolUse { name, .. } => format!("calls {name}"),
        ContentBlock::ToolResult(result) => {
            let texts = result.content.iter().filter_map(|item| match item {
                ContentItem::Text(text) => Some(text.as_str()),
                _ => None,
            });
            format!("{} returns: {}", result.name, texts.collect::<String>())
        }
        _ => message.text(),
    });
    blocks.collect::<Vec<_>>().join("; ")
}

/// Has a model summarise all but the first message where the policy asks for it, and keeps everything else.
#[derive(Default)]
struct AsTold(ContextPolicy);

impl ContextStrategy for AsTold {
    fn should_compact(&self, _messages: &[Message], _token_count: u64) -> bool {
        false
    }

    async fn compact<M: ModelHandle>(
        &self,
        messages: Vec<Message>,
        model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        let rule = ContextRule::Summarize {
            keep: 0,
            model: None,
            summary_prompt: None,
        };
        assert_eq!(self.0.rules, [rule]);
        let request = CompletionRequest::new(RequestHead::default(), messages.clone());
        let summary = model.complete(request).await?;
        let first = messages.into_iter().next().unwrap();
        Ok(vec![first, Message::user(summary.message.text())])
    }

    fn token_estimate(&self, messages: &[Message]) -> u64 {
        messages.len() as u64
    }

    fn adopt(&mut self, policy: &ContextPolicy) {
        self.0 = policy.clone();
    }
}

#[test]
fn a_run_goes_on_as_another_agent_with_the_whole_conversation() {
    let answers = vec![transfers(), one_call("push"), says("done")];
    let (door, machine) = ran(input(whole()), Some(billing()), answers);
    let requests = door.requests();
    let models: Vec<&str> = requests.iter().map(|(it, _)| it.model.as_str()).collect();
    assert_eq!(models, ["m", "n", "n"]);
    assert_eq!(
        told(&door, 2),
        [
            "do it",
            "calls transfer_to_billing",
            "transfer_to_billing returns: The conversation goes to the agent billing: It is about an invoice."
        ]
    );
    // The calls are judged by the rules of the other agent.
    assert_eq!(
        told(&door, 3).last().unwrap(),
        "push returns: denied: the agent may not call push"
    );
    let reason = "It is about an invoice.".to_owned();
    assert_eq!(
        handed(&door),
        [("support".to_owned(), "billing".to_owned(), reason)]
    );
    let state = machine.state();
    assert_eq!(state.definition, billing().fingerprint());
    assert_eq!((state.turn, state.tool_calls), (3, 1));
    let output = machine.output(&RunId::new("r").unwrap(), "test");
    assert_eq!(output.agent, "billing");
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
}

#[test]
fn another_provider_can_see_which_model_gave_the_answers_before_it() {
    let mut first = transfers();
    let search = ContentBlock::Other(json!({"type": "tool_search_call"}));
    first.message.content.insert(0, search);
    let authors = |provider: &str| {
        let mut other = billing();
        other.head_mut().provider = Some(provider.into());
        let answers = vec![first.clone(), says("done")];
        let (door, _) = ran(input(whole()), Some(other), answers);
        let (request, _) = door.requests()[1].clone();
        let authors = request.messages.iter().map(Message::answered_by);
        let authors = authors.map(|author| author.map(ToOwned::to_owned));
        authors.collect::<Vec<_>>()
    };
    assert_eq!(authors("other"), [None, Some("test/m".into()), None]);
    assert_eq!(authors("test"), [None, None, None]);
}

#[test]
fn the_steps_after_it_are_those_of_the_other_agent() {
    let answers = vec![
        one_call("look"),
        transfers(),
        one_call("look"),
        says("done"),
    ];
    let (door, _) = ran(input(whole()), Some(billing()), answers);
    let agents: Vec<_> = door
        .requests()
        .iter()
        .map(|(_, options)| options.agent.clone())
        .collect();
    let billing = Some("billing".to_owned());
    assert_eq!(agents, [None, None, billing.clone(), billing]);
}

#[test]
fn the_other_calls_of_the_answer_are_finished_first() {
    let answer = calls(&[transfer(), ("look", json!({}))]);
    let (door, _) = ran(input(whole()), Some(billing()), vec![answer, says("done")]);
    let last = told(&door, 2).pop().unwrap();
    assert!(
        last.contains("transfer_to_billing returns: The conversation goes"),
        "{last}"
    );
    assert!(last.contains("look returns: "), "{last}");
    assert_eq!(handed(&door).len(), 1);
}

#[test]
fn of_two_transfers_the_first_counts() {
    let mut agent = whole();
    let sales = Handoff::new("sales");
    agent.head_mut().tools.push(sales.definition());
    agent.handoffs.push(sales);
    let answer = calls(&[transfer(), ("transfer_to_sales", json!({}))]);
    let (door, _) = ran(input(agent), Some(billing()), vec![answer, says("done")]);
    let last = told(&door, 2).pop().unwrap();
    assert!(
        last.contains(
            "transfer_to_sales returns: not handed over: the conversation goes to the agent billing"
        ),
        "{last}"
    );
    assert_eq!(handed(&door)[0].1, "billing");
}

#[test]
fn a_run_goes_on_as_it_was_where_there_is_no_such_agent() {
    let workflow = AgentSpec {
        team: Some(vec![]),
        ..billing()
    };
    let typed = AgentSpec {
        input: Some(json!({"type": "object"})),
        ..billing()
    };
    let cases = [
        (None, "nobody has it"),
        (Some(workflow), "billing is a workflow now, and no agent"),
        (
            Some(typed),
            "its runs are given a value of a form, and no conversation",
        ),
    ];
    for (other, why) in cases {
        let (door, machine) = ran(input(whole()), other, vec![transfers(), says("done")]);
        assert_eq!(
            told(&door, 2).pop().unwrap(),
            format!(
                "The conversation was not handed over to the agent billing: {why}. Go on with it yourself."
            )
        );
        assert_eq!(machine.agent(), &whole());
        assert_eq!(handed(&door), []);
    }
}

#[test]
fn rules_deny_a_transfer_and_ask_about_it() {
    let mut denied = whole();
    denied.approvals.deny = vec!["transfer_to_billing".into()];
    let (door, _) = ran(
        input(denied),
        Some(billing()),
        vec![transfers(), says("done")],
    );
    assert_eq!(handed(&door), []);
    let last = told(&door, 2).pop().unwrap();
    assert!(last.contains("denied"), "{last}");

    let mut asked = whole();
    asked.approvals.approve = vec![AskRule::new("transfer_to_billing")];
    let door = TestDoor::new(vec![transfers(), says("done")]);
    door.define(billing());
    let mut run = AgentLoop::new(door.clone(), Keep, input(asked));
    block_on(run.run()).unwrap_err();
    let ticket = run.machine().state().tickets[0].ticket.clone();
    assert_eq!(handed(&door), []);
    door.signal("decision", json!(Decision::approve(&ticket)));
    block_on(run.run()).unwrap();
    assert_eq!(handed(&door).len(), 1);
}

#[test]
fn the_other_agent_reads_the_last_message_only() {
    let agent = support(HandedConversation::Last);
    let (door, _) = ran(
        input(agent),
        Some(billing()),
        vec![one_call("look"), transfers(), says("done")],
    );
    assert_eq!(
        told(&door, 3),
        [
            "do it",
            "The agent support handed the conversation over: It is about an invoice."
        ]
    );
}

#[test]
fn the_model_that_hands_over_summarises_for_the_other_agent() {
    let agent = support(HandedConversation::Summary);
    let mut long = one_call("look");
    long.message
        .content
        .insert(0, ContentBlock::Text("I look. ".repeat(200)));
    let door = TestDoor::new(vec![
        long,
        transfers(),
        says("They ask of 42."),
        says("done"),
    ]);
    door.define(billing());
    let mut run = AgentLoop::new(door.clone(), AsTold::default(), input(agent));
    block_on(run.run()).unwrap();
    let requests = door.requests();
    let models: Vec<&str> = requests.iter().map(|(it, _)| it.model.as_str()).collect();
    assert_eq!(models, ["m", "m", "m", "n"]);
    assert_eq!(requests[2].1.agent, None);
    let told = told(&door, 4);
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0], "do it");
    assert!(told[1].ends_with("They ask of 42."), "{told:?}");
    assert!(told[2].starts_with("The agent support handed"), "{told:?}");
    assert!(run.machine().state().handover.is_none());
}

#[test]
fn what_cannot_be_summarised_stays_whole() {
    let agent = support(HandedConversation::Summary);
    let (door, machine) = ran(
        input(agent),
        Some(billing()),
        vec![transfers(), says("done")],
    );
    assert_eq!(told(&door, 2).len(), 4);
    assert_eq!(machine.agent().name, "billing");
}

#[test]
fn limits_are_those_of_the_run() {
    let limited = |turns, agent: AgentSpec| AgentSpec {
        limits: Limits {
            turns,
            ..Limits::default()
        },
        ..agent
    };
    let cases = [
        (Some(5), Some(50), Some(5)),
        (Some(50), Some(5), Some(5)),
        (Some(5), None, Some(5)),
        (None, Some(5), Some(5)),
    ];
    for (own, other, wanted) in cases {
        let (_, machine) = ran(
            input(limited(own, whole())),
            Some(limited(other, billing())),
            vec![transfers(), says("done")],
        );
        assert_eq!(machine.agent().limits.turns, wanted);
    }
}

#[test]
fn transfers_there_and_back_end_with_the_turns() {
    let mut agent = whole();
    agent.limits.turns = Some(3);
    let mut back = billing();
    let handoff = Handoff::new("billing");
    back.head_mut().tools.push(handoff.definition());
    back.handoffs = vec![handoff];
    let door = TestDoor::new(vec![transfers(), transfers(), transfers()]);
    door.define(back);
    let mut run = AgentLoop::new(door, Keep, input(agent));
    let output = block_on(run.run()).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::MaxTurns));
    assert_eq!(output.turns, 3);
}

#[test]
fn what_the_caller_narrowed_holds_and_what_they_set_of_the_first_agent_does_not() {
    let mut input = input(whole());
    input.origin = Some(AgentOrigin {
        overrides: Overrides {
            limits: LimitOverrides {
                turns: Some(7),
                ..LimitOverrides::default()
            },
            tools: Some(vec!["look".into(), "transfer_to_billing".into()]),
            ask: vec!["look".into()],
            deny: vec!["cancel".into()],
            allow: vec!["push".into()],
            model: Some("test/cheap".into()),
            instructions: Some("Be brief.".into()),
        },
        ..AgentOrigin::default()
    });
    let (_, machine) = ran(input, Some(billing()), vec![transfers(), says("done")]);
    let agent = machine.agent();
    let tools: Vec<&str> = agent.head.tools.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(tools, ["look"]);
    assert_eq!(agent.caller_rules.ask, ["look"]);
    assert_eq!(agent.caller_rules.deny, ["cancel"]);
    assert!(agent.caller_rules.allow.is_empty());
    assert_eq!(agent.head.model, "n");
    assert_eq!(agent.head.system, billing().head.system);
}

#[test]
fn a_run_that_another_one_started_does_no_more_than_that_one_lets_it() {
    let bounds = Bounds {
        tools: ["look".to_owned()].into(),
        approvals: ApprovalRules {
            approve: vec![AskRule::new("look")],
            ..ApprovalRules::default()
        },
        ..Bounds::default()
    };
    let run = RunId::new("above").unwrap();
    let parent = Parent {
        root: run.clone(),
        run,
        key: Uuid::from_u128(1),
        levels: 0,
        bounds: vec![bounds.clone()],
        signed: true,
        lease: None,
    };
    let mut input = input(parent.attenuate(&whole()));
    assert!(input.agent.handoff("transfer_to_billing").is_some());
    input.parent = Some(Box::new(parent));
    let (_, machine) = ran(input, Some(billing()), vec![transfers(), says("done")]);
    let agent = machine.agent();
    let tools: Vec<&str> = agent.head.tools.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(tools, ["look"]);
    assert_eq!(agent.bounds, [bounds]);
    assert_eq!(agent.max_depth, 0);
    assert!(machine.state().lineage.signed);
}
