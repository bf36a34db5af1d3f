use std::sync::{Arc, Mutex};

use neuron_executor::{Executor, Executors, StepScope};
use neuron_tool::{BuiltinOptions, ToolRegistry};
use neuron_types::{
    AgentSpec, Decision, FailureKind, FormRequest, Pending, Place, Resumed, RunId, RunStatus,
    Ticket, TicketKind, ToolCall, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput,
    Verification, VerifyDecision, VerifyOutcome, VerifyRequest, WasmBoxedFuture,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use neuron_testing::effects::{TestTool, call, preview_of, scope, text_of, verified_at};

/// A tool whose result comes later. It keeps the tokens that it is handed.
#[derive(Clone, Default)]
struct Deploy {
    tokens: Arc<Mutex<Vec<String>>>,
}

impl ToolDyn for Deploy {
    fn name(&self) -> &str {
        "deploy"
    }

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "deploy".into(),
            input_schema: json!({"type": "object"}),
            output_schema: Some(json!({"type": "object"})),
            deferred: true,
            ..ToolDefinition::default()
        }
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            if input.get("fails").is_some() {
                return Ok(ToolOutput::error("there is no such place"));
            }
            let token = ctx.completion_token.clone().unwrap();
            self.tokens.lock().unwrap().push(token);
            Ok(ToolOutput::text("the pipeline runs"))
        })
    }
}

