//! The failures of a model API: rejections, server errors, broken connections, and delays that it asks for.

use std::{
    net::TcpListener,
    ops::Range,
    time::{Duration, SystemTime},
};

use neuron_harness::{FakeModel, Finished, Reply, Request, World, chat};
use serde_json::{Value, json};

/// Four attempts with delays of at most 100, 200 and 300 ms between them: the jitter depends on the run.
const RETRY: &str = "tools = []\n\n[agents.default.retry.model]\nattempts = 4\ninitial = \"100ms\" # Only so that it does not take long.\n\
                     factor = 2.0\nmax = \"300ms\"\n"; // Only so that it does not take long.
const DELAYS: [Range<u64>; 3] = [1..100, 1..200, 1..300];

/// A rounded delay may differ from the real one by this much.
const ROUNDING: Duration = Duration::from_millis(50); // Only compared, never waited for.

fn run(model: &FakeModel, keys: &str) -> Finished {
    let world = World::new();
    world.write("neuron.toml", &model.agent_file(keys));
    world.neuron(&["run", "Go.", "--json"])
}

/// Returns the times between successive requests.
fn gaps(requests: &[Request]) -> Vec<Duration> {
    requests
        .windows(2)
        .map(|pair| pair[1].at - pair[0].at)
        .collect()
}

/// Returns the delays that the run reports.
fn told(run: &Finished) -> Vec<Duration> {
    let lines = run.stderr.lines();
    let told = lines.filter_map(|line| Some(line.split_once(", again in ")?.1));
    told.map(|told| {
        let (number, unit) = told.split_once(' ').unwrap();
        let number: f64 = number.parse().unwrap();
        match unit {
            "ms" => Duration::from_secs_f64(number / 1_000.0), // What was reported.
            "s" => Duration::from_secs_f64(number),            // What was reported.
            _ => panic!("a delay of {told}"),
        }
    })
    .collect()
}

/// Checks that the run waited between its requests as it reports, and that its delays, in milliseconds, are in these
/// ranges.
fn check_delays(delays: &[Range<u64>], run: &Finished, requests: &[Request]) {
    let (gaps, told) = (gaps(requests), told(run));
    assert_eq!(gaps.len(), delays.len(), "{gaps:?}");
    assert_eq!(told.len(), delays.len(), "{run:#?}");
    for ((gap, told), range) in gaps.iter().zip(&told).zip(delays) {
        assert!(*gap + ROUNDING >= *told, "{gaps:?} for {told:?}");
        let [least, most] = [range.start, range.end].map(Duration::from_millis); // Only compared, never waited for.
        let is_within = *told + ROUNDING >= least && *told <= most + ROUNDING;
        assert!(is_within, "{told:?} is not in {range:?}");
    }
}

/// Returns a server that gives this answer at first and succeeds from the request of this number on.
fn failing_until(number: usize, reply: impl Fn() -> Reply + Send + Sync + 'static) -> FakeModel {
    FakeModel::start(move |request| {
        if request.number < number {
            reply()
        } else {
            Reply::ok(chat::text("Here I am."))
        }
    })
}

/// Checks a limit whose delay is longer than the policy's.
fn waits_as_told(headers: &[(&str, &str)], delay: Range<u64>) {
    let body = chat::error("rate_limit_exceeded", "Slow down.");
    let reply = headers
        .iter()
        .fold(Reply::status(429, body), |reply, (name, value)| {
            reply.header(name, *value)
        });
    let model = failing_until(2, move || reply.clone());

    let run = run(&model, RETRY).exits(0);

    assert_eq!(run.json()["output"], "Here I am.");
    check_delays(&[delay], &run, &model.requests());
}

#[test]
fn a_limit_in_seconds_is_waited_for() {
    waits_as_told(&[("retry-after", "1")], 1_000..1_100);
}

#[test]
fn a_limit_in_milliseconds_is_waited_for_and_outranks_seconds() {
    let headers = [("retry-after", "20"), ("retry-after-ms", "650")];
    waits_as_told(&headers, 650..750);
}

#[test]
fn a_limit_as_a_date_is_waited_for() {
    let body = chat::error("rate_limit_exceeded", "Slow down.");
    // A date has whole seconds, so the delay is between two and three.
    let model = failing_until(2, move || {
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3)); // Sent to the run.
        Reply::status(429, body.clone()).header("retry-after", date)
    });

    let run = run(&model, RETRY).exits(0);

    let gaps = gaps(&model.requests());
    assert_eq!(gaps.len(), 1);
    assert!(gaps[0] >= Duration::from_millis(1950), "{gaps:?}"); // Not earlier, at any speed.
    // A date that is interpreted as another number would be far away.
    assert!(told(&run)[0] <= Duration::from_millis(3_400), "{run:#?}"); // Only what is reported, not what passed.
}

