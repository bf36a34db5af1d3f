//! Tickets: decided by update and by signal, rejected, and waited for without a worker.

use std::{sync::Arc, time::Duration};

use neuron_engine::{RunClient as _, RunClientError};
use neuron_executor::Executor;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_tool::ToolRegistry;
use neuron_types::{
    ApprovalRules, Decision, Place, RunEvent, RunPhase, ToolEffects, UserMessage, Verdict,
    Verification, VerifyDecision, VerifyOutcome, VerifyRequest, signal,
};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn one_call_is_approved_and_one_denied_while_the_worker_is_gone() {
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "echo", "input": {"text": "one"}},
            {"name": "echo", "input": {"text": "two"}},
        ]},
        {"text": "Done."},
    ]});
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&echo));
    spec.approvals = ApprovalRules {
        approve: vec!["echo".into()],
        ..ApprovalRules::default()
    };
    let stage = Stage::set().await;
    let worker = stage.worker(&executor);
    let run = stage.start("approvals", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    assert_eq!(status.approvals.len(), 2);
    drop(worker);
    // The server sends the update to the next worker: it must be one that is rejected.
    let nonsense = Decision {
        digest: "0".into(),
        ..decision(&status.approvals[0], Verdict::Deny)
    };
    let impatient = stage.client.clone();
    let impatient = impatient.with_decision_patience(Duration::from_secs(1)); // No worker is there, at any speed.
    for result in [
        stage.client.status(&run).await.map(drop),
        impatient.decide(&run, &nonsense).await,
    ] {
        assert!(
            matches!(result, Err(RunClientError::NoWorker { .. })),
            "{result:?}"
        );
    }

    // A signal of Temporal's own needs no worker.
    let denial = Decision {
        comment: Some("because".into()),
        ..decision(&status.approvals[1], Verdict::Deny)
    };
    stage
        .signal_raw(&run, signal::DECISION, &json!(denial))
        .await;

    let _worker = stage.worker(&executor);
    let refused = |result: Result<(), RunClientError>| match result {
        Err(RunClientError::Rejected { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let first = &status.approvals[0];
    let wrong_digest = Decision {
        digest: "0".into(),
        ..decision(first, Verdict::Approve)
    };
    assert_eq!(
        refused(stage.client.decide(&run, &wrong_digest).await),
        format!("the digest is not that of ticket {}", first.ticket)
    );
    // The run has processed the signal when one ticket is left.
    until(async || {
        let status = stage.client.status(&run).await.ok()?;
        (status.approvals.len() == 1).then_some(())
    })
    .await;
    assert!(refused(stage.client.decide(&run, &denial).await).contains("decided already"));
    stage
        .client
        .decide(&run, &decision(first, Verdict::Approve))
        .await
        .unwrap();

    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(echo.keys(), ["approvals:1:1"]);
    assert_eq!(model.count(), 2, "a finished step is not made again");
    let transcript = json!(stage.client.conversation(&run).await.unwrap()).to_string();
    assert!(transcript.contains("not called: ann denied it: because"));
    // The same decision again is the same update, which was accepted; any other is late.
    let again = decision(first, Verdict::Approve);
    stage.client.decide(&run, &again).await.unwrap();
    let late = stage
        .client
        .decide(&run, &decision(first, Verdict::Deny))
        .await;
    assert_eq!(refused(late), format!("run {run} is over (completed)"));
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_and_unknown_and_unreadable_signals_reach_the_run() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {"text": "one"}}]},
        {"text": "First."},
        {"text": "Second."},
    ]});
    let (mut spec, executor) = noted_agent(
        &NotedModel::new(&script),
        &[NotedTool::echo(ToolEffects::Write)],
    );
    spec.approvals.approve = vec!["*".into()];
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let run = stage.start("messages", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let message = UserMessage {
        text: "And more.".into(),
    };
    stage.client.send(&run, message).await.unwrap();
    stage
        .client
        .signal(&run, "weather", json!(1))
        .await
        .unwrap();
    let unreadable = stage.client.signal(&run, signal::USER_MESSAGE, json!(7));
    let rejected = unreadable.await.unwrap_err();
    assert!(
        matches!(rejected, RunClientError::BadSignal(_)),
        "{rejected:?}"
    );
    stage
        .signal_raw(&run, signal::USER_MESSAGE, &json!(7))
        .await;
    stage
        .client
        .decide(&run, &decision(&status.approvals[0], Verdict::Approve))
        .await
        .unwrap();
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.turns, 2, "{output:?}");
    let events = json!(stage.client.events_after(&run, 0).await.unwrap()).to_string();
    assert!(events.contains("And more."));
    assert!(events.contains("signal_ignored"), "{events}");
}

