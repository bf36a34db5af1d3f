//! Agents that start others and hand over to them, without an agent file.

use neuron::{
    AgentBuilder, AgentError, HandoffEntry, Model, SubAgentEntry, TurnResult,
    prelude::*,
    workflow::{Door, DurableContext, Served as _, WorkflowError},
};
use neuron_config::ScriptModel;
use neuron_patience::patience;
use neuron_types::{HandedConversation, RunPhase};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::mind::Mind;

fn agent(name: &str, turns: &Value) -> AgentBuilder {
    let script = json!({ "turns": turns }).to_string();
    let script = ScriptModel::parse(&script).unwrap();
    Agent::builder(name).model(Model::of(script, "script"))
}

fn calls(tool: &str, input: &Value) -> Value {
    json!({"tool_calls": [{"name": tool, "input": input}]})
}

fn explorer() -> AgentBuilder {
    agent("explorer", &json!([{"text": "It is in the cellar."}])).description("Finds things.")
}

/// Returns an agent that has something found, and reports it.
fn lead(explorer: impl Into<SubAgentEntry>) -> AgentBuilder {
    let asks = calls("agent_explorer", &json!({"prompt": "Find it."}));
    agent("lead", &json!([asks, {"text": "Found."}])).subagents([explorer])
}

/// Returns an agent that hands its run over at once.
fn desk(billing: impl Into<HandoffEntry>) -> AgentBuilder {
    let hands_over = calls("transfer_to_billing", &json!({"reason": "A bill."}));
    agent("desk", &json!([hands_over])).handoffs([billing])
}

fn billing() -> AgentBuilder {
    agent(
        "billing",
        &json!([{"text": "never said"}, {"text": "It is paid."}]),
    )
    .description("Knows the bills.")
}

#[tokio::test]
async fn a_run_in_memory_starts_the_agents_that_its_builder_was_given() {
    let explorer = explorer().build().unwrap();
    let lead = lead(&explorer).build().unwrap();
    let mut run = lead.run_stream("Where is it?").await.unwrap();
    let mut ended = 0;
    while let Some(item) = run.next().await {
        let is_end = matches!(
            item.unwrap(),
            RunItem::Event(event) if matches!(event.event, neuron_types::RunEvent::ChildEnded { .. })
        );
        ended += usize::from(is_end);
    }
    assert_eq!(ended, 1);
    assert_eq!(run.result().await.unwrap(), "Found.");
}

