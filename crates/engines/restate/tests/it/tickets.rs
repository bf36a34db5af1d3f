//! Tickets: decided by client and by plain HTTP, rejected, and waited for without a worker.

use neuron_engine::{DecisionBody, RunClient as _};
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{Decision, RunEvent, RunPhase, ToolEffects, Verdict};
use serde_json::json;

use crate::stage::Stage;

fn two_calls() -> serde_json::Value {
    json!({"turns": [
        {"tool_calls": [
            {"name": "echo", "input": {"text": "one"}},
            {"name": "echo", "input": {"text": "two"}},
        ]},
        {"text": "Done."},
    ]})
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_is_approved_and_one_denied_across_the_loss_of_the_worker() {
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&two_calls());
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&echo));
    spec.approvals.approve = vec!["echo".into()];
    let stage = Stage::set("tickets").await;
    let worker = stage.worker(&executor).await;
    let run = stage.start("asked", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    assert_eq!(status.approvals.len(), 2);
    drop(worker);

    // The server accepts the decision while there is no worker.
    let approval = json!({
        "ticket": status.approvals[0].ticket,
        "digest": status.approvals[0].digest,
        "args": {"text": "edited"},
        "approver": "ann",
    });
    let (posted, worker) = tokio::join!(stage.post(&run, "approve", &approval), async {
        tokio::task::yield_now().await;
        stage.worker(&executor).await
    });
    assert_eq!(posted.0, 200, "{posted:?}");
    let denial = Decision {
        comment: Some("because".into()),
        ..decision(&status.approvals[1], Verdict::Deny)
    };
    stage.client.decide(&run, &denial).await.unwrap();

    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(echo.keys(), ["asked:1:1"]);
    assert_eq!(model.count(), 2, "a finished step is not made again");
    let seen = model.last_message().to_string();
    assert!(seen.contains("edited"), "{seen}");
    assert!(
        seen.contains("not called: ann denied it: because"),
        "{seen}"
    );

    let (status, answer) = stage.post(&run, "approve", &approval).await;
    assert_eq!(status, 409);
    assert_eq!(answer["message"], "run asked is over (completed)");
    drop(worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_that_fits_no_open_ticket_is_refused_with_a_sentence() {
    let (mut spec, executor) = noted_agent(
        &NotedModel::new(&two_calls()),
        &[NotedTool::echo(ToolEffects::Write)],
    );
    spec.approvals.approve = vec!["*".into()];
    let stage = Stage::set("refusals").await;
    let _worker = stage.worker(&executor).await;
    let run = stage.start("refusing", &spec).await;
    let tickets = stage
        .reaches(&run, RunPhase::WaitingForApproval)
        .await
        .approvals;
    let refused = async |decision: &Decision| {
        let handler = decision.verdict.as_str();
        let body = json!(DecisionBody::from(decision.clone()));
        let (status, answer) = stage.post(&run, handler, &body).await;
        let by_client = stage.client.decide(&run, decision).await.unwrap_err();
        assert!(by_client.refusal().is_some(), "{by_client:?}");
        assert_eq!(answer["message"], by_client.to_string());
        (status, by_client.to_string())
    };
    let first = decision(&tickets[0], Verdict::Approve);
    let unknown = Decision {
        ticket: "t9-9".into(),
        ..first.clone()
    };
    let wrong = Decision {
        digest: "0".into(),
        ..first.clone()
    };
    let with_args = Decision {
        args: Some(json!({})),
        ..decision(&tickets[0], Verdict::Deny)
    };
    let sentence = |status: u16, text: &str| (status, text.to_owned());
    assert_eq!(
        refused(&unknown).await,
        sentence(404, "run refusing has no ticket t9-9")
    );
    assert_eq!(
        refused(&wrong).await,
        sentence(409, "the digest is not that of ticket t1-1")
    );
    assert_eq!(
        refused(&with_args).await,
        sentence(
            400,
            "a denial of ticket t1-1 has no use for arguments: leave them out, or approve"
        )
    );
    // Of two at the same time one is rejected, whether the other was received yet or not.
    let (one, two) = tokio::join!(
        stage.client.decide(&run, &first),
        stage.client.decide(&run, &first)
    );
    assert_eq!(one.is_ok() as u8 + two.is_ok() as u8, 1, "{one:?} {two:?}");
    let used = "ticket t1-1 of run refusing is decided already";
    assert_eq!(refused(&first).await, sentence(409, used));
    let (status, answer) = stage
        .post(&run, "approve", &json!({"ticket": "t1-2"}))
        .await;
    assert_eq!(status, 400, "{answer}");

    let second = decision(&tickets[1], Verdict::Approve);
    stage.client.decide(&run, &second).await.unwrap();
    assert_eq!(stage.wait(&run).await.output.as_deref(), Some("Done."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_lapsed_is_refused_and_the_run_goes_on() {
    let echo = NotedTool::echo(ToolEffects::Write);
    let script = json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {}}]},
        {"tool_calls": [{"name": "gate", "input": {}}]},
        {"text": "Done."},
    ]});
    let (noted, gate) = NotedTool::gate();
    let tools = [echo.clone(), noted.clone()];
    let (mut spec, executor) = noted_agent(&NotedModel::new(&script), &tools);
    spec.approvals.approve = vec!["echo".into()];
    spec.approval_timeout = Some(std::time::Duration::from_secs(1)); // It is not decided, so it lapses at any speed.
    let stage = Stage::set("lapsing").await;
    let _worker = stage.worker(&executor).await;
    let run = stage.start("lapsed", &spec).await;
    until(async || (!noted.keys().is_empty()).then_some(())).await;
    let events = stage.events(&run).await.into_iter();
    let mut tickets = events.filter_map(|event| match event {
        RunEvent::ApprovalRequested { ticket, .. } => Some(ticket),
        _ => None,
    });
    let late = decision(&tickets.next().unwrap(), Verdict::Approve);
    let body = json!(DecisionBody::from(late));
    let (status, answer) = stage.post(&run, "approve", &body).await;
    let sentence = "ticket t1-1 of run lapsed has expired, its call is not made";
    assert_eq!((status, &answer["message"]), (410, &json!(sentence)));
    gate.add_permits(1);
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert!(echo.keys().is_empty());
}
