//! A tool that blocks its thread.

use std::{thread, time::Duration};

use neuron_engine::RunClient as _;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{ActivitySettings, ToolEffects, ToolOutput, ToolSettings};
use serde_json::json;

use crate::stage::Stage;

/// How long a call may be silent.
const SILENCE: Duration = Duration::from_secs(8); // Many beats of a worker that is not starved for seconds.

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_blocks_its_thread_keeps_its_heartbeats() {
    let block = NotedTool::new("block", ToolEffects::Write, |_| async {
        // The work of the tool, which never yields its thread.
        thread::sleep(SILENCE * 3 / 2); // Any longer would do as well.
        Ok(ToolOutput::text("done"))
    });
    let model = NotedModel::new(&json!({"turns": [
        {"tool_calls": [{"name": "block", "input": {}}]},
        {"text": "Done."},
    ]}));
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&block));
    let own = ToolSettings {
        activity: ActivitySettings {
            heartbeat_timeout: Some(SILENCE),
            ..ActivitySettings::default()
        },
        ..ToolSettings::default()
    };
    spec.tool_settings.insert("block".into(), own);
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let output = stage.run("blocking", &spec).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(block.keys(), ["blocking:1:1"]);
    let events = stage.client.events_after(&output.run_id, 0).await.unwrap();
    let events = json!(events).to_string();
    assert!(!events.contains("outcome_unknown"), "{events}");
}
