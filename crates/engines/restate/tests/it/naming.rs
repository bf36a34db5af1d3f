//! Runs that any client starts over HTTP, with two texts.

use neuron_engine::{PageRequest, RunClient as _, RunFilter};
use neuron_testing::{NotedModel, noted_agent};
use neuron_types::{ExitReason, FailureKind, RunError, RunId, RunOutput, RunPhase};
use serde_json::json;

use crate::{journals::journals, stage::Stage};

#[tokio::test(flavor = "multi_thread")]
async fn a_post_starts_a_run_with_a_name_and_a_prompt() {
    let stage = Stage::set("naming").await;
    let model = NotedModel::new(&json!({"turns": [{"text": "Hi."}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let agents = [spec.clone()].into_iter().collect();
    let settings = |services: neuron_restate::AgentServices| services.with_agents(agents);
    let _worker = stage.worker_with(&executor, settings).await;
    let (named, whole) = (RunId::new("named").unwrap(), RunId::new("whole").unwrap());

    let request = json!({"agent": "default", "prompt": "Go.", "owner": "ann"});
    let (answered, body) = stage.post(&named, "run", &request).await;
    assert_eq!(answered, 200, "{body}");
    let output: RunOutput = serde_json::from_value(body).unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete), "{output:?}");
    let status = stage.client.status(&named).await.unwrap();
    assert_eq!(status.definition, Some(spec.fingerprint()));
    assert_eq!(status.owner.as_deref(), Some("ann"));
    // The first step looks up the agent's definition: no entry more than with a definition.
    stage.run("whole", &spec).await;
    let entries = async |run| journals(&stage, run, None).await[0].entries;
    assert_eq!(entries(&named).await, entries(&whole).await);

    for (run, request, said) in [
        (
            "unknown",
            json!({"agent": "default", "promt": "Go."}),
            "invalid_request: unknown field \"promt\": did you mean \"prompt\"?",
        ),
        (
            "unnamed",
            json!({"agnet": "default", "prompt": "Go."}),
            "invalid_request: unknown field \"agnet\": did you mean \"agent\"?",
        ),
        (
            "missing",
            json!({"agent": "default"}),
            "invalid_request: missing field `prompt`",
        ),
    ] {
        let wrong = RunId::new(run).unwrap();
        let (answered, body) = stage.post(&wrong, "run", &request).await;
        assert_eq!(answered, 400, "{body}");
        assert_eq!(body["message"], said, "{body}");
        let expected = said.strip_prefix("invalid_request: ");
        let said_of = |error: &Option<RunError>| {
            let error = error.clone().unwrap();
            assert_eq!(error.kind, FailureKind::InvalidRequest);
            assert_eq!(Some(&*error.message), expected);
        };
        let status = stage.client.status(&wrong).await.unwrap();
        assert_eq!(status.state, RunPhase::Failed);
        said_of(&status.error);
        said_of(&stage.client.wait(&wrong).await.unwrap().error);
        let all = RunFilter::all();
        let listed = stage.client.list(&all, PageRequest::first(10));
        let listed = listed.await.unwrap().runs;
        let listed = listed.iter().find(|status| status.run_id == wrong);
        said_of(&listed.unwrap().error);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_cannot_be_read_is_answered_with_a_sentence() {
    let stage = Stage::set("misread").await;
    let model = NotedModel::new(&json!({"turns": [{"text": "Hi."}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let _worker = stage.worker(&executor).await;
    let run = stage.begin("known", &spec).await;
    for (handler, body, said) in [
        ("approve", json!({"ticket": 5}), "invalid type: integer `5`"),
        (
            "deny",
            json!({"ticket": "t1-1", "digest": "d", "why": "no"}),
            "unknown field `why`",
        ),
        ("send", json!({"txt": "hello"}), "missing field `text`"),
        ("events", json!({"after": "x"}), "invalid type: string"),
    ] {
        let (answered, body) = stage.post(&run, handler, &body).await;
        let message = body["message"].as_str().unwrap();
        assert_eq!(answered, 400, "{message}");
        let is_plain = !message.contains("Error(") && !message.contains('\\');
        assert!(message.contains(said) && is_plain, "{message}");
    }
}