#[test]
fn a_short_limit_is_waited_for_and_the_delay_of_the_policy_comes_on_top() {
    waits_as_told(&[("retry-after-ms", "200")], 200..300);
}

/// Checks an error that no further attempt can fix: one request, exit 1, and a message that names the cause.
fn fails_at_once(reply: Reply, kind: &str, parts: &[&str]) {
    let model = failing_until(usize::MAX, move || reply.clone());

    let run = run(&model, RETRY).exits(1);

    assert_eq!(model.requests().len(), 1);
    let output = run.json();
    assert_eq!(output["state"], "failed", "{output}");
    assert_eq!(output["error"]["kind"], kind, "{output}");
    let message = output["error"]["message"].as_str().unwrap();
    for part in parts {
        assert!(message.contains(part), "no {part:?} in {message:?}");
        assert!(run.stderr.contains(part), "no {part:?} in {run:#?}");
    }
}

#[test]
fn a_refused_key_fails_at_once() {
    let body = chat::error("invalid_api_key", "Incorrect API key provided.");
    fails_at_once(
        Reply::status(401, body),
        "authentication",
        &["key", "Incorrect API key"],
    );
}

#[test]
fn a_missing_permission_fails_at_once() {
    let body = chat::error("forbidden", "You may not use this model.");
    fails_at_once(
        Reply::status(403, body),
        "permission",
        &["You may not use this model."],
    );
}

#[test]
fn an_unknown_model_fails_at_once() {
    let body = chat::error("model_not_found", "The model fake-1 does not exist.");
    fails_at_once(
        Reply::status(404, body),
        "model_not_found",
        &["fake-1 does not exist"],
    );
}

#[test]
fn a_wrong_request_fails_at_once() {
    let body = chat::error("invalid_request_error", "Unknown parameter.");
    fails_at_once(
        Reply::status(400, body),
        "invalid_request",
        &["Unknown parameter."],
    );
}

#[test]
fn a_conversation_that_is_too_long_fails_at_once() {
    let body = chat::error("context_length_exceeded", "The maximum is 8192 tokens.");
    fails_at_once(Reply::status(400, body), "context_length", &["context"]);
}

#[test]
fn a_used_up_quota_fails_at_once_though_its_status_is_that_of_a_rate_limit() {
    let body = chat::error("insufficient_quota", "You exceeded your current quota.");
    let reply = Reply::status(429, body).header("retry-after", "1");
    fails_at_once(reply, "quota", &["You exceeded your current quota."]);
}

#[test]
fn an_answer_that_is_no_json_names_the_status() {
    let reply = Reply::status(418, json!("<html>teapot</html>"));
    fails_at_once(reply, "invalid_request", &["teapot"]);
}

/// Checks an error that may pass: it is retried with the policy's delays, and then reported.
fn is_retried_to_the_policy(reply: &Reply, kind: &str) {
    let reply = reply.clone();
    let model = failing_until(usize::MAX, move || reply.clone());

    let run = run(&model, RETRY).exits(1);

    let output = run.json();
    assert_eq!(output["error"]["kind"], kind, "{output}");
    let bodies = model.bodies();
    assert!(
        bodies.iter().all(|body| *body == bodies[0]),
        "every attempt asks the same"
    );
    check_delays(&DELAYS, &run, &model.requests());
}

#[test]
fn an_internal_error_of_the_server_is_retried() {
    let body = chat::error("server_error", "Something broke.");
    is_retried_to_the_policy(&Reply::status(500, body), "unavailable");
}

#[test]
fn an_unavailable_server_is_retried() {
    let body = chat::error("service_unavailable", "Try later.");
    is_retried_to_the_policy(&Reply::status(503, body), "overloaded");
}

#[test]
fn an_overloaded_server_is_retried() {
    let body = chat::error("overloaded_error", "Overloaded.");
    is_retried_to_the_policy(&Reply::status(529, body), "overloaded");
}

#[test]
fn a_cut_connection_is_retried() {
    is_retried_to_the_policy(&Reply::Cut, "network");
}

#[test]
fn an_answer_that_is_cut_in_the_middle_is_retried() {
    is_retried_to_the_policy(&Reply::Half(chat::text("Half of this is lost.")), "network");
}

