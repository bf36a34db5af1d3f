//! Calls that the worker's own rules ask about, whatever asks for the step.

use std::sync::Arc;

use neuron_executor::{Executor, StepScope};
use neuron_guards::{TextGuard, Then};
use neuron_testing::effects::{TestTool, call, scope};
use neuron_tool::ToolRegistry;
use neuron_types::{
    AgentSpec, Always, Approval, ApprovalRules, AskRule, CallerSetting, Decision, FailureKind,
    GuardPoint, Place, RequestHead, RunId, StepId, Ticket, ToolCall, Verification, VerifyDecision,
    VerifyOutcome, VerifyRequest, ticket_digest,
};
use serde_json::{Value, json};

/// Takes a decision for that of the person whom its signature names, in the group `ops` where the name ends in a
/// number.
struct Named;

impl VerifyDecision for Named {
    fn verify(&self, _: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome {
        let Some(name) = request.decision.signature.clone() else {
            return VerifyOutcome::rejected("it is not signed");
        };
        VerifyOutcome::Taken(Verification {
            verified: true,
            groups: match name.ends_with(char::is_numeric) {
                true => vec!["ops".into()],
                false => Vec::new(),
            },
            approver: Some(name),
            ..Verification::default()
        })
    }
}

fn agent(tool: &TestTool, rules: ApprovalRules) -> AgentSpec {
    use neuron_types::ToolDyn as _;
    let head = RequestHead {
        tools: vec![tool.definition()],
        ..RequestHead::default()
    };
    AgentSpec {
        head: head.into(),
        approvals: rules,
        ..AgentSpec::default()
    }
}

fn asking(rule: AskRule) -> ApprovalRules {
    ApprovalRules {
        approve: vec![rule],
        ..ApprovalRules::default()
    }
}

fn echo() -> AskRule {
    AskRule::new("echo")
}

/// An executor of a tool whose calls are asked about.
fn executor(rule: AskRule, verifier: Option<Named>) -> (TestTool, Executor) {
    let tool = TestTool::echo();
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(tool.clone()));
    let mut builder = Executor::builder().tools(tools);
    if let Some(verifier) = verifier {
        builder = builder.verifier(verifier);
    }
    let executor = builder.build().granting(&agent(&tool, asking(rule)));
    (tool, executor)
}

fn said(text: &str) -> Value {
    json!({ "text": text })
}

fn ticket(args: Value) -> Ticket {
    let mut ticket = Ticket {
        ticket: "t2-1".into(),
        run: Some(scope().run_id),
        tool: Some("echo".into()),
        args: Some(args),
        text: Some("what it says".into()),
        ..Ticket::default()
    };
    ticket.digest = ticket_digest(&ticket, scope().nonce, None);
    ticket
}

fn by(name: &str, ticket: &Ticket) -> Decision {
    Decision {
        approver: Some(name.into()),
        signature: Some(name.into()),
        ..Decision::approve(ticket)
    }
}

/// The call with these arguments, and what people decided about a ticket.
fn approved(args: Value, ticket: &Ticket, decisions: Vec<Decision>) -> ToolCall {
    let call = call("echo", args);
    let approval = Approval::of(ticket, decisions, "sha256:1", None).beside(&call.input);
    ToolCall {
        approval: Some(Box::new(approval)),
        ..call
    }
}

/// Whether a call is made; if not, why a person is asked.
async fn made(executor: &Executor, scope: &StepScope, call: &ToolCall) -> Result<(), String> {
    match executor.call_tool(scope, call).await {
        Ok(output) => {
            assert!(!output.is_error, "{output:?}");
            Ok(())
        }
        Err(failure) => {
            assert_eq!(failure.kind, FailureKind::NotApproved, "{failure:?}");
            assert!(!failure.retryable);
            Err(failure.asking.unwrap().reason)
        }
    }
}

#[tokio::test]
async fn a_call_that_the_rules_ask_about_is_not_made_without_a_decision() {
    let from_ops = AskRule {
        from: Some("ops".into()),
        needed: 2,
        ..echo()
    };
    let (tool, executor) = executor(from_ops, None);
    let failure = executor
        .call_tool(&scope(), &call("echo", said("hi")))
        .await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotApproved);
    let asking = failure.asking.unwrap();
    assert_eq!((asking.from.as_deref(), asking.needed), (Some("ops"), 2));
    assert_eq!(asking.reason, "the agent asks before it calls echo");
    assert!(tool.calls().is_empty());
}

