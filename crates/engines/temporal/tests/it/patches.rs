//! Changes of a workflow that do not apply to runs that began before.

use std::{marker::PhantomData, time::Duration};

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_temporal::{AgentWorkflow, Replay, TemporalDurableContext};
use neuron_testing::{NotedModel, noted_agent};
use neuron_types::{
    AgentSpec, DurableContext, DurableError, Message, RunId, RunInput, RunOutput, RunStart,
};
use neuron_workflows::{Door, Workflow, WorkflowError};
use serde_json::json;

use crate::stage::Stage;

const TYPE: &str = "agent:greeter";

/// A workflow that waits for a word, before the change.
struct Before;

impl Workflow for Before {
    const NAME: &'static str = "greeter";
    const TEMPORAL_TYPE: &'static str = TYPE;
    type Input = String;
    type Output = String;

    async fn run<D: DurableContext>(
        door: &Door<D>,
        greeting: String,
    ) -> Result<String, WorkflowError> {
        let word: Option<String> = door.wait_for_signal("word", None).await?;
        Ok(format!("{greeting}, {}", word.unwrap_or_default()))
    }
}

/// The same workflow with a rest before the wait.
struct After;

impl Workflow for After {
    const NAME: &'static str = "greeter";
    const TEMPORAL_TYPE: &'static str = TYPE;
    const PATCHES: &'static [&'static str] = &["rest-first"];
    type Input = String;
    type Output = String;

    async fn run<D: DurableContext>(
        door: &Door<D>,
        greeting: String,
    ) -> Result<String, WorkflowError> {
        let is_rested = door.patched("rest-first");
        if is_rested {
            door.sleep(Duration::from_millis(10)).await?; // A rest of any length would do.
        }
        let said = Before::run(door, greeting).await?;
        Ok(if is_rested {
            format!("{said}, rested")
        } else {
            said
        })
    }
}

/// Either of them, as Temporal serves it.
struct Served<W>(PhantomData<W>);

impl<W: Workflow> AgentWorkflow for Served<W> {
    const NAME: &'static str = W::TEMPORAL_TYPE;
    const PATCHES: &'static [&'static str] = W::PATCHES;

    async fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::run::<W, _>(door, start).await
    }
}

fn input() -> RunInput {
    let greeter = AgentSpec {
        name: "greeter".to_owned(),
        team: Some(Vec::new()),
        ..AgentSpec::default()
    };
    RunInput::new(greeter, Message::user("Hello"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_began_before_keeps_the_old_way_and_a_new_one_takes_the_new_way() {
    let stage = Stage::set().await;
    let (_, executor) = noted_agent(&NotedModel::new(&json!({"turns": []})), &[]);
    let client = stage.client.clone().with_workflow(TYPE);
    let [older, newer] = ["older", "newer"].map(|name| RunId::new(name).unwrap());

    let worker = stage.worker_with(&executor, |builder| builder.workflow::<Served<Before>>());
    client.start(&older, input().into()).await.unwrap();
    until(async || {
        let events = client.events_after(&older, 0).await.ok()?;
        (!events.is_empty()).then_some(())
    })
    .await;
    drop(worker);

    let _worker = stage.worker_with(&executor, |builder| builder.workflow::<Served<After>>());
    client.start(&newer, input().into()).await.unwrap();
    for (run, said) in [(&older, "Hello, Ann"), (&newer, "Hello, Ann, rested")] {
        client.signal(run, "word", json!("Ann")).await.unwrap();
        let output = client.wait_for_end(run).await.unwrap();
        assert_eq!(output.output.as_deref(), Some(said), "{output:?}");
    }

    let [before, after] = [
        client.export(&older).await.unwrap(),
        client.export(&newer).await.unwrap(),
    ];
    let new_code = Replay::new::<Served<After>>().unwrap();
    for history in [&before, &after] {
        new_code.json(history.as_bytes()).await.unwrap();
    }
    let old_code = Replay::new::<Served<Before>>().unwrap();
    old_code.json(before.as_bytes()).await.unwrap();
    assert!(old_code.json(after.as_bytes()).await.is_err());
}
