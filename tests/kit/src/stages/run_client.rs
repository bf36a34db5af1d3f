//! The checks that every client of an engine's runs must pass.

use std::{sync::Arc, time::Duration};

use neuron_engine::{EventPage, OpenTicket, PageRequest, RunClient, RunClientError, RunFilter};
use neuron_harness::until;
use neuron_patience::patience;
use neuron_types::{
    AgentSpec, Decision, Message, Refusal, RunEvent, RunId, RunInput, RunPhase, RunRequest,
    RunStatus, UserMessage, Verdict, signal,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::clients::{answering, opened, soon};
pub use super::run_lists::{
    lists_have_every_run_once_on_pages, lists_have_the_runs_that_are_asked_for,
};
use crate::{ClientSession, Host, agent, decision, scenarios::second_lapses};

/// Makes a test of each behaviour of a [`RunClient`](neuron_engine::RunClient), with the client of a host whose session
/// is a [`ClientSession`](crate::ClientSession). The host is an expression that each test evaluates.
///
/// ```no_run
/// # mod tests {
/// neuron_testing::run_client!(neuron_testing::JournaledHost::default());
/// # }
/// ```
#[macro_export]
macro_rules! run_client {
    ($host:expr) => {
        $crate::run_client! {
            @ $host;
            run_client;
            an_id_is_used_once
            an_unknown_run_is_unknown_to_everything
            a_run_shows_where_it_stands_before_and_after_it_is_taken_up
            events_come_in_pages_behind_a_number
            a_run_under_way_has_no_output_and_is_waited_for
            waiting_ends_where_a_person_is_needed
            lists_have_every_run_once_on_pages
            lists_have_the_runs_that_are_asked_for
            tickets_of_all_runs_come_on_pages
            decisions_that_fit_no_open_ticket_are_rejected
            messages_and_signals_reach_a_run
            a_run_is_cancelled_by_method_and_by_signal
            a_run_that_is_over_takes_nothing
        }
        $crate::run_client! {
            @ $host;
            second_starts;
            a_run_has_the_request_that_it_was_started_with
            a_second_start_is_of_the_same_run_only_with_an_equal_request
            a_run_that_continued_as_new_has_the_request_that_it_was_started_with
        }
        $crate::run_client! {
            @ $host;
            run_client_transcripts;
            a_transcript_has_what_was_said_done_and_decided
            a_transcript_has_long_results_whole_after_a_compaction_too
        }
    };
    (@ $host:expr; $suite:ident; $($does:ident)*) => {
        mod $suite {
            #[allow(unused_imports, reason = "the host may be named without them")]
            use super::*;

            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $does() {
                    $crate::$suite::$does(&$host).await;
                }
            )*
        }
    };
}

pub(crate) fn asking() -> AgentSpec {
    let mut agent = agent();
    agent.approvals.approve = vec!["write".into()];
    agent
}

/// Returns a script that writes these texts in its first turn, each by a call.
fn writing(texts: &[&str]) -> Value {
    let calls = texts
        .iter()
        .map(|text| json!({"name": "write", "input": {"text": text}}));
    json!({"turns": [{"tool_calls": calls.collect::<Vec<_>>()}, {"text": "Done."}]})
}

fn input() -> RunInput {
    RunInput::new(agent(), Message::user("Go."))
}

/// Returns the error of each method that takes a run id, except `start`, for this run.
async fn faults(client: &dyn RunClient, run: &RunId) -> Vec<(&'static str, RunClientError)> {
    let decision = Decision {
        ticket: "t1-1".to_owned(),
        digest: "0".repeat(64),
        verdict: Verdict::Approve,
        ..Decision::default()
    };
    let request = RunRequest::from(input());
    let requested = async || client.request(run).await.map(drop);
    let compared = async || client.was_started_with(run, &request).await.map(drop);
    let look = async || client.status(run).await.map(drop);
    let told = async || client.events(run, 0, 10).await.map(drop);
    let said = async || client.transcript(run).await.map(drop);
    let output = async || client.output(run).await.map(drop);
    let wait = async || client.wait(run).await.map(drop);
    let wait_for_end = async || client.wait_for_end(run).await.map(drop);
    let tickets = async || {
        let page = PageRequest::default();
        client.tickets(Some(run), page).await.map(drop)
    };
    let decide = async || client.decide(run, &decision).await;
    let send = async || client.send(run, UserMessage::new("hello")).await;
    let signal = async || client.signal(run, "weather", json!(1)).await;
    let cancel = async || client.cancel(run, None).await.map(drop);
    let (a, b, c, d, e, f, g, h, i, j, k, l, m) = futures::join!(
        requested(),
        compared(),
        look(),
        told(),
        said(),
        output(),
        wait(),
        wait_for_end(),
        tickets(),
        decide(),
        send(),
        signal(),
        cancel()
    );
    let asked = [
        ("request", a),
        ("was_started_with", b),
        ("status", c),
        ("events", d),
        ("transcript", e),
        ("output", f),
        ("wait", g),
        ("wait_for_end", h),
        ("tickets", i),
        ("decide", j),
        ("send", k),
        ("signal", l),
        ("cancel", m),
    ];
    asked
        .into_iter()
        .map(|(name, answer)| match answer {
            Err(error) => (name, error),
            Ok(()) => panic!("{name} does not fail"),
        })
        .collect()
}