#[tokio::test(flavor = "multi_thread")]
async fn temporals_own_command_approves_and_denies() {
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "echo", "input": {"text": "one"}},
            {"name": "echo", "input": {"text": "two"}},
        ]},
        {"text": "Done."},
    ]});
    let echo = NotedTool::echo(ToolEffects::Write);
    let (mut spec, executor) = noted_agent(&NotedModel::new(&script), std::slice::from_ref(&echo));
    spec.approvals.approve = vec!["*".into()];
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let run = stage.start("by-command", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let named = |n: usize| {
        let ticket = &status.approvals[n];
        json!({"ticket": ticket.ticket, "digest": ticket.digest})
    };
    let update = ["workflow", "update", "execute", "--name"];
    let (denied, said) =
        stage.temporal(&[&update[..], &["deny", "--input", &named(0).to_string()]].concat());
    assert!(denied, "{said}");
    let unknown = json!({"ticket": "t9", "digest": "0"}).to_string();
    let (accepted, said) =
        stage.temporal(&[&update[..], &["approve", "--input", &unknown]].concat());
    assert!(!accepted);
    assert!(said.contains("has no ticket t9"), "{said}");
    let mut approval = named(1);
    approval["verdict"] = "approve".into();
    let approval = approval.to_string();
    let signal = [
        "workflow", "signal", "--name", "decision", "--input", &approval,
    ];
    let (sent, said) = stage.temporal(&signal);
    assert!(sent, "{said}");
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(echo.keys(), ["by-command:1:2"]);

    let (shown, history) = stage.temporal(&["workflow", "show", "--output", "json"]);
    assert!(shown, "{history}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), history).unwrap();
    let replay = neuron_temporal::Replay::new::<crate::stage::Agent>().unwrap();
    replay.file(file.path()).await.unwrap();
}

/// Accepts what Ada signed.
struct OnlyAda;

impl VerifyDecision for OnlyAda {
    fn verify(&self, _: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome {
        match request.decision.signature.as_deref() {
            Some("ada") => VerifyOutcome::Taken(Verification {
                verified: true,
                approver: Some("ada".into()),
                ..Verification::default()
            }),
            _ => VerifyOutcome::rejected("it is not signed"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_that_anybody_sends_close_no_ticket() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]});
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&script);
    let (mut spec, _) = noted_agent(&model, std::slice::from_ref(&echo));
    spec.approvals.approve = vec!["echo".into()];
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(echo.clone()));
    let executor = Executor::builder()
        .provider("script", model)
        .tools(tools)
        .verifier(OnlyAda)
        .build();
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let run = stage.start("flooded", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    assert!(status.signed);
    let approval = decision(&status.approvals[0], Verdict::Approve);
    for number in 0..30 {
        let unsigned = Decision {
            approver: Some(format!("mallory{number}")),
            ..approval.clone()
        };
        stage
            .signal_raw(&run, signal::DECISION, &json!(unsigned))
            .await;
    }
    let refusals = until(async || {
        let events = stage.client.events_after(&run, 0).await.ok()?;
        let reasons = events
            .into_iter()
            .filter_map(|recorded| match recorded.event {
                RunEvent::ApprovalRefused { reason, .. } => Some(reason),
                _ => None,
            });
        let reasons: Vec<String> = reasons.collect();
        (reasons.len() > 20).then_some(reasons)
    })
    .await;
    let (dropped, looked_at): (Vec<String>, Vec<String>) = refusals
        .into_iter()
        .partition(|reason| reason.starts_with("20 signals"));
    assert_eq!(looked_at, ["it is not signed"; 20]);
    assert_eq!(dropped.len(), 1, "one a minute");

    // A client that sends an update instead of a signal gets the run's answer, and writes nothing into the history.
    let (_, before) = stage.history(&run).await;
    let told = stage.client.decide(&run, &approval).await.unwrap_err();
    assert!(
        told.to_string()
            .ends_with("is not taken: the decision is not signed"),
        "{told}"
    );
    assert!(told.refusal().is_some(), "{told:?}");
    assert_eq!(stage.history(&run).await.1, before);
    let signed = Decision {
        signature: Some("ada".into()),
        ..approval
    };
    stage.client.decide(&run, &signed).await.unwrap();
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(echo.keys(), ["flooded:1:1"]);
    stage.replays_all(&run).await;
}
