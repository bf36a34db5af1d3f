//! Runs whose worker is restarted with another agent file.

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::decision;
use neuron_types::{BlockedKind, RunId, RunPhase, Verdict};
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_waits_for_the_agent_and_the_provider_that_it_began_with() {
    let turns = json!([
        {"tool_calls": [{"name": "bash", "input": {"command": "echo one >> effects"}}]},
        {"text": "Done."},
    ]);
    let place = Place::with_settings("changed", &turns, "ask = [\"bash\"]").await;
    let worker = place.worker().await;
    let run = place.start("changed").await;
    let ticket = until(async || {
        let status = place.client.status(&run).await.ok()?;
        (status.state == RunPhase::WaitingForApproval).then_some(status.approvals)
    })
    .await
    .remove(0);
    assert!(worker.program.stop().await.success());

    place.folder.change("[agents.default]", "[agents.renamed]");
    let worker = place.worker().await;
    let approval = decision(&ticket, Verdict::Approve);
    place.client.decide(&run, &approval).await.unwrap();
    is_blocked(&place, &run, "serves no agent \"default\"").await;
    assert_eq!(place.folder.effects(), "");
    assert!(worker.program.stop().await.success());

    place.folder.change("[agents.renamed]", "[agents.default]");
    place.folder.change("providers.script", "providers.other");
    place.folder.change("script/test", "other/test");
    let worker = place.worker().await;
    is_blocked(&place, &run, "there is no provider \"script\"").await;
    assert_eq!(place.folder.effects(), "one\n");
    assert!(worker.program.stop().await.success());

    place.folder.change("providers.other", "providers.script");
    place.folder.change("other/test", "script/test");
    let _worker = place.worker().await;
    let output = place.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(place.folder.effects(), "one\n");
}

/// Waits until the run's status names this as the reason why it is blocked.
async fn is_blocked(place: &Place, run: &RunId, why: &str) {
    let blocked = until(async || {
        let status = place.client.status(run).await.ok()?;
        status
            .blocked
            .filter(|blocked| blocked.detail.contains(why))
    })
    .await;
    assert_eq!(blocked.kind, BlockedKind::NoWorker);
}