fn hash(token: &str) -> String {
    let digest = Sha256::digest(token.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn ticket(kind: TicketKind) -> Ticket {
    Ticket {
        ticket: "t1-1".into(),
        digest: "d".into(),
        kind,
        ..Ticket::default()
    }
}

fn request(kind: TicketKind, decision: Decision) -> VerifyRequest {
    VerifyRequest {
        decision,
        run: None,
        nonce: None,
        directory: None,
        ticket: "t1-1".into(),
        digest: "d".into(),
        definition: String::new(),
        kind,
        from: None,
        needed: 1,
        token_sha256: Some(hash("right")),
        signed: false,
    }
}

async fn verified(executor: &Executor, request: &VerifyRequest) -> VerifyOutcome {
    verified_at(executor, &scope(), request).await.unwrap()
}

/// Takes what is signed by Ada.
struct OnlyAda;

impl VerifyDecision for OnlyAda {
    fn verify(&self, place: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome {
        match request.decision.signature.as_deref() {
            Some("ada") => VerifyOutcome::Taken(Verification {
                verified: true,
                approver: Some("ada".into()),
                ..Verification::default()
            }),
            Some("panic") => panic!("on purpose"),
            Some("place") => VerifyOutcome::rejected(match place {
                Some(place) => place.to_string(),
                None => "nowhere".to_owned(),
            }),
            _ => VerifyOutcome::rejected("it is not signed"),
        }
    }
}

fn signed(name: &str) -> Decision {
    Decision {
        signature: Some(name.into()),
        ..Decision::approve(&ticket(TicketKind::Call))
    }
}

#[tokio::test]
async fn a_deferred_tool_is_handed_a_token_and_its_hash_is_kept() {
    let deploy = Deploy::default();
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(deploy.clone()));
    let executor = Executor::builder().tools(tools).build();
    let deployed = async |input: Value| {
        let output = executor.call_tool(&scope(), &call("deploy", input)).await;
        output.unwrap()
    };
    for attempt in 0..2 {
        let output = deployed(json!({})).await;
        let token = deploy.tokens.lock().unwrap()[attempt].clone();
        assert_eq!(token.len(), 64);
        let expected = Pending::External {
            token_sha256: hash(&token),
            text: Some("the pipeline runs".into()),
            schema: Some(json!({"type": "object"})),
        };
        assert_eq!(output, ToolOutput::pending(expected));
    }
    let tokens = deploy.tokens.lock().unwrap().clone();
    assert_ne!(tokens[0], tokens[1], "each attempt has its own");
    let failed = deployed(json!({"fails": true})).await;
    assert!(failed.is_error && failed.pending.is_none());
}

#[tokio::test]
async fn a_call_that_asks_a_form_is_handed_what_came_of_it() {
    let tool = TestTool::new("t", |_, context| async move {
        Ok(match (context.resumed, context.completion_token) {
            (Some(resumed), None) => ToolOutput::text(resumed.answers["name"].to_string()),
            _ => ToolOutput::pending(Pending::Form {
                requests: vec![FormRequest::default()],
                state: None,
            }),
        })
    });
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(tool));
    let executor = Executor::builder().tools(tools).build();
    let first = call("t", json!({}));
    let output = executor.call_tool(&scope(), &first).await.unwrap();
    assert!(matches!(output.pending, Some(Pending::Form { .. })));
    let again = ToolCall {
        resumed: Some(Resumed {
            answers: [("name".to_owned(), json!("Ada"))].into(),
            ..Resumed::default()
        }),
        ..first
    };
    let output = executor.call_tool(&scope(), &again).await.unwrap();
    assert_eq!(text_of(&output), "\"Ada\"");
}

#[tokio::test]
async fn without_approvers_every_decision_is_taken_and_none_is_verified() {
    let executor = Executor::builder().build();
    let decision = Decision {
        approver: Some("ada".into()),
        ..signed("nobody")
    };
    let outcome = verified(&executor, &request(TicketKind::Call, decision.clone())).await;
    let taken = VerifyOutcome::Taken(Verification::unverified(&decision));
    assert_eq!(outcome, taken);
    let other = VerifyRequest {
        digest: "e".into(),
        ..request(TicketKind::Call, decision)
    };
    let outcome = verified(&executor, &other).await;
    assert!(matches!(outcome, VerifyOutcome::Rejected { .. }));
}

#[tokio::test]
async fn a_result_needs_its_token() {
    let executor = Executor::builder().build();
    let with_token = |token: Option<&str>| Decision {
        token: token.map(Into::into),
        ..Decision::complete(&ticket(TicketKind::External), json!(1))
    };
    let outcome = async |executor: &Executor, decision: Decision| {
        verified(executor, &request(TicketKind::External, decision)).await
    };
    let right = outcome(&executor, with_token(Some("right"))).await;
    assert!(matches!(right, VerifyOutcome::Taken(taken) if taken.by_token && !taken.verified));
    for wrong in [Some("wrong"), None] {
        let rejected = outcome(&executor, with_token(wrong)).await;
        assert!(matches!(rejected, VerifyOutcome::Rejected { .. }));
    }
    let executor = Executor::builder().verifier(OnlyAda).build();
    let ada = Decision {
        signature: Some("ada".into()),
        ..with_token(None)
    };
    let by_ada = outcome(&executor, ada.clone()).await;
    assert!(matches!(by_ada, VerifyOutcome::Taken(taken) if taken.verified));
    let wrong = Decision {
        token: Some("wrong".into()),
        ..ada
    };
    let rejected = outcome(&executor, wrong).await;
    assert!(matches!(rejected, VerifyOutcome::Rejected { .. }));
}

#[tokio::test]
async fn a_verifier_says_whose_a_decision_is_whatever_the_agent_grants() {
    let agent = AgentSpec::default();
    let executor = Executor::builder()
        .verifier(OnlyAda)
        .build()
        .granting(&agent);
    let outcome = async |decision| verified(&executor, &request(TicketKind::Call, decision)).await;
    let ada = outcome(signed("ada")).await;
    assert!(matches!(ada, VerifyOutcome::Taken(taken) if taken.approver.as_deref() == Some("ada")));
    for other in ["eve", "panic"] {
        let rejected = outcome(signed(other)).await;
        assert!(
            matches!(rejected, VerifyOutcome::Rejected { .. }),
            "{other}"
        );
    }
    let place = |executor: Executor| async move {
        verified(&executor, &request(TicketKind::Call, signed("place"))).await
    };
    let nowhere = place(executor.clone()).await;
    assert_eq!(nowhere, VerifyOutcome::rejected("nowhere"));
    let known = place(executor.clone().with_place(Place::Memory)).await;
    assert_eq!(known, VerifyOutcome::rejected("memory"));
}

#[tokio::test]
async fn nothing_is_said_of_a_tool_that_is_not_granted() {
    let tools = ToolRegistry::from_iter(neuron_tool::builtin_tools(
        &neuron_tool::BuiltinOptions::default(),
    ));
    let executor = Executor::builder()
        .tools(tools)
        .build()
        .granting(&AgentSpec::default());
    let input = json!({"path": "a", "content": "b"});
    assert_eq!(preview_of(&executor, "write_file", input).await, None);
}

#[tokio::test]
async fn nothing_is_shown_of_a_file_that_is_denied_protected_or_hidden() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["denied", "protected", "hidden", "plain"] {
        std::fs::write(folder.path().join(name), "secret\n").unwrap();
    }
    std::os::unix::fs::symlink("hidden", folder.path().join("link")).unwrap();
    let mut options = BuiltinOptions::default();
    options.protected = options.protected.read_only("protected").hidden("hidden");
    let tools = ToolRegistry::from_iter(neuron_tool::builtin_tools(&options));
    let mut agent = AgentSpec::default();
    agent.head_mut().tools = tools.definitions();
    agent.approvals.deny = vec!["write_file(path=denied)".into()];
    let executor = Executor::builder().tools(tools).cwd(folder.path()).build();
    let executor = executor.granting(&agent);
    let preview = async |path: &str| {
        let input = json!({"path": path, "content": "new\n"});
        preview_of(&executor, "write_file", input).await.unwrap()
    };
    for path in ["denied", "./denied", "protected", "hidden", "link"] {
        let said = preview(path).await;
        assert_eq!((said.diff, said.fingerprint), (None, None), "{path}");
        let text = said.text.unwrap();
        assert!(text.starts_with("as things are, the call would fail: "));
        assert!(!text.contains("secret"), "{text}");
    }
    let diff = preview("plain").await.diff.unwrap();
    assert!(diff.contains("-secret\n+new\n"), "{diff}");
}

