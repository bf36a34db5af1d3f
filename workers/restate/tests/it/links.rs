//! Links between a worker and Restate that carry nothing for a while.

use neuron_harness::Link;
use neuron_testing::InFlight;

use crate::place::Place;

/// Lets steps in flight end while the link is as `breaks` leaves it.
async fn steps_that_end_during(prefix: &'static str, breaks: fn(&Link)) {
    let steps = InFlight::begin();
    let place = Place::serving(prefix, steps.folder()).await;
    let link = Link::to(&place.listen);
    let url = format!("http://{}", link.address());
    let _worker = place.worker_called_with(&["--url", &url]).await;
    let mut runs = Vec::new();
    for step in InFlight::RUNS {
        let run = format!("{prefix}-{step}");
        runs.push(place.start_with(&run, InFlight::request(step)).await);
    }
    steps.all_begun(&place.folder).await;

    breaks(&link);
    steps.end(&place.folder).await;
    tokio::time::sleep(InFlight::OUTAGE).await; // An outage has a length; no event ends one.
    link.mend();

    for run in &runs {
        let output = place.wait(run).await;
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let events = place.events(run).await;
        assert!(!events.contains("outcome_unknown"), "{events}");
    }
    steps.were_made_once(&place.folder);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_ended_while_the_server_was_away_is_reported_when_it_is_back() {
    let cut = steps_that_end_during("cut", Link::cut);
    let held = steps_that_end_during("held", Link::hold);
    let lost = steps_that_end_during("lost", Link::swallow);
    tokio::join!(cut, held, lost);
}