/// An id is used once, also when its run is over.
pub async fn an_id_is_used_once<H: Host<Session: ClientSession>>(host: &H) {
    let (stage, client) = opened(host, "used_once").await;
    let run = stage.submit("run", &answering(), agent()).await;
    let again = async || client.start(&run.id, input().into()).await.unwrap_err();
    assert!(again().await.is_run_exists());
    stage.execute().await;
    soon(client.wait_for_end(&run.id), "the end").await;
    let error = again().await;
    assert!(
        matches!(&error, RunClientError::RunExists { run_id } if *run_id == run.id),
        "{error:?}"
    );
}

/// An unknown run is unknown to every method.
pub async fn an_unknown_run_is_unknown_to_everything<H: Host<Session: ClientSession>>(host: &H) {
    let (stage, client) = opened(host, "unknown").await;
    stage.execute().await;
    // The engine has runs, and none with this id.
    let known = stage.submit("known", &answering(), agent()).await;
    soon(client.wait_for_end(&known.id), "the end").await;
    let nobody = stage.world.run_id("nobody");
    for (name, error) in faults(&*client, &nobody).await {
        assert!(
            matches!(&error, RunClientError::UnknownRun { run_id } if *run_id == nobody),
            "{name}: {error:?}"
        );
        assert!(!error.is_transient(), "{name}");
    }
}

/// A run that is not executed yet exists, and one that is over shows the same by every method.
pub async fn a_run_shows_where_it_stands_before_and_after_it_is_taken_up<
    H: Host<Session: ClientSession>,
>(
    host: &H,
) {
    let (stage, client) = opened(host, "stands").await;
    let run = stage.submit("run", &answering(), agent()).await;
    let status = soon(client.status(&run.id), "the first status").await;
    assert_eq!(status.run_id, run.id);
    // Local runs have no engine that would notice a missing worker.
    let state = match client.engine() {
        "local" => RunPhase::Interrupted,
        _ => RunPhase::Running,
    };
    assert_eq!((status.state, status.turn), (state, 0));
    assert_eq!(
        (status.agent.as_str(), status.engine.as_str()),
        ("tester", client.engine())
    );
    let events = soon(client.events(&run.id, 0, 10), "no events").await;
    assert_eq!(events, EventPage::default());
    assert_eq!(soon(client.output(&run.id), "no output").await, None);
    let listed = until(async || {
        let open = RunFilter::open();
        let page = client.list(&open, PageRequest::default());
        let mut page = page.await.unwrap();
        assert_eq!(page.incomplete, None);
        page.runs.pop()
    });
    // An engine only notices after a while that a worker is missing.
    let plain = |status| RunStatus {
        blocked: None,
        ..status
    };
    assert_eq!(plain(listed.await), plain(status));

    stage.execute().await;
    let output = soon(client.wait_for_end(&run.id), "the end").await;
    assert_eq!(output.state, RunPhase::Completed);
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(
        soon(client.output(&run.id), "the output").await.as_ref(),
        Some(&output)
    );
    assert_eq!(soon(client.wait(&run.id), "a wait").await, output);
    let status = soon(client.status(&run.id), "the last status").await;
    assert_eq!(status.output(output.exit_reason), output);
    assert!(status.started_at <= status.updated_at);
    let events = soon(client.events_after(&run.id, 0), "the events").await;
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    let last = events.last().map(|recorded| &recorded.event);
    assert!(matches!(last, Some(RunEvent::RunEnded { .. })), "{last:?}");
}