/// Takes what is signed by this person.
struct Only(&'static str);

impl VerifyDecision for Only {
    fn verify(&self, _: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome {
        if request.decision.signature.as_deref() != Some(self.0) {
            return VerifyOutcome::rejected(format!("{} did not sign it", self.0));
        }
        VerifyOutcome::Taken(Verification {
            verified: true,
            approver: Some(self.0.into()),
            ..Verification::default()
        })
    }
}

/// A workflow in which Ada decides about one agent's calls, Bob about another's, and no approver was named for a
/// third's.
fn workflow() -> Executor {
    Executor::builder()
        .member("ada's", Executor::builder().verifier(Only("ada")).build())
        .member("bob's", Executor::builder().verifier(Only("bob")).build())
        .member("nobody's", Executor::builder().build())
        .build()
}

/// The state of a run of it that asks about a ticket of this agent.
fn asking(agent: Option<&str>) -> RunStatus {
    let mut status = RunStatus::new(
        RunId::new("r").unwrap(),
        "temporal",
        "workflow",
        Ticket::default().opened_at,
    );
    status.signed = true;
    status.approvals = vec![Ticket {
        agent: agent.map(Into::into),
        ..ticket(TicketKind::Call)
    }];
    status
}

#[tokio::test]
async fn a_decision_in_a_workflow_is_judged_by_the_agent_whose_ticket_it_is() {
    let executor = workflow();
    let executors = Executors::from(executor.clone());
    assert!(executor.as_given(AgentSpec::default()).signed);
    let nested = Executor::builder().member("inner", workflow()).build();
    assert!(nested.knows_approvers());
    let approval = Decision::approve(&ticket(TicketKind::Call));
    for (agent, takes) in [
        ("ada's", &["ada"][..]),
        ("bob's", &["bob"]),
        // It takes no unsigned decision, as long as there is an approver who could sign.
        ("nobody's", &["ada", "bob"]),
    ] {
        for signature in ["", "ada", "bob", "eve"] {
            let decision = Decision {
                signature: Some(signature.to_owned()).filter(|by| !by.is_empty()),
                ..approval.clone()
            };
            let judged = executors.judge_decision(&asking(Some(agent)), &decision);
            // The step says the same of it.
            let request = VerifyRequest {
                signed: true,
                token_sha256: None,
                ..request(TicketKind::Call, decision)
            };
            let step = StepScope {
                agent: Some(agent.into()),
                ..scope()
            };
            let verified = verified_at(&executor, &step, &request).await.unwrap();
            assert_eq!(judged.as_ref(), Some(&verified));
            let is_taken = matches!(verified, VerifyOutcome::Taken(by) if by.verified);
            assert_eq!(is_taken, takes.contains(&signature), "{agent} {signature}");
        }
    }
}

#[test]
fn what_cannot_be_judged_is_left_to_the_step_unless_nothing_can_show_whose_it_is() {
    let workflow = Executors::from(workflow());
    let keyless = Executors::from(Executor::builder().build());
    let unsigned = Decision::approve(&ticket(TicketKind::Call));
    let signed = signed("ada");
    for (executors, agent) in [
        // A ticket that another build opened does not say whose it is.
        (&workflow, None),
        (&keyless, None),
    ] {
        let status = asking(agent);
        assert_eq!(executors.judge_decision(&status, &signed), None);
        assert_eq!(
            executors.judge_decision(&status, &unsigned),
            Some(VerifyOutcome::rejected("the decision is not signed"))
        );
    }
    let of_nobody = asking(Some("no member"));
    assert_eq!(workflow.judge_decision(&of_nobody, &unsigned), None);
    let mut begun_before = asking(None);
    begun_before.signed = false;
    assert!(matches!(
        workflow.judge_decision(&begun_before, &unsigned),
        Some(VerifyOutcome::Rejected { .. })
    ));
    assert_eq!(workflow.judge_decision(&begun_before, &signed), None);
}

#[tokio::test]
async fn a_worker_without_keys_rejects_what_is_not_signed_and_leaves_the_rest() {
    let keyless = Executor::builder().build();
    let signed_run = |decision| VerifyRequest {
        signed: true,
        ..request(TicketKind::Call, decision)
    };
    let unsigned = Decision {
        approver: Some("ada".into()),
        // Of no use to a call.
        token: Some("right".into()),
        ..Decision::approve(&ticket(TicketKind::Call))
    };
    let outcome = verified(&keyless, &signed_run(unsigned)).await;
    assert_eq!(
        outcome,
        VerifyOutcome::rejected("the decision is not signed")
    );
    let failure = verified_at(&keyless, &scope(), &signed_run(signed("ada"))).await;
    assert_eq!(failure.unwrap_err().kind, FailureKind::NoWorker);
}
