//! Runs that name their agent.

use neuron_engine::RunClient as _;
use neuron_executor::Agents;
use neuron_local::{JournaledContext, LocalClient};
use neuron_loop::AgentMachine;
use neuron_types::{
    AgentRef, AgentSpec, DurableContext as _, DurableError, ExitReason, Message, RunInput,
    RunPhase, RunRequest, RunStart,
};
use serde_json::json;

use super::{World, run_id};

fn agents(parallel_tools: bool) -> Agents {
    let agent = AgentSpec {
        name: "clerk".into(),
        parallel_tools,
        ..AgentSpec::default()
    };
    [agent].into_iter().collect()
}

/// Returns what a workflow learns first.
async fn begun(door: JournaledContext, agents: Agents) -> Result<RunInput, DurableError> {
    let door = door.with_agents(agents);
    match door.run_start().await.unwrap() {
        RunStart::Request { request, .. } => door.begin(*request).await,
        other => panic!("the run has begun: {other:?}"),
    }
}

#[tokio::test]
async fn the_definition_is_found_once_and_by_whoever_has_it() {
    let world = World::new().await;
    let journal = world.journal().await;
    let client = LocalClient::from(journal.clone());
    let run = run_id("named");
    let request = RunRequest::new("clerk", Message::user("go"));
    client.start(&run, request.clone()).await.unwrap();
    assert_eq!(client.status(&run).await.unwrap().agent, "clerk");

    let start = async |agents: &Agents| {
        let executor = world.room.executor();
        let door = JournaledContext::open(&journal, &run, executor)
            .await
            .unwrap();
        begun(door, agents.clone()).await
    };
    let unknown = start(&Agents::default()).await.unwrap_err();
    let DurableError::Engine { source } = &unknown else {
        panic!("{unknown:?}");
    };
    assert_eq!(
        source.to_string(),
        r#"no_worker: there is no agent named "clerk" here (known: none)"#
    );
    assert_eq!(journal.load_request(&run).await.unwrap(), request);

    let known = agents(false).get("clerk").unwrap().clone();
    assert_eq!(start(&agents(false)).await.unwrap().agent, known);
    let kept = journal.load_request(&run).await.unwrap();
    assert_eq!(kept.agent, AgentRef::from(known.clone()));
    // Later executors get it from the journal.
    for later in [agents(true), Agents::default()] {
        assert_eq!(start(&later).await.unwrap().agent, known);
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_before_it_begins_has_an_output() {
    let world = World::new().await;
    let journal = world.journal().await;
    let client = LocalClient::from(journal.clone());
    let run = run_id("early");
    let request = RunRequest::new("clerk", Message::user("go"));
    client.start(&run, request).await.unwrap();
    let door = JournaledContext::open(&journal, &run, world.room.executor())
        .await
        .unwrap()
        .with_agents(agents(false));
    client.cancel(&run, Some("enough".into())).await.unwrap();
    let output = door
        .execute(|door, start| Box::pin(neuron_workflows::agent(door, start)))
        .await
        .unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(output.error.unwrap().message, "enough");
    let status = client.status(&run).await.unwrap();
    assert_eq!(status.state, RunPhase::Cancelled);
}

#[tokio::test]
async fn a_definition_with_changes_is_the_same_start_in_every_segment() {
    let world = World::new().await;
    let journal = world.journal().await;
    let client = LocalClient::from(journal.clone());
    let run = run_id("narrowed");
    let agent = agents(false).get("clerk").unwrap().clone();
    let request = RunRequest::new(agent, Message::user("go")).deny("bash");
    client.start(&run, request.clone()).await.unwrap();
    let door = JournaledContext::open(&journal, &run, world.room.executor())
        .await
        .unwrap();
    let RunStart::Request { request: kept, .. } = door.run_start().await.unwrap() else {
        panic!("the run has begun");
    };
    let begun = door.begin(*kept).await.unwrap();
    assert!(client.was_started_with(&run, &request).await.unwrap());
    let state = AgentMachine::new(begun, door.now()).state().clone();
    assert!(door.continue_as_new(&state).await.unwrap());
    assert!(client.was_started_with(&run, &request).await.unwrap());
}

#[tokio::test]
async fn what_a_run_is_given_is_checked_once() {
    let world = World::new().await;
    let journal = world.journal().await;
    let typed = |input| AgentSpec {
        name: "clerk".into(),
        input: Some(input),
        ..AgentSpec::default()
    };
    let object = typed(json!({"type": "object"}));
    let number = typed(json!({"type": "integer"}));
    let client = LocalClient::from(journal.clone());
    for (id, agent, fits) in [
        ("by-name", AgentRef::from("clerk"), false),
        ("whole", AgentRef::from(object.clone()), false),
        ("fits", AgentRef::from(number), true),
    ] {
        let run = run_id(id);
        let request = RunRequest::new(agent, Message::user("7"));
        client.start(&run, request).await.unwrap();
        let mut found = Vec::new();
        // The second time it comes from the journal.
        for _ in 0..2 {
            let executor = world.room.executor();
            let door = JournaledContext::open(&journal, &run, executor)
                .await
                .unwrap();
            let agents = [object.clone()].into_iter().collect();
            found.push(begun(door, agents).await.unwrap().mismatch);
        }
        let reason = r#"it does not fit its schema; at the top level: 7 is not of type "object""#;
        let expected = (!fits).then(|| reason.to_owned());
        assert_eq!(found, [expected.clone(), expected]);
    }
}
