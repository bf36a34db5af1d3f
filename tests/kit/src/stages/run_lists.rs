//! The lists of runs of a client.

use std::collections::BTreeSet;

use neuron_engine::{Cursor, PageRequest, RunClient, RunClientError, RunFilter};
use neuron_harness::until;
use neuron_types::{Message, RunId, RunRequest, RunStatus, RunTags};

use super::clients::{answering, listed, opened, soon};
use crate::{ClientSession, Host, agent};

/// More runs than fit on a page are listed once each, the newest first; filters and cursors are respected.
pub async fn lists_have_every_run_once_on_pages<H: Host<Session: ClientSession>>(host: &H) {
    const RUNS: usize = 7;
    let (stage, client) = opened(host, "listed").await;
    assert!(listed(&*client, &RunFilter::all(), 3).await.is_empty());
    let mut started = BTreeSet::new();
    for n in 0..RUNS {
        let run = stage
            .submit(&format!("run-{n}"), &answering(), agent())
            .await;
        started.insert(run.id);
    }
    until(async || {
        let runs = listed(&*client, &RunFilter::all(), 3).await;
        (runs.len() == RUNS).then_some(())
    })
    .await;
    for size in [1, 3, RUNS, 100] {
        for filter in [RunFilter::all(), RunFilter::open()] {
            let runs = listed(&*client, &filter, size).await;
            assert_eq!(runs.len(), RUNS, "{runs:#?}");
            let newest_first = runs.is_sorted_by(|one, next| one.started_at >= next.started_at);
            assert!(newest_first, "{runs:#?}");
            assert_eq!(ids(runs), started);
        }
    }
    let nowhere = PageRequest::first(3).after(Cursor::new("no place"));
    let refused = client.list(&RunFilter::all(), nowhere).await;
    assert!(
        matches!(refused, Err(RunClientError::BadCursor)),
        "{refused:?}"
    );

    stage.execute().await;
    for run in &started {
        soon(client.wait_for_end(run), "the end").await;
    }
    until(async || {
        let open = listed(&*client, &RunFilter::open(), 3).await;
        open.is_empty().then_some(())
    })
    .await;
    let all = listed(&*client, &RunFilter::all(), 3).await;
    assert_eq!((all.len(), ids(all)), (RUNS, started));
}

/// Runs are listed by owner and agent, from their start on and after their end.
pub async fn lists_have_the_runs_that_are_asked_for<H: Host<Session: ClientSession>>(host: &H) {
    let (stage, client) = opened(host, "asked_for").await;
    let started = [
        ("a", tags(Some("acme"), None, &[("report", "q3")])),
        (
            "b",
            tags(
                Some("acme"),
                Some("ada"),
                &[("report", "q4"), ("team", "blue")],
            ),
        ),
        ("c", tags(Some("globex"), None, &[("report", "q3")])),
        ("d", RunTags::default()),
    ];
    for (name, tags) in &started {
        let mut agent = agent();
        (*name).clone_into(&mut agent.head_mut().model);
        let mut request = RunRequest::new(agent, Message::user("Go."));
        request.tags.clone_from(tags);
        stage.submit_request(name, &answering(), request).await;
    }
    let acme = || RunFilter::all().tenant("acme");
    let filters: [(RunFilter, &[&str]); 9] = [
        (RunFilter::all(), &["a", "b", "c", "d"]),
        (acme(), &["a", "b"]),
        (acme().owner("ada"), &["b"]),
        (RunFilter::all().label("report", "q3"), &["a", "c"]),
        (acme().label("report", "q4").label("team", "blue"), &["b"]),
        (acme().label("report", "q5"), &[]),
        (acme().agent("tester"), &["a", "b"]),
        (acme().agent("another"), &[]),
        (RunFilter::all().tenant("' OR '1' = '1"), &[]),
    ];
    let filters = filters.map(|(filter, names)| {
        let runs = names.iter().map(|name| stage.world.run_id(name));
        (filter, runs.collect::<BTreeSet<RunId>>())
    });
    until(async || are_listed(&*client, &filters).await).await;
    let open = RunFilter::open().tenant("acme");
    assert_eq!(listed(&*client, &open, 100).await.len(), 2);

    stage.execute().await;
    for (name, tags) in &started {
        let run = stage.world.run_id(name);
        soon(client.wait_for_end(&run), "the end").await;
        let status = soon(client.status(&run), "the status").await;
        assert_eq!(status.tags(), *tags);
    }
    until(async || are_listed(&*client, &filters).await).await;
    until(async || {
        let runs = listed(&*client, &open, 100).await;
        runs.is_empty().then_some(())
    })
    .await;
}

fn tags(tenant: Option<&str>, owner: Option<&str>, labels: &[(&str, &str)]) -> RunTags {
    let labels = labels.iter();
    RunTags {
        tenant: tenant.map(ToOwned::to_owned),
        owner: owner.map(ToOwned::to_owned),
        labels: labels
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

/// Checks that each filter lists its runs, on pages of any size.
async fn are_listed(
    client: &dyn RunClient,
    filters: &[(RunFilter, BTreeSet<RunId>)],
) -> Option<()> {
    for (filter, wanted) in filters {
        for size in [1, 100] {
            if ids(listed(client, filter, size).await) != *wanted {
                return None;
            }
        }
    }
    Some(())
}

fn ids(runs: Vec<RunStatus>) -> BTreeSet<RunId> {
    runs.into_iter().map(|run| run.run_id).collect()
}
