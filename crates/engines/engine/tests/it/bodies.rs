use neuron_engine::{AgentSignal, CancelBody, DecisionBody};
use neuron_types::{Always, Decision, UserMessage, Verdict, signal};
use serde_json::{Value, json};

#[test]
fn a_decision_without_its_verdict_is_what_people_send() {
    let sent = json!({"ticket": "t1-1", "digest": "8ed7", "comment": "fine", "approver": "ada"});
    let body: DecisionBody = serde_json::from_value(sent.clone()).unwrap();
    assert_eq!(json!(body), sent);
    let decision = body.with_verdict(Verdict::Deny);
    assert_eq!(decision.verdict, Verdict::Deny);
    assert_eq!(json!(DecisionBody::from(decision)), sent);
    let mut whole = sent.clone();
    whole["args"] = json!({"command": "true"});
    whole["always"] = "prefix".into();
    whole["signature"] = "-----BEGIN SSH SIGNATURE-----".into();
    // A signature is over this text.
    whole["at"] = "2026-11-23T17:27:58.1200+01:00".into();
    let body: DecisionBody = serde_json::from_value(whole.clone()).unwrap();
    assert_eq!(json!(body), whole);
    let decision = body.with_verdict(Verdict::Approve);
    assert_eq!(json!(decision)["at"], whole["at"]);
    assert_eq!(json!(DecisionBody::from(decision)), whole);
    // The format of earlier clients: it is for this call, and for no other.
    for (flag, always) in [(true, Some(Always::Call)), (false, None)] {
        let mut old = sent.clone();
        old["remember"] = flag.into();
        let body: DecisionBody = serde_json::from_value(old.clone()).unwrap();
        assert_eq!(body.always, always);
        old["verdict"] = "approve".into();
        let decision: Decision = serde_json::from_value(old).unwrap();
        assert_eq!(decision.always, always);
    }
    for (key, value) in [("verdict", "approve"), ("at", "yesterday")] {
        let mut wrong = sent.clone();
        wrong[key] = value.into();
        serde_json::from_value::<DecisionBody>(wrong).unwrap_err();
    }
}

#[test]
fn a_cancellation_needs_no_reason() {
    let empty: CancelBody = serde_json::from_value(json!({})).unwrap();
    assert_eq!((json!(empty), empty.reason), (json!({}), None));
    let reasoned = json!({"reason": "enough"});
    let body: CancelBody = serde_json::from_value(reasoned.clone()).unwrap();
    assert_eq!(json!(body), reasoned);
    assert_eq!(CancelBody::of_signal(&reasoned), body);
    for other in [Value::Null, json!("enough"), json!({"reason": 1})] {
        assert_eq!(CancelBody::of_signal(&other).reason, None);
    }
}

#[test]
fn signals_are_read_by_what_they_mean_to_an_agent() {
    let read = |name: &str, payload: Value| AgentSignal::read(name, payload).unwrap();
    let decision = json!({"ticket": "t1-1", "digest": "d", "verdict": "approve"});
    let expected: Decision = serde_json::from_value(decision.clone()).unwrap();
    assert_eq!(
        read(signal::DECISION, decision),
        AgentSignal::Decision(expected)
    );
    assert_eq!(
        read(signal::USER_MESSAGE, json!({"text": "hello"})),
        AgentSignal::Message(UserMessage::new("hello"))
    );
    assert_eq!(
        read(signal::CANCEL, Value::Null),
        AgentSignal::Cancel(CancelBody::default())
    );
    assert_eq!(read("weather", json!(1)), AgentSignal::Other(json!(1)));
    let misfit = AgentSignal::read(signal::DECISION, json!({})).unwrap_err();
    assert_eq!(
        misfit.to_string(),
        "the payload does not fit the signal decision"
    );
    assert!(misfit.source.to_string().contains("ticket"), "{misfit:?}");
}