/// Pages of events follow each other without a gap.
pub async fn events_come_in_pages_behind_a_number<H: Host<Session: ClientSession>>(host: &H) {
    let (stage, client) = opened(host, "event_pages").await;
    stage.execute().await;
    let calls = json!([{"name": "look", "input": {}}]);
    let script =
        json!({"turns": [{"tool_calls": calls}, {"tool_calls": calls}, {"text": "Done."}]});
    let run = stage.submit("run", &script, agent()).await;
    soon(client.wait_for_end(&run.id), "the end").await;
    let all = soon(client.events_after(&run.id, 0), "all events").await;
    assert!(all.len() > 6, "{all:#?}");

    let mut read = Vec::new();
    loop {
        let page = soon(client.events(&run.id, read.len() as u64, 3), "a page").await;
        assert!(page.events.len() <= 3 && page.incomplete.is_none());
        read.extend(page.events);
        if !page.more {
            break;
        }
    }
    assert_eq!(read, all);
    for after in [0, 1, all.len() / 2, all.len(), all.len() + 5] {
        let tail = soon(client.events_after(&run.id, after as u64), "a tail").await;
        assert_eq!(tail, all[after.min(all.len())..]);
    }
}

/// A run in progress has no output, and both waits continue until it is over.
pub async fn a_run_under_way_has_no_output_and_is_waited_for<H: Host<Session: ClientSession>>(
    host: &H,
) {
    let (stage, client) = opened(host, "waited").await;
    stage.execute().await;
    let mut gate = stage.world.hold("run", 1, 1);
    let script = json!({"turns": [
        {"tool_calls": [{"name": "look", "input": {}}]},
        {"text": "Done."},
    ]});
    let run = stage.submit("run", &script, agent()).await;
    gate.reached().await;
    assert_eq!(soon(client.output(&run.id), "no output").await, None);
    let short = Duration::from_millis(100); // Too short it misses a defect, and finds none where none is.
    assert!(timeout(short, client.wait(&run.id)).await.is_err());
    let ending = async {
        gate.release();
        Ok(())
    };
    let (waited, ended, ()) = soon(
        async { futures::try_join!(client.wait(&run.id), client.wait_for_end(&run.id), ending) },
        "both waits",
    )
    .await;
    assert_eq!(waited.state, RunPhase::Completed);
    assert_eq!(waited, ended);
}

/// Waiting ends with the open tickets if a person is needed; waiting for the end does not.
pub async fn waiting_ends_where_a_person_is_needed<H: Host<Session: ClientSession>>(host: &H) {
    let (stage, client) = opened(host, "person").await;
    stage.execute().await;
    let run = stage.submit("run", &writing(&["one"]), asking()).await;
    let parked = soon(client.wait(&run.id), "the question").await;
    assert_eq!(parked.state, RunPhase::WaitingForApproval);
    assert_eq!(parked.exit_reason, None);
    assert_eq!(parked.approvals.len(), 1);
    let short = Duration::from_millis(100); // Too short it misses a defect, and finds none where none is.
    assert!(timeout(short, client.wait_for_end(&run.id)).await.is_err());
    let approval = decision(&parked.approvals[0], Verdict::Approve);
    soon(client.decide(&run.id, &approval), "the decision").await;
    let output = soon(client.wait_for_end(&run.id), "the end").await;
    assert_eq!(output.state, RunPhase::Completed);
    assert!(output.approvals.is_empty());
}

/// Returns the tickets on all pages of this size.
async fn all_tickets(client: &dyn RunClient, size: usize) -> Vec<OpenTicket> {
    let mut tickets = Vec::new();
    let mut page = PageRequest::first(size);
    loop {
        let listed = soon(client.tickets(None, page), "a page of tickets").await;
        assert_eq!(listed.incomplete, None);
        tickets.extend(listed.tickets);
        match listed.next {
            Some(next) => page = PageRequest::first(size).after(next),
            None => return tickets,
        }
    }
}