#[test]
fn a_model_that_does_not_answer_in_time_is_asked_again() {
    let model = FakeModel::start(|_| Reply::Hang);
    let world = World::new();
    let keys = format!("model_timeout = \"400ms\"\n{RETRY}"); // Nothing that it ends would ever answer.
    world.write("neuron.toml", &model.agent_file(&keys));

    let run = world.start(&["run", "Go.", "--json"]);
    let started = run.started();
    let ended = run.finish().exits(1);
    let took = started.elapsed();

    let output = ended.json();
    assert_eq!(output["error"]["kind"], "timeout", "{output}");
    // An attempt begins before its request arrives, so single times between requests prove little.
    let shortest = 4 * Duration::from_millis(400); // Not earlier, at any speed.
    assert!(took >= shortest, "{took:?}");
    assert_eq!(told(&ended).len(), 3, "{ended:#?}");
    // On a slow machine the time of an attempt may be over before its request arrives.
    assert!(model.requests().len() <= 4);
}

#[test]
fn a_server_that_is_not_there_is_retried_and_named() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let world = World::new();
    world.write(
        "neuron.toml",
        &format!(
            "[providers.fake]\nkind = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\n\n\
             [agents.default]\nmodel = \"fake/fake-1\"\n{RETRY}"
        ),
    );

    let run = world.start(&["run", "Go.", "--json"]);
    let started = run.started();
    let run = run.finish().exits(1);

    assert_eq!(run.json()["error"]["kind"], "network");
    let delays = told(&run);
    assert_eq!(delays.len(), 3);
    let all = delays.iter().sum::<Duration>();
    assert!(started.elapsed() >= all, "it did not wait {delays:?}");
    run.says(&[&address.to_string()]);
}

#[test]
fn a_server_that_recovers_leaves_no_trace_in_the_answer() {
    let model = failing_until(4, || {
        Reply::status(500, chat::error("server_error", "Broken."))
    });

    let run = run(&model, RETRY).exits(0);

    let output = run.json();
    assert_eq!(output["output"], "Here I am.");
    assert_eq!(output["turns"], 1);
    assert_eq!(output["error"], Value::Null);
    assert_eq!(model.requests().len(), 4);
}

/// Checks each error code of an API: status, code, the kind that is reported, and how many requests.
fn failures_of(kind: &str, base_path: &str, cases: &[(u16, &str, &str, usize)]) {
    for (status, code, failure, requests) in cases {
        // Each API finds its own code in this.
        let error = json!({"type": code, "code": code, "message": "No."});
        let reply = Reply::status(*status, json!({"type": "error", "error": error}));
        let model = failing_until(usize::MAX, move || reply.clone());
        let world = World::new();
        let retry = RETRY.replace("00ms", "0ms"); // Only so that it does not take long.
        world.write(
            "neuron.toml",
            &format!(
                "[providers.fake]\nkind = \"{kind}\"\nbase_url = \"{}{base_path}\"\n\n\
                 [agents.default]\nmodel = \"fake/fake-1\"\n{retry}",
                model.url()
            ),
        );

        let output = world.neuron(&["run", "Go.", "--json"]).exits(1).json();

        assert_eq!(
            output["error"]["kind"], *failure,
            "{status} {code}: {output}"
        );
        assert_eq!(model.requests().len(), *requests, "{status} {code}");
    }
}

#[test]
fn failures_of_the_anthropic_api_are_told_apart_too() {
    let cases = [
        (400, "invalid_request_error", "invalid_request", 1),
        (401, "authentication_error", "authentication", 1),
        (403, "permission_error", "permission", 1),
        (404, "not_found_error", "model_not_found", 1),
        (429, "rate_limit_error", "rate_limited", 4),
        (500, "api_error", "unavailable", 4),
        (529, "overloaded_error", "overloaded", 4),
    ];
    failures_of("anthropic", "", &cases);
}

#[test]
fn failures_of_the_responses_api_are_told_apart_too() {
    let cases = [
        (400, "context_length_exceeded", "context_length", 1),
        (401, "invalid_api_key", "authentication", 1),
        (403, "forbidden", "permission", 1),
        (404, "model_not_found", "model_not_found", 1),
        (429, "insufficient_quota", "quota", 1),
        (429, "rate_limit_exceeded", "rate_limited", 4),
        (500, "server_error", "unavailable", 4),
        (503, "service_unavailable", "overloaded", 4),
    ];
    failures_of("openai-responses", "/v1", &cases);
}