#[tokio::test]
async fn a_call_is_made_that_brings_along_the_decision_about_it_and_no_other_one() {
    for verifier in [None, Some(Named)] {
        let (tool, executor) = executor(echo(), verifier);
        let ticket = ticket(said("hi"));
        let right = approved(said("hi"), &ticket, vec![by("ada", &ticket)]);
        assert_eq!(made(&executor, &scope(), &right).await, Ok(()));
        assert_eq!(tool.calls(), [said("hi")]);

        let other_args = approved(said("ho"), &ticket, vec![by("ada", &ticket)]);
        let denied = Decision {
            verdict: neuron_types::Verdict::Deny,
            ..by("ada", &ticket)
        };
        let denied = approved(said("hi"), &ticket, vec![denied]);
        let nobody = approved(said("hi"), &ticket, Vec::new());
        for wrong in [&other_args, &denied, &nobody] {
            assert!(made(&executor, &scope(), wrong).await.is_err(), "{wrong:?}");
        }
        // It was decided in another run, or for another text than was shown.
        let elsewhere = StepScope {
            run_id: RunId::new("run-2").unwrap(),
            ..scope()
        };
        assert!(made(&executor, &elsewhere, &right).await.is_err());
        let again = StepScope {
            nonce: Some(uuid::Uuid::from_u128(1)),
            ..scope()
        };
        assert!(made(&executor, &again, &right).await.is_err());
        let mut shown = right.clone();
        shown.approval.as_mut().unwrap().text_sha256 = None;
        assert!(made(&executor, &scope(), &shown).await.is_err());
        let mut placed = right.clone();
        placed.approval.as_mut().unwrap().directory = Some("/nowhere".into());
        let why = made(&executor, &scope(), &placed).await.unwrap_err();
        assert!(why.contains("another directory"), "{why}");
        assert_eq!(tool.calls().len(), 1);
        // The run was moved on purpose: the digest is still that of where it was decided.
        let directory = Some("/nowhere");
        let mut there = ticket.clone();
        there.digest = ticket_digest(&there, None, directory);
        let approval = Approval::of(&there, vec![by("ada", &there)], "sha256:1", directory);
        placed.approval = Some(Box::new(approval.beside(&placed.input)));
        assert!(made(&executor, &scope(), &placed).await.is_err());
        let moved = executor.clone().moved_from("/nowhere".as_ref());
        assert_eq!(made(&moved, &scope(), &placed).await, Ok(()));
    }
}

#[tokio::test]
async fn what_is_not_signed_approves_nothing_where_approvers_are_named() {
    let (tool, executor) = executor(echo(), Some(Named));
    let ticket = ticket(said("hi"));
    let unsigned = Decision {
        signature: None,
        ..by("ada", &ticket)
    };
    let call = approved(said("hi"), &ticket, vec![unsigned]);
    let why = made(&executor, &scope(), &call).await.unwrap_err();
    assert_eq!(
        why,
        "the agent asks before it calls echo, and what was decided does not count here: it is not signed"
    );
    assert!(tool.calls().is_empty());
}

#[tokio::test]
async fn edited_arguments_are_approved_and_the_shown_ones_are_not() {
    let (tool, executor) = executor(echo(), Some(Named));
    let ticket = ticket(said("hi"));
    let edited = Decision {
        args: Some(said("ho")),
        ..by("ada", &ticket)
    };
    let changed = approved(said("ho"), &ticket, vec![edited.clone()]);
    assert_eq!(made(&executor, &scope(), &changed).await, Ok(()));
    let unchanged = approved(said("hi"), &ticket, vec![edited]);
    assert!(made(&executor, &scope(), &unchanged).await.is_err());
    assert_eq!(tool.calls(), [said("ho")]);
}

#[tokio::test]
async fn as_many_people_as_the_rules_want_have_to_have_approved_and_the_right_ones() {
    let two_of_ops = AskRule {
        from: Some("ops".into()),
        needed: 2,
        then: Some("boss".into()),
        ..echo()
    };
    let (_, executor) = executor(two_of_ops, Some(Named));
    let ticket = ticket(said("hi"));
    for (names, is_made) in [
        (&["op1", "op2"][..], true),
        (&["op1"], false),
        (&["op1", "op1"], false),
        (&["op1", "ada"], false),
        (&["ada", "op1", "op2"], true),
        (&["op1", "boss"], true),
    ] {
        let decisions = names.iter().map(|name| by(name, &ticket)).collect();
        let call = approved(said("hi"), &ticket, decisions);
        let is_ok = made(&executor, &scope(), &call).await.is_ok();
        assert_eq!(is_ok, is_made, "{names:?}");
    }
}

#[tokio::test]
async fn what_is_always_approved_covers_what_was_shown_and_only_where_anybody_decides() {
    let ticket = ticket(said("hi"));
    let always = |always| Decision {
        always: Some(always),
        ..by("op1", &ticket)
    };
    for (scope_of_it, covers_other) in [
        (Always::Call, false),
        (Always::Prefix, false),
        (Always::Tool, true),
    ] {
        let (_, executor) = executor(echo(), Some(Named));
        let other = approved(said("other"), &ticket, vec![always(scope_of_it)]);
        let is_made = made(&executor, &scope(), &other).await.is_ok();
        assert_eq!(is_made, covers_other, "{scope_of_it}");
    }
    let of_ops = AskRule {
        from: Some("ops".into()),
        ..echo()
    };
    let (_, executor) = executor(of_ops, Some(Named));
    let other = approved(said("other"), &ticket, vec![always(Always::Tool)]);
    let why = made(&executor, &scope(), &other).await.unwrap_err();
    assert!(why.contains("asked each time"), "{why}");
}