/// The open tickets of all runs are listed once each, and those of a run are among them.
pub async fn tickets_of_all_runs_come_on_pages<H: Host<Session: ClientSession>>(host: &H) {
    let (stage, client) = opened(host, "all_tickets").await;
    stage.execute().await;
    let mut expected = Vec::new();
    for (name, texts) in [("one", &["a"][..]), ("two", &["b", "c"]), ("three", &["d"])] {
        let run = stage.submit(name, &writing(texts), asking()).await;
        run.waits_for(texts.len()).await;
        let tickets = client.tickets(Some(&run.id), PageRequest::default());
        let tickets = soon(tickets, "the tickets of a run").await;
        assert_eq!((tickets.next, tickets.incomplete), (None, None));
        assert_eq!(tickets.tickets.len(), texts.len());
        expected.splice(0..0, tickets.tickets);
    }
    for size in [1, 2, 100] {
        until(async || {
            let tickets = all_tickets(&*client, size).await;
            (tickets == expected).then_some(())
        })
        .await;
    }
    for open in &expected {
        let denial = decision(&open.ticket, Verdict::Deny);
        soon(client.decide(&open.run_id, &denial), "a decision").await;
    }
    for open in &expected {
        soon(client.wait_for_end(&open.run_id), "the end").await;
    }
    assert!(all_tickets(&*client, 2).await.is_empty());
}

/// Decisions that fit no open ticket are rejected for reasons that every engine knows.
pub async fn decisions_that_fit_no_open_ticket_are_rejected<H: Host<Session: ClientSession>>(
    host: &H,
) {
    let (stage, client) = opened(host, "rejected").await;
    stage.execute().await;
    let mut last_call = stage.world.hold("run", 2, 0);
    let run = stage
        .submit("run", &writing(&["one", "two"]), second_lapses())
        .await;
    let tickets = run.has_asked(2).await;
    let (run_id, ticket) = (run.id.clone(), || tickets[0].ticket.clone());
    let denial = decision(&tickets[0], Verdict::Deny);
    let refused = async |decision: &Decision| {
        let answer = timeout(patience(), client.decide(&run.id, decision)).await;
        let error = answer.expect("an answer in time").unwrap_err();
        assert!(error.is_rejected() && !error.is_transient(), "{error:?}");
        let refusal = error.refusal().cloned();
        let refusal = refusal.unwrap_or_else(|| panic!("{error:?} is of no known kind"));
        assert_eq!(error.to_string(), refusal.to_string());
        refusal
    };
    let wrong_digest = Decision {
        digest: "0".repeat(64),
        ..denial.clone()
    };
    let unknown = Decision {
        ticket: "t9-9".to_owned(),
        ..denial.clone()
    };
    let with_args = Decision {
        args: Some(json!({})),
        ..denial.clone()
    };
    assert_eq!(
        refused(&wrong_digest).await,
        Refusal::WrongDigest {
            run_id: run_id.clone(),
            ticket: ticket()
        }
    );
    assert_eq!(
        refused(&unknown).await,
        Refusal::UnknownTicket {
            run_id: run_id.clone(),
            ticket: "t9-9".to_owned()
        }
    );
    assert_eq!(
        refused(&with_args).await,
        Refusal::ArgsWithDenial { ticket: ticket() }
    );

    soon(client.decide(&run.id, &denial), "the decision").await;
    let late = decision(&tickets[0], Verdict::Approve);
    assert_eq!(
        refused(&late).await,
        Refusal::AlreadyDecided {
            run_id: run_id.clone(),
            ticket: ticket()
        }
    );
    last_call.reached().await;
    assert_eq!(
        refused(&decision(&tickets[1], Verdict::Approve)).await,
        Refusal::TicketExpired {
            run_id: run_id.clone(),
            ticket: tickets[1].ticket.clone()
        }
    );
    last_call.release();
    soon(client.wait_for_end(&run.id), "the end").await;
    assert_eq!(
        refused(&late).await,
        Refusal::RunOver {
            run_id,
            state: RunPhase::Completed
        }
    );
}

