//! Runs that name their agent.

use neuron_engine::RunClient as _;
use neuron_executor::Agents;
use neuron_local::{JournalError, JournaledContext, LocalClient};
use neuron_types::{AgentRef, AgentSpec, Message, RunRequest};

use super::{World, run_id};

fn agents(parallel_tools: bool) -> Agents {
    let agent = AgentSpec {
        name: "clerk".into(),
        parallel_tools,
        ..AgentSpec::default()
    };
    [agent].into_iter().collect()
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
        door.with_agents(agents.clone()).run_start().await
    };
    let unknown = start(&Agents::default()).await.unwrap_err();
    assert!(matches!(&unknown, JournalError::UnknownAgent(unknown) if unknown.name == "clerk"));
    assert_eq!(
        unknown.to_string(),
        r#"there is no agent named "clerk" here (known: none)"#
    );
    assert_eq!(journal.load_request(&run).await.unwrap(), request);

    let known = agents(false).get("clerk").unwrap().clone();
    assert_eq!(start(&agents(false)).await.unwrap().agent(), &known);
    let kept = journal.load_request(&run).await.unwrap();
    assert_eq!(kept.agent, AgentRef::from(known.clone()));
    // Whoever comes later has it from the journal.
    for later in [agents(true), Agents::default()] {
        assert_eq!(start(&later).await.unwrap().agent(), &known);
    }
}
