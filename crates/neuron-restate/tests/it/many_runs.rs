//! Many runs at once on one worker.

use neuron_testing::Crowd;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_runs_of_ten_turns_complete_beside_each_other() {
    let crowd = Crowd::default();
    let stage = Stage::set("many").await;
    let _worker = stage.worker(&crowd.executor).await;
    crowd
        .complete(async |n| {
            let run = stage.start(&format!("many-{n:03}"), &crowd.spec).await;
            stage.client.wait(&run).await.unwrap()
        })
        .await;

    let page = stage.client.list(20).await.unwrap();
    assert_eq!((page.runs.len(), page.total), (20, Crowd::RUNS));
    assert!(
        page.runs
            .windows(2)
            .all(|two| two[0].started_at >= two[1].started_at)
    );
}