/// Messages and signals reach a run in order, and the agent's restrictions are checked.
pub async fn messages_and_signals_reach_a_run<H: Host<Session: ClientSession>>(host: &H) {
    let (stage, client) = opened(host, "reached").await;
    stage.execute().await;
    let run = stage.submit("run", &writing(&["one"]), asking()).await;
    let ticket = run.waits_for(1).await.remove(0);
    let sent = client.send(&run.id, UserMessage::new("first"));
    soon(sent, "a message").await;
    let second = client.signal(&run.id, signal::USER_MESSAGE, json!({"text": "second"}));
    soon(second, "a message by signal").await;
    let other = client.signal(&run.id, "weather", json!({"rain": true}));
    soon(other, "another signal").await;
    for (name, payload) in [
        (signal::DECISION, json!({"ticket": 1})),
        (signal::USER_MESSAGE, json!(7)),
    ] {
        let misfit = client.signal(&run.id, name, payload).await.unwrap_err();
        assert!(misfit.is_rejected(), "{misfit:?}");
        let RunClientError::BadSignal(misfit) = misfit else {
            panic!("{misfit:?}");
        };
        assert_eq!(misfit.name, name);
    }
    let approval = json!(decision(&ticket, Verdict::Approve));
    let decided = client.signal(&run.id, signal::DECISION, approval);
    soon(decided, "a decision by signal").await;
    let output = soon(client.wait_for_end(&run.id), "the end").await;
    assert_eq!(output.state, RunPhase::Completed);
    let events = soon(client.events_after(&run.id, 0), "the events").await;
    let texts = events.iter().filter_map(|recorded| match &recorded.event {
        RunEvent::MessageReceived { text } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(texts.collect::<Vec<_>>(), ["first", "second"]);
}

/// A run is cancelled for a reason, by the method and by the signal of that name.
pub async fn a_run_is_cancelled_by_method_and_by_signal<H: Host<Session: ClientSession>>(host: &H) {
    let (stage, client) = opened(host, "cancelled").await;
    stage.execute().await;
    for (name, by_signal) in [("method", false), ("signal", true)] {
        let mut gate = stage.world.hold(name, 1, 1);
        let script = json!({"turns": [{"tool_calls": [{"name": "look", "input": {}}]}]});
        let run = stage.submit(name, &script, agent()).await;
        gate.reached().await;
        if by_signal {
            let reason = json!({"reason": "enough"});
            soon(client.signal(&run.id, signal::CANCEL, reason), "a signal").await;
        } else {
            let reason = Some("enough".to_owned());
            soon(client.cancel(&run.id, reason), "a cancel").await;
        }
        let output = soon(client.wait_for_end(&run.id), "the end").await;
        assert_eq!(output.state, RunPhase::Cancelled);
        assert_eq!(output.error.unwrap().message, "enough");
        let status = soon(client.status(&run.id), "the status").await;
        assert_eq!(status.state, RunPhase::Cancelled);
    }
}

/// A run that is over accepts nothing, and reports how it ended.
pub async fn a_run_that_is_over_takes_nothing<H: Host<Session: ClientSession>>(host: &H) {
    let (stage, client) = opened(host, "over").await;
    stage.execute().await;
    let run = stage.submit("run", &answering(), agent()).await;
    let output = soon(client.wait_for_end(&run.id), "the end").await;
    let nothing = async || {
        let cancelled = client.cancel(&run.id, None).await.map(drop);
        let signalled = client.signal(&run.id, "weather", json!(1)).await;
        let by_signal = client.signal(&run.id, signal::CANCEL, Value::Null).await;
        let sent = client.send(&run.id, UserMessage::new("hello")).await;
        [cancelled, signalled, by_signal, sent]
    };
    for answer in timeout(patience(), nothing())
        .await
        .expect("answers in time")
    {
        let error = answer.unwrap_err();
        assert!(error.is_run_over(), "{error:?}");
        assert_eq!(
            error.refusal(),
            Some(&Refusal::RunOver {
                run_id: run.id.clone(),
                state: RunPhase::Completed
            })
        );
    }
    let after = soon(client.output(&run.id), "the output").await;
    assert_eq!(after, Some(output));
}

/// Every method of a client whose engine is away fails in bounded time, with an error that states it.
///
/// # Panics
///
/// If it does not.
pub async fn an_engine_that_is_away_is_said_to_be(client: Arc<dyn RunClient>) {
    let run = RunId::new("any").unwrap();
    let asked = async {
        let starting = client.start(&run, input().into());
        let all = RunFilter::all();
        let listing = client.list(&all, PageRequest::default());
        futures::join!(faults(&*client, &run), starting, listing)
    };
    let (mut errors, started, listed) = timeout(patience(), asked)
        .await
        .expect("an engine that is away is noticed");
    errors.push(("start", started.unwrap_err()));
    errors.push(("list", listed.map(drop).unwrap_err()));
    for (name, error) in errors {
        assert!(
            matches!(&error, RunClientError::Unreachable { engine, .. } if *engine == client.engine()),
            "{name}: {error:?}"
        );
        assert!(error.is_transient(), "{name}");
    }
}
