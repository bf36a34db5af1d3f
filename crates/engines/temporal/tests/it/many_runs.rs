//! Many runs at once on one worker.

use neuron_engine::RunClient as _;
use neuron_testing::Crowd;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_runs_of_ten_turns_complete_beside_each_other() {
    let crowd = Crowd::default();
    let stage = Stage::set().await;
    let _worker = stage.worker(&crowd.executor);
    crowd
        .complete(async |n| {
            let run = stage.start(&format!("run-{n}"), &crowd.spec).await;
            stage.client.wait_for_end(&run).await.unwrap()
        })
        .await;
}