/// Returns an agent that asks another, which asks a third.
fn lead_of_a_foreman() -> Agent {
    let explorer = explorer().build().unwrap();
    let asks = calls("agent_explorer", &json!({"prompt": "Find it."}));
    let foreman = agent("foreman", &json!([asks, {"text": "They found it."}]))
        .subagents([SubAgentEntry::new(&explorer)])
        .build()
        .unwrap();
    let asks = calls("agent_foreman", &json!({"prompt": "Have it found."}));
    agent("lead", &json!([asks, {"text": "Found."}]))
        .subagents([&foreman])
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_journaled_run_starts_them_in_runs_of_their_own_at_every_level() {
    let lead = lead_of_a_foreman();
    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let run = lead.on(&local).start("r1", "Where is it?").await.unwrap();
    assert_eq!(run.result().await.unwrap(), "Found.");
    let client = local.client().unwrap();
    for (run, agent) in [("r1.1-1", "foreman"), ("r1.1-1.1-1", "explorer")] {
        let status = client.status(&run.parse().unwrap()).await.unwrap();
        assert_eq!(
            (status.agent.as_str(), status.state),
            (agent, RunPhase::Completed)
        );
    }
}

/// Executes a run to its end step by step, and returns the tools that were called and the answer.
async fn by_steps(agent: &Agent, local: &Local, run_id: &str) -> (Vec<String>, String) {
    let whole = async {
        let mut steps = agent.on(local).steps(run_id, "Where is it?").await.unwrap();
        let mut tools = Vec::new();
        while let Some(step) = steps.next().await {
            if let TurnResult::ToolExecuted { call, result } = step.unwrap() {
                assert!(!result.is_error, "{result:?}");
                tools.push(call.name);
            }
        }
        let text = steps.finished().unwrap().into_text().unwrap();
        (tools, text)
    };
    timeout(patience(), whole).await.unwrap()
}

#[tokio::test]
async fn a_run_that_is_taken_step_by_step_starts_them_at_every_level() {
    let lead = lead_of_a_foreman();
    let home = tempfile::tempdir().unwrap();
    for local in [Local::memory(), Local::open(home.path()).await.unwrap()] {
        let (tools, text) = by_steps(&lead, &local, "r1").await;
        assert_eq!(tools, ["agent_foreman"]);
        assert_eq!(text, "Found.");
        let Some(client) = local.client() else {
            continue;
        };
        for (run, agent) in [("r1.1-1", "foreman"), ("r1.1-1.1-1", "explorer")] {
            let status = client.status(&run.parse().unwrap()).await.unwrap();
            assert_eq!(
                (status.agent.as_str(), status.state),
                (agent, RunPhase::Completed)
            );
        }
    }
}

#[tokio::test]
async fn what_still_works_in_the_background_ends_with_the_run_that_was_taken_step_by_step() {
    let stuck = Mind::new(|_| std::future::pending());
    let stuck = Agent::builder("explorer")
        .description("Finds nothing.")
        .model(Model::of(stuck, "mind"))
        .build()
        .unwrap();
    let asks = calls("agent_explorer", &json!({"prompt": "Find it."}));
    let limits = Limits {
        turns: Some(1),
        ..Limits::default()
    };
    let lead = agent("lead", &json!([asks, {"text": "never said"}]))
        .subagents([SubAgentEntry::new(&stuck).background(true)])
        .limits(limits)
        .build()
        .unwrap();
    let home = tempfile::tempdir().unwrap();
    for local in [Local::memory(), Local::open(home.path()).await.unwrap()] {
        let whole = async {
            let mut steps = lead.on(&local).steps("r1", "Where is it?").await.unwrap();
            while let Some(step) = steps.next().await {
                step.unwrap();
            }
        };
        timeout(patience(), whole).await.unwrap();
        if let Some(client) = local.client() {
            let status = client.status(&"r1.1-1".parse().unwrap()).await.unwrap();
            assert_eq!(status.state, RunPhase::Cancelled);
        }
    }
}

#[tokio::test]
async fn a_background_agent_answers_by_a_message() {
    let explorer = explorer().build().unwrap();
    let entry = SubAgentEntry::new(&explorer).background(true);
    let asks = calls("agent_explorer", &json!({"prompt": "Find it."}));
    let lead = agent(
        "lead",
        &json!([asks, {"text": "I wait."}, {"text": "Found."}]),
    );
    let lead = lead.subagents([entry]).build().unwrap();
    assert_eq!(lead.run("Where is it?").await.unwrap(), "Found.");
}

#[tokio::test]
async fn a_run_goes_on_as_the_agent_that_it_is_handed_over_to() {
    let billing = billing().build().unwrap();
    let desk = desk(&billing).build().unwrap();
    assert_eq!(desk.run("The bill!").await.unwrap(), "It is paid.");
    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let run = desk.on(&local).start("r1", "The bill!").await.unwrap();
    assert_eq!(run.result().await.unwrap(), "It is paid.");
    let status = local.client().unwrap();
    let status = status.status(&"r1".parse().unwrap()).await.unwrap();
    assert_eq!(status.agent, "billing");
}

#[test]
fn the_model_reads_what_the_others_are_for() {
    let explorer = explorer().build().unwrap();
    let billing = billing().build().unwrap();
    let limits = LimitOverrides {
        turns: Some(2),
        ..LimitOverrides::default()
    };
    let lead = lead(SubAgentEntry::new(&explorer).limits(limits.clone()))
        .handoffs([HandoffEntry::new(&billing).conversation(HandedConversation::Last)])
        .ask("agent_explorer")
        .build()
        .unwrap();
    let spec = lead.spec();
    let tools: Vec<_> = spec
        .head
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(tools, ["agent_explorer", "transfer_to_billing"]);
    assert_eq!(spec.subagents[0].description, "Finds things.");
    assert_eq!(spec.subagents[0].limits, limits);
    assert_eq!(spec.handoffs[0].description, "Knows the bills.");
    assert_eq!(spec.handoffs[0].conversation, HandedConversation::Last);
}

#[tokio::test]
async fn a_run_whose_child_may_ask_a_person_is_not_started_where_nobody_is_asked() {
    let explorer = explorer()
        .tools(builtin::all())
        .ask("bash")
        .build()
        .unwrap();
    let lead = lead(&explorer).build().unwrap();
    let failure = lead.run("Where is it?").await.unwrap_err();
    assert!(
        matches!(failure, RunFailure::NobodyToAsk { .. }),
        "{failure}"
    );
}

#[test]
fn agents_of_one_name_cannot_be_told_apart() {
    let one = explorer().build().unwrap();
    let another = explorer().build().unwrap();
    let foreman = agent("foreman", &json!([])).subagents([&another]);
    let foreman = foreman.build().unwrap();
    let twice = agent("lead", &json!([]))
        .subagents([&one, &foreman])
        .build();
    let error = twice.unwrap_err();
    assert!(
        matches!(&error, AgentError::OthersOfOneName { twice, .. } if twice == "explorer"),
        "{error}"
    );
    assert!(error.to_string().contains("give each a name of its own"));
    let itself = agent("explorer", &json!([])).handoffs([&one]).build();
    assert!(matches!(itself, Err(AgentError::OthersOfOneName { .. })));
}

#[test]
fn an_agent_that_is_listed_twice_is_an_error_that_says_what_to_do() {
    let explorer = explorer().build().unwrap();
    let error = lead(&explorer).subagents([&explorer]).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent lead has two tools named agent_explorer: list the other agent once, and name no tool so"
    );
    // The agent may be started, and handed over to.
    lead(&explorer).handoffs([&explorer]).build().unwrap();
}

