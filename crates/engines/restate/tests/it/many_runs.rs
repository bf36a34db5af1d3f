//! Many runs at once on one worker.

use neuron_engine::{PageRequest, RunClient as _, RunFilter};
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
            stage.client.wait_for_end(&run).await.unwrap()
        })
        .await;

    let (mut runs, mut next) = (Vec::new(), None);
    loop {
        let mut page = PageRequest::first(70);
        page.after = next;
        let page = stage.client.list(&RunFilter::all(), page).await.unwrap();
        assert_eq!(page.incomplete, None);
        runs.extend(page.runs);
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    let mut ids: Vec<_> = runs.iter().map(|run| &run.run_id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((runs.len(), ids.len()), (Crowd::RUNS, Crowd::RUNS));
}