#[tokio::test]
async fn what_a_caller_allows_is_made_where_the_agent_or_its_owner_lets_callers_say_so() {
    let (tool, executor) = executor(echo(), Some(Named));
    let allowed = StepScope {
        allow: vec!["echo".into()],
        ..scope()
    };
    let spec = agent(&tool, asking(echo()));
    let listed = AgentSpec {
        callers_may_set: [CallerSetting::Allow].into(),
        ..spec.clone()
    };
    let denied = AgentSpec {
        approvals: ApprovalRules {
            deny: vec!["echo".into()],
            ..ApprovalRules::default()
        },
        ..listed.clone()
    };
    let hi = call("echo", said("hi"));
    for (executor, is_made) in [
        (executor.clone().granting(&spec), false),
        (executor.clone().granting_owner(&spec), true),
        (executor.clone().granting(&listed), true),
    ] {
        assert_eq!(made(&executor, &allowed, &hi).await.is_ok(), is_made);
        assert!(made(&executor, &scope(), &hi).await.is_err());
    }
    let output = executor.granting(&denied).call_tool(&allowed, &hi).await;
    assert!(output.unwrap().is_error, "nobody allows what is denied");
}

#[tokio::test]
async fn a_call_of_an_agent_without_approvers_needs_one_of_its_workflow() {
    let (tool, plain) = executor(echo(), None);
    let keyed = Executor::builder().verifier(Named).build();
    let workflow = Executor::builder()
        .member("keyed", keyed)
        .member("plain", plain)
        .build();
    let named = |name: &str| AgentSpec {
        name: name.into(),
        ..agent(&tool, asking(echo()))
    };
    let workflow = workflow.granting(&AgentSpec {
        team: Some(vec![named("keyed"), named("plain")]),
        ..AgentSpec::default()
    });
    let step = StepScope {
        agent: Some("plain".into()),
        ..scope()
    };
    let ticket = ticket(said("hi"));
    let signed = by("ada", &ticket);
    let unsigned = Decision {
        signature: None,
        ..signed.clone()
    };
    let call = |decision| approved(said("hi"), &ticket, vec![decision]);
    let why = made(&workflow, &step, &call(unsigned)).await.unwrap_err();
    assert!(why.ends_with("it is not signed"), "{why}");
    assert_eq!(made(&workflow, &step, &call(signed)).await, Ok(()));
}

#[tokio::test]
async fn a_guard_is_answered_by_what_was_decided_about_this_call_and_not_by_an_older_always() {
    let guard = TextGuard::patterns("words", ["h[io]"]).unwrap();
    let guard = guard.at([GuardPoint::Call]).then(Then::Ask);
    for rules in [asking(echo()), ApprovalRules::default()] {
        let tool = TestTool::echo();
        let mut tools = ToolRegistry::new();
        tools.register_dyn(Arc::new(tool.clone()));
        let executor = Executor::builder()
            .tools(tools)
            .verifier(Named)
            .guard(guard.clone())
            .build()
            .granting(&agent(&tool, rules));
        let first = ticket(said("hi"));
        for always in Always::ALL {
            let always = Decision {
                always: Some(always),
                ..by("ada", &first)
            };
            // The person was asked about this call.
            let itself = approved(said("hi"), &first, vec![always.clone()]);
            assert_eq!(made(&executor, &scope(), &itself).await, Ok(()));
            // A later call with the same arguments, or with others.
            let later = StepScope {
                step: StepId::new(3, 1),
                ..scope()
            };
            for (args, is_covered) in [("hi", true), ("ho", always.always == Some(Always::Tool))] {
                let before = tool.calls().len();
                let call = approved(said(args), &first, vec![always.clone()]);
                let why = made(&executor, &later, &call).await.unwrap_err();
                let is_of_guard = why.contains("a guard asks each time");
                assert!(!is_covered || is_of_guard, "{why}");
                assert_eq!(tool.calls().len(), before);
            }
        }
        // The person is asked about the later call, a second time.
        let mut second = Ticket {
            ticket: "t2-1-2".into(),
            ..ticket(said("hi"))
        };
        second.digest = ticket_digest(&second, scope().nonce, None);
        let call = approved(said("hi"), &second, vec![by("ada", &second)]);
        assert_eq!(made(&executor, &scope(), &call).await, Ok(()));
    }
}