/// Says what it is given.
#[neuron::workflow(name = "echo")]
async fn echo<D: DurableContext>(_: &Door<D>, text: String) -> Result<String, WorkflowError> {
    Ok(text)
}

#[test]
fn a_workflow_is_none_of_the_agents_that_an_agent_starts() {
    let echo = Echo::with(&[]).unwrap();
    let lead = agent("lead", &json!([])).subagents([&echo]).build();
    assert!(matches!(lead, Err(AgentError::StartsWorkflow { .. })));
}

#[tokio::test]
async fn agents_share_a_pool_of_their_tree() {
    let pool = |tokens| Allowance {
        tokens: Some(tokens),
        cost_usd: None,
    };
    let explorer = explorer().pool("searches", pool(900_000)).build().unwrap();
    let lead = lead(&explorer)
        .spec(|spec| {
            spec.pools.insert("searches".into(), pool(500_000));
        })
        .build()
        .unwrap();
    // The smaller limit applies.
    assert_eq!(
        lead.spec().pools,
        [("searches".into(), pool(500_000))].into()
    );
    assert_eq!(lead.spec().subagents[0].pools, ["searches".into()].into());
    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let run = lead.on(&local).start("r1", "Where is it?").await.unwrap();
    assert_eq!(run.result().await.unwrap(), "Found.");
    let client = local.client().unwrap();
    let status = client.status(&"r1".parse().unwrap()).await.unwrap();
    let child = client.status(&"r1.1-1".parse().unwrap()).await.unwrap();
    assert_eq!(
        status.pools.unwrap()["searches"].tokens,
        child.usage.total()
    );
}

