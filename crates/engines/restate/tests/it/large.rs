//! Large results and large conversations.

use neuron_engine::RunClient as _;
use neuron_testing::{NotedModel, noted_agent};
use neuron_types::{FailureKind, RunPhase};
use serde_json::json;

use crate::{
    journals::{journals, read, turns, unlimited},
    stage::Stage,
};

const KIB: usize = 1024;
const MIB: u64 = 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_turns_of_large_results_complete_in_one_journal_and_in_several() {
    let stage = Stage::set("large").await;
    for (run, most) in [("one", 8 * MIB), ("several", MIB)] {
        let (spec, executor) =
            noted_agent(&NotedModel::new(&turns(100, "read")), &[read(64 * KIB)]);
        let _worker = stage
            .worker_with(&executor, |services| {
                services.continue_as_new_after_bytes(most)
            })
            .await;
        let run = stage.start(run, &unlimited(spec)).await;
        let since = std::time::Instant::now();
        let output = stage.wait_at_length(&run).await;
        println!("{run}: {:?}", since.elapsed());
        assert_eq!(output.output.as_deref(), Some("Done."));
        assert_eq!(output.turns, 100);
        let journals = journals(&stage, &run, None).await;
        println!("{journals:?}");
        assert_eq!(
            journals.len() > 4,
            most == MIB,
            "{} journals",
            journals.len()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_be_carried_over_goes_on_and_then_says_what_to_configure() {
    let model = NotedModel::new(&turns(400, "read"));
    let (spec, executor) = noted_agent(&model, &[read(250 * KIB)]);
    let stage = Stage::set("too-large").await;
    let _worker = stage
        .worker_with(&executor, |services| {
            services.continue_as_new_after_bytes(20 * MIB)
        })
        .await;
    let run = stage.start("full", &unlimited(spec)).await;
    // Some 130 MB pass through the server and the worker, which is a debug build.
    let output = stage.wait_at_length(&run).await;
    assert_eq!(output.state, RunPhase::Failed);
    let error = output.error.unwrap();
    assert_eq!(error.kind, FailureKind::ContextLength);
    assert!(
        error.message.contains("agent's context"),
        "{}",
        error.message
    );
    println!("after {} turns: {}", output.turns, error.message);
    let journals = journals(&stage, &run, None).await;
    println!("{journals:?}");
    assert_eq!(
        journals.len(),
        2,
        "it went on where it could not be carried over"
    );
    assert!(journals[1].bytes > 64 * MIB, "{journals:?}");
    let status = stage.client.status(&run).await.unwrap();
    assert_eq!(status.state, RunPhase::Failed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_two_megabytes_reaches_the_model_cut_and_with_a_note() {
    let model = NotedModel::new(&turns(2, "read"));
    let (spec, executor) = noted_agent(&model, &[read(2_200_000)]);
    let stage = Stage::set("cut").await;
    let _worker = stage.worker(&executor).await;
    let output = stage.run("cut", &spec).await;
    assert_eq!(output.state, RunPhase::Completed);
    let seen = model.last_message().to_string();
    assert!(seen.len() < 260 * KIB, "{} bytes", seen.len());
    let note = "[the result was cut: 262144 of 2200000 bytes are shown]";
    assert!(seen.contains(note), "there is no note");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_events_than_one_message_holds_are_told_in_pages() {
    const TURNS: usize = 33;
    let mut script = turns(TURNS, "read");
    for turn in script["turns"].as_array_mut().unwrap() {
        turn["text"] = "x".repeat(KIB * KIB).into();
    }
    let (spec, executor) = noted_agent(&NotedModel::new(&script), &[read(10)]);
    let stage = Stage::set("pages").await;
    let _worker = stage.worker(&executor).await;
    let run = stage.start("told", &unlimited(spec)).await;
    let since = std::time::Instant::now();
    let output = stage.wait_at_length(&run).await;
    println!("{TURNS} turns took {:?}", since.elapsed());
    assert_eq!(output.state, RunPhase::Completed, "{:?}", output.error);
    let journals = journals(&stage, &run, None).await;
    assert!(journals.len() > 1, "the record has some of them");
    let events = stage.events(&run).await;
    let bytes = serde_json::to_vec(&events).unwrap().len() as u64;
    assert!(bytes > 32 * MIB, "{bytes} bytes");

    let (mut pages, mut seen) = (0, 0);
    loop {
        let page = stage
            .client
            .events(&run, seen, usize::MAX)
            .await
            .unwrap()
            .events;
        let Some(last) = page.last() else { break };
        seen = last.seq;
        pages += 1;
        let bytes = serde_json::to_vec(&page).unwrap().len() as u64;
        assert!(bytes <= 4 * MIB, "{bytes} bytes");
    }
    println!("{} events on {pages} pages", events.len());
    assert_eq!(seen, events.len() as u64);
    let (status, first) = stage.post(&run, "events", &json!({"after": 0})).await;
    assert_eq!((status, &first[0]["seq"]), (200, &json!(1)));
}
