//! Second starts of a run, as every client of an engine's runs must handle them.

use neuron_engine::RunClient;
use neuron_types::{
    AgentRef, AgentSpec, LimitOverrides, Message, Overrides, RunId, RunPhase, RunRequest,
    SessionName,
};
use serde_json::{Value, json};

use super::clients::{opened, soon};
use crate::{ClientSession, Host, agent};

/// Returns an agent with the model of the run of this name, and that name.
fn of_run(name: &str) -> AgentSpec {
    let mut agent = agent();
    agent.name = name.to_owned();
    name.clone_into(&mut agent.head_mut().model);
    agent
}

/// Returns a request with everything that a run can be started with.
fn full(agent: impl Into<AgentRef>) -> RunRequest {
    let limits = LimitOverrides {
        turns: Some(7),
        ..LimitOverrides::default()
    };
    let request = RunRequest::new(agent, Message::user("Go."))
        .tenant("acme")
        .owner("ada")
        .label("report", "q3")
        .session(SessionName::new("notes").unwrap())
        .limits(limits)
        .deny("write");
    RunRequest {
        preamble: vec![Message::user("Hello.")].into(),
        ..request
    }
}

/// How many answers the session that the runs continue has.
const SAID: u32 = 1;

/// Returns the script of a run that continues it: the answer after those is the run's.
fn after_the_session() -> Value {
    json!({"turns": [{"text": "Noted."}, {"text": "Done."}]})
}

/// Returns requests that each differ in one part from [`full`].
fn others(request: &RunRequest) -> Vec<(&'static str, RunRequest)> {
    let of = || request.clone();
    let agent = match &request.agent {
        AgentRef::Name(_) => "another".into(),
        AgentRef::Definition(_) => of_run("another").into(),
    };
    let no_labels = {
        let mut request = of();
        request.tags.labels.clear();
        request
    };
    let nobodys = {
        let mut request = of();
        request.tags.tenant = None;
        request
    };
    let said = [Message::user("Good evening.")];
    vec![
        ("agent", RunRequest { agent, ..of() }),
        (
            "prompt",
            RunRequest {
                prompt: Message::user("Stop."),
                ..of()
            },
        ),
        (
            "preamble",
            RunRequest {
                preamble: said.to_vec().into(),
                ..of()
            },
        ),
        (
            "no preamble",
            RunRequest {
                preamble: Vec::new().into(),
                ..of()
            },
        ),
        ("session", of().session(SessionName::new("plans").unwrap())),
        (
            "no session",
            RunRequest {
                session: None,
                parent: None,
                ..of()
            },
        ),
        ("tenant", of().tenant("other")),
        ("no tenant", nobodys),
        ("owner", of().owner("bob")),
        ("label", of().label("report", "q4")),
        ("one more label", of().label("draft", "yes")),
        ("no labels", no_labels),
        ("override", of().deny("look")),
        ("no overrides", of().overrides(Overrides::default())),
    ]
}

/// Checks that the run matches its own request, and none of the others.
async fn is_of(client: &dyn RunClient, run: &RunId, request: &RunRequest, when: &str) {
    let again = client.start(run, request.clone()).await;
    assert!(again.is_err_and(|error| error.is_run_exists()), "{when}");
    let same = client.was_started_with(run, request);
    assert!(soon(same, when).await, "{when}");
    for (what, other) in others(request) {
        let same = client.was_started_with(run, &other);
        assert!(!soon(same, what).await, "another: {what}, {when}");
    }
}

/// The request can be read before a worker has the run and after it ended, and then without a worker, too.
pub async fn a_run_has_the_request_that_it_was_started_with<H: Host<Session: ClientSession>>(
    host: &H,
) {
    let (stage, client) = opened(host, "request").await;
    stage.world.define(of_run("named"));
    let script = after_the_session();
    for (name, request) in [
        ("named", full("named")),
        ("defined", full(of_run("defined"))),
    ] {
        let run = stage.submit_request(name, &script, request.clone());
        let run = run.await;
        let read = soon(client.request(&run.id), "the request").await;
        assert_eq!(read.as_ref(), Some(&request));
        stage.execute().await;
        let output = soon(client.wait_for_end(&run.id), "the end").await;
        assert_eq!(output.state, RunPhase::Completed, "{output:?}");
        stage.kill().await;
        let read = soon(client.request(&run.id), "the request of a run that is over").await;
        let read = read.expect("it is kept");
        assert!(read.is_same_start(&request), "{read:?}");
    }
}

/// A second start attaches to a run if its request is equal in all parts that count, whether the run waits for a
/// worker, is in progress, or is over.
pub async fn a_second_start_is_of_the_same_run_only_with_an_equal_request<
    H: Host<Session: ClientSession>,
>(
    host: &H,
) {
    let (stage, client) = opened(host, "second").await;
    stage.world.define(of_run("named"));
    let script = after_the_session();
    for (name, request) in [
        ("named", full("named")),
        ("defined", full(of_run("defined"))),
    ] {
        let mut gate = stage.world.hold(name, SAID + 1, 0);
        let run = stage.submit_request(name, &script, request.clone());
        let run = run.await;
        is_of(&*client, &run.id, &request, "before it began").await;
        stage.execute().await;
        gate.reached().await;
        is_of(&*client, &run.id, &request, "under way").await;
        gate.release();
        let output = soon(client.wait_for_end(&run.id), "the end").await;
        assert_eq!(output.state, RunPhase::Completed, "{output:?}");
        is_of(&*client, &run.id, &request, "over").await;
        stage.kill().await;
        is_of(&*client, &run.id, &request, "over, with no worker").await;
    }
}

/// A run in its third segment and later is compared by the request of its first one.
pub async fn a_run_that_continued_as_new_has_the_request_that_it_was_started_with<
    H: Host<Session: ClientSession>,
>(
    host: &H,
) {
    let (stage, client) = opened(&host.rolling_over_after(1), "second_continued").await;
    stage.world.define(of_run("named"));
    stage.execute().await;
    let looks = json!({"tool_calls": [{"name": "look", "input": {}}]});
    let script = json!({"turns": [looks, looks, looks, {"text": "Done."}]});
    let mut gate = stage.world.hold("named", 4, 0);
    let request = full("named");
    let run = stage.submit_request("named", &script, request.clone());
    let run = run.await;
    gate.reached().await;
    assert!(run.histories().await >= 3 || !H::ROLLS_OVER);
    is_of(&*client, &run.id, &request, "continued as new").await;
    gate.release();
    let output = soon(client.wait_for_end(&run.id), "the end").await;
    assert_eq!(output.state, RunPhase::Completed, "{output:?}");
    is_of(&*client, &run.id, &request, "over").await;
}
