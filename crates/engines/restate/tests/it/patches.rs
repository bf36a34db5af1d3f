//! Changes of a workflow that do not apply to runs that began before.

use std::time::Duration;

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, noted_agent};
use neuron_types::{AgentSpec, DurableContext, Message, RunId, RunInput};
use neuron_workflows::{Door, Workflow, WorkflowError};
use serde_json::json;

use crate::stage::Stage;

/// A workflow that waits for a word, before the change.
struct Before;

impl Workflow for Before {
    const NAME: &'static str = "greeter";
    const TEMPORAL_TYPE: &'static str = "agent:greeter";
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
    const TEMPORAL_TYPE: &'static str = "agent:greeter";
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
    let stage = Stage::set("patched").await;
    let (_, executor) = noted_agent(&NotedModel::new(&json!({"turns": []})), &[]);
    let [older, newer] = ["older", "newer"].map(|name| RunId::new(name).unwrap());

    let worker = stage
        .worker_with(&executor, |services| {
            services.with_workflow("greeter", |door, start| {
                Box::pin(neuron_workflows::run::<Before, _>(door, start))
            })
        })
        .await;
    stage.client.start(&older, input().into()).await.unwrap();
    until(async || {
        let events = stage.client.events_after(&older, 0).await.ok()?;
        (!events.is_empty()).then_some(())
    })
    .await;
    drop(worker);

    let _worker = stage
        .worker_with(&executor, |services| {
            services
                .with_workflow("greeter", |door, start| {
                    Box::pin(neuron_workflows::run::<After, _>(door, start))
                })
                .with_patches("greeter", After::PATCHES)
        })
        .await;
    stage.client.start(&newer, input().into()).await.unwrap();
    until(async || {
        let events = stage.client.events_after(&newer, 0).await.ok()?;
        (!events.is_empty()).then_some(())
    })
    .await;
    for (run, said) in [(&older, "Hello, Ann"), (&newer, "Hello, Ann, rested")] {
        stage
            .client
            .signal(run, "word", json!("Ann"))
            .await
            .unwrap();
        let output = stage.wait(run).await;
        assert_eq!(output.output.as_deref(), Some(said), "{output:?}");
    }
}
