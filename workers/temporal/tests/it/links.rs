//! Links between a worker and its server that carry nothing for a while.

use neuron_engine::RunClient as _;
use neuron_harness::Link;
use neuron_testing::InFlight;
use serde_json::json;

use crate::place::Place;

/// Lets steps in flight end while the link is as `breaks` leaves it.
async fn steps_that_end_during(breaks: fn(&Link)) {
    let steps = InFlight::begin();
    let place = Place::of(steps.folder()).await;
    let link = Link::to(&place.server.addresses().main);
    let _worker = place.worker_at(&link.address());
    let mut runs = Vec::new();
    for run in InFlight::RUNS {
        runs.push(place.start_with(run, InFlight::request(run)).await);
    }
    steps.all_begun(&place.folder).await;

    breaks(&link);
    steps.end(&place.folder).await;
    tokio::time::sleep(InFlight::OUTAGE).await; // An outage has a length; no event ends one.
    link.mend();

    for run in &runs {
        let output = place.client.wait_for_end(run).await.unwrap();
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let events = json!(place.client.events_after(run, 0).await.unwrap()).to_string();
        assert!(!events.contains("outcome_unknown"), "{events}");
    }
    steps.were_made_once(&place.folder);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_ended_while_the_server_was_away_is_reported_when_it_is_back() {
    let cut = steps_that_end_during(Link::cut);
    let held = steps_that_end_during(Link::hold);
    let lost = steps_that_end_during(Link::swallow);
    tokio::join!(cut, held, lost);
}
