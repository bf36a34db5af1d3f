use neuron_types::{
    ApprovalRules, ApprovalTicket, CallerRules, Decision, OnExpiry, PermissionDecision, Verdict,
};
use serde_json::json;

use super::moment;

pub(crate) const VERDICTS: [Verdict; 2] = [Verdict::Approve, Verdict::Deny];

pub(crate) const ON_EXPIRY: [OnExpiry; 2] = [OnExpiry::Deny, OnExpiry::Fail];

pub(crate) fn permission_decisions() -> Vec<PermissionDecision> {
    vec![
        PermissionDecision::Allow,
        PermissionDecision::Deny("the agent may not call bash".into()),
        PermissionDecision::Ask("the agent asks before it calls bash".into()),
    ]
}

pub(crate) fn rules() -> ApprovalRules {
    ApprovalRules {
        approve: vec!["*".into(), "!read_file".into()],
        deny: vec!["bash".into()],
        ..ApprovalRules::default()
    }
}

pub(crate) fn caller_rules() -> CallerRules {
    CallerRules {
        allow: vec!["grep".into()],
        ask: vec!["read_file".into()],
        deny: vec!["write_file".into()],
    }
}

pub(crate) fn ticket() -> ApprovalTicket {
    ApprovalTicket {
        ticket: "t2-1".into(),
        tool: "bash".into(),
        args: json!({"command": "rm -r target"}),
        digest: "5f3c".into(),
        reason: "the agent asks before it calls bash".into(),
        expires_at: None,
    }
}

pub(crate) fn tickets() -> Vec<ApprovalTicket> {
    vec![
        ticket(),
        ApprovalTicket {
            ticket: "t2-2".into(),
            expires_at: Some(moment(3600)),
            ..ticket()
        },
    ]
}

pub(crate) fn decisions() -> Vec<Decision> {
    vec![
        Decision {
            ticket: "t2-1".into(),
            digest: "5f3c".into(),
            verdict: Verdict::Approve,
            args: Some(json!({"command": "cargo clean"})),
            comment: Some("not by hand".into()),
            approver: Some("ada".into()),
            remember: true,
        },
        Decision {
            ticket: "t2-2".into(),
            digest: "5f3c".into(),
            verdict: Verdict::Deny,
            args: None,
            comment: None,
            approver: None,
            remember: false,
        },
    ]
}
