use neuron_types::{
    Always, ApprovalRules, CallerRules, Decision, Given, OnExpiry, OpenTicket, PermissionDecision,
    RunId, Ticket, TicketKind, Verdict,
};
use serde_json::json;

use super::moment;
use crate::times::HOUR;

pub(crate) const VERDICTS: [Verdict; 5] = [
    Verdict::Approve,
    Verdict::Deny,
    Verdict::Answer,
    Verdict::Complete,
    Verdict::Choose,
];

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

pub(crate) fn ticket() -> Ticket {
    Ticket {
        ticket: "t2-1".into(),
        run: Some(RunId::new("r1").unwrap()),
        tool: Some("bash".into()),
        args: Some(json!({"command": "rm -r target"})),
        digest: "5f3c".into(),
        reason: "the agent asks before it calls bash".into(),
        opened_at: moment(0),
        prefix: Some("bash(command=rm *)".into()),
        ..Ticket::default()
    }
}

pub(crate) fn tickets() -> Vec<Ticket> {
    vec![
        ticket(),
        Ticket {
            ticket: "t2-2".into(),
            kind: TicketKind::Question,
            tool: None,
            args: None,
            text: Some("Which branch?".into()),
            choices: vec!["main".into(), "next".into()],
            expires_at: Some(moment(3600)),
            from: Some("ops".into()),
            needed: 2,
            decisions: vec![Given {
                name: Some("ada".into()),
                key: Some("SHA256:7fSw".into()),
                verified: true,
                at: moment(60),
                args: None,
            }],
            then: Some("leads".into()),
            prefix: None,
            ..ticket()
        },
    ]
}

/// The ticket of the call at this position, with a decision that is being verified.
pub(crate) fn open_ticket() -> OpenTicket {
    OpenTicket {
        ticket: ticket(),
        position: Some(4),
        lifetime: Some(HOUR),
        pending: None,
        queued: decisions().into_iter().take(1).collect(),
        verifying: Some(1_000_000_001),
        approvals: decisions().into_iter().take(1).collect(),
        taken_up: 1,
        dropped_at: Some(moment(40)),
    }
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
            always: Some(Always::Prefix),
            ..Decision::default()
        },
        Decision {
            ticket: "t2-2".into(),
            digest: "5f3c".into(),
            verdict: Verdict::Deny,
            ..Decision::default()
        },
        Decision {
            ticket: "t2-3".into(),
            digest: "5f3c".into(),
            verdict: Verdict::Complete,
            output: Some(json!({"id": 7})),
            token: Some("secret".into()),
            at: Some(moment(30).into()),
            signature: Some("-----BEGIN SSH SIGNATURE-----".into()),
            ..Decision::default()
        },
        Decision {
            text: Some("main".into()),
            choice: Some("main".into()),
            ..Decision::answer(&ticket(), "main")
        },
    ]
}