#[cfg(feature = "agent-file")]
#[tokio::test]
async fn an_agent_of_a_file_starts_those_that_the_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let asks = calls("agent_explorer", &json!({"prompt": "Find it."}));
    let asks_other = calls("agent_aide", &json!({"prompt": "Help."}));
    write(
        "lead.json",
        &json!({"turns": [asks, asks_other, {"text": "Found."}]}).to_string(),
    );
    write(
        "explorer.json",
        &json!({"turns": [{"text": "It is in the cellar."}]}).to_string(),
    );
    let path = folder.path().join("neuron.toml");
    write(
        "neuron.toml",
        "[providers.lead]\nkind = \"script\"\nfile = \"lead.json\"\n\
         [providers.explorer]\nkind = \"script\"\nfile = \"explorer.json\"\n\
         [agents.lead]\nmodel = \"lead/script\"\nsubagents = [\"explorer\"]\n\
         [agents.explorer]\nmodel = \"explorer/script\"\n",
    );
    let aide = agent("aide", &json!([{"text": "Here."}])).build().unwrap();
    let lead = Agent::from_file(&path, "lead").await.unwrap();
    let lead = lead.subagents([&aide]).build().unwrap();
    let tools = lead.spec().head.tools.iter();
    let tools: Vec<&str> = tools.map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["agent_explorer", "agent_aide"]);
    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let run = lead.on(&local).start("r1", "Where is it?").await.unwrap();
    assert_eq!(run.result().await.unwrap(), "Found.");
    let client = local.client().unwrap();
    for run in ["r1.1-1", "r1.2-1"] {
        let status = client.status(&run.parse().unwrap()).await.unwrap();
        assert_eq!(status.state, RunPhase::Completed, "{run}");
    }
}

#[cfg(feature = "agent-file")]
#[tokio::test]
async fn agents_of_one_file_may_share_a_helper_and_start_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("neuron.toml");
    let script = |name: &str, turns: &Value| {
        let file = folder.path().join(format!("{name}.json"));
        std::fs::write(file, json!({ "turns": turns }).to_string()).unwrap();
        format!("[providers.{name}]\nkind = \"script\"\nfile = \"{name}.json\"\n")
    };
    let again = calls("agent_a", &json!({"prompt": "Once more."}));
    let file = [
        script("a", &json!([again, {"text": "Done."}])),
        "[agents.a]\nmodel = \"a/script\"\nmax_depth = 1\nsubagents = [\"a\", \"helper\"]\n".into(),
        "[agents.b]\nmodel = \"a/script\"\nsubagents = [\"helper\"]\n".into(),
        "[agents.helper]\nmodel = \"a/script\"\n".into(),
    ];
    std::fs::write(&path, file.concat()).unwrap();
    let a = Agent::from_file(&path, "a").await.unwrap().build().unwrap();
    let b = Agent::from_file(&path, "b").await.unwrap().build().unwrap();
    agent("lead", &json!([]))
        .subagents([&a, &b])
        .build()
        .unwrap();
    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let run = a.on(&local).start("r1", "Do it.").await.unwrap();
    assert_eq!(run.result().await.unwrap(), "Done.");
    let child = local.client().unwrap();
    let child = child.status(&"r1.1-1".parse().unwrap()).await.unwrap();
    assert_eq!(
        (child.agent.as_str(), child.state),
        ("a", RunPhase::Completed)
    );
}

#[test]
fn agents_of_a_workflow_share_no_pool_and_start_no_two_of_one_name() {
    let pooled = explorer().pool("searches", Allowance::default());
    let error = Echo::with(&[&pooled.build().unwrap()]).unwrap_err();
    assert!(
        matches!(error, AgentError::PoolInWorkflow { .. }),
        "{error}"
    );
    let one = explorer().build().unwrap();
    let another = explorer().build().unwrap();
    let a = agent("a", &json!([])).subagents([&one]).build().unwrap();
    let b = agent("b", &json!([]))
        .subagents([&another])
        .build()
        .unwrap();
    let error = Echo::with(&[&a, &b]).unwrap_err();
    assert!(
        matches!(error, AgentError::OthersOfOneName { .. }),
        "{error}"
    );
}
