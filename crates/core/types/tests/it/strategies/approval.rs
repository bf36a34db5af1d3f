use neuron_types::{
    Always, Approval, ApprovalRules, AskRule, Asking, CallerRules, DecidedAt, Decision, Given,
    OnExpiry, OpenTicket, PermissionDecision, RememberedCalls, RememberedDecision, Ticket,
    TicketKind, Verdict,
};
use proptest::{option, prelude::*};

use super::{few, json, millis, moment, one_of, optional_json, text, tool::pending};
use crate::samples::approval::{ON_EXPIRY, VERDICTS};

prop_compose! {
    fn ask_rule()(
        call in text(),
        from in option::of(text()),
        needed in 1..4_u32,
        within in option::of(millis()),
        then in option::of(text()),
    ) -> AskRule {
        AskRule { call, from, needed, within, then }
    }
}

prop_compose! {
    pub(crate) fn asking()(rule in ask_rule()) -> Asking {
        let AskRule { call, from, needed, within, then } = rule;
        Asking { reason: call, from, needed, within, then }
    }
}

pub(crate) fn permission_decision() -> impl Strategy<Value = PermissionDecision> {
    prop_oneof![
        Just(PermissionDecision::Allow),
        text().prop_map(PermissionDecision::Deny),
        asking().prop_map(PermissionDecision::Ask),
    ]
}

prop_compose! {
    pub(crate) fn approval()(
        [ticket, definition] in [text(), text()],
        [directory, prefix, fingerprint, text_sha256, diff_sha256] in [(); 5].map(|()| option::of(text())),
        args in optional_json(),
        decisions in few(decision().boxed()),
        signed in any::<bool>(),
    ) -> Approval {
        Approval {
            ticket, definition, directory, args, prefix, fingerprint, text_sha256, diff_sha256, decisions,
            signed,
        }
    }
}

prop_compose! {
    fn remembered()(
        tool in text(),
        reason in text(),
        calls in prop_oneof![
            json().prop_map(RememberedCalls::Call),
            text().prop_map(RememberedCalls::Prefix),
            Just(RememberedCalls::Tool),
        ],
        verdict in verdict(),
        comment in option::of(text()),
        approver in option::of(text()),
        approval in option::of(approval().boxed().prop_map(Box::new)),
    ) -> RememberedDecision {
        RememberedDecision { tool, reason, calls, verdict, comment, approver, approval }
    }
}

prop_compose! {
    pub(crate) fn rules()(
        allow in few(text()),
        approve in few(ask_rule()),
        deny in few(text()),
        remembered in few(remembered()),
    ) -> ApprovalRules {
        ApprovalRules { allow, approve, deny, remembered }
    }
}

pub(crate) fn on_expiry() -> impl Strategy<Value = OnExpiry> {
    one_of(&ON_EXPIRY)
}

pub(crate) fn verdict() -> impl Strategy<Value = Verdict> {
    one_of(&VERDICTS)
}

fn kind() -> impl Strategy<Value = TicketKind> {
    one_of(&TicketKind::ALL)
}

prop_compose! {
    fn given()(
        name in option::of(text()),
        key in option::of(text()),
        verified in any::<bool>(),
        at in moment(),
        args in optional_json(),
    ) -> Given {
        Given { name, key, verified, at, args }
    }
}

prop_compose! {
    pub(crate) fn ticket()(
        [ticket, digest, reason] in [text(), text(), text()],
        kind in kind(),
        [agent, tool, text, diff, from, then, prefix, fingerprint, token_sha256] in [(); 9].map(|()| option::of(text())),
        (args, schema) in (optional_json(), optional_json()),
        choices in few(text()),
        (opened_at, expires_at) in (moment(), option::of(moment())),
        [needed, answered] in any::<[u32; 2]>(),
        decisions in few(given()),
    ) -> Ticket {
        Ticket {
            ticket,
            kind,
            run: None,
            agent,
            tool,
            args,
            digest,
            reason,
            text,
            diff,
            schema,
            choices,
            opened_at,
            expires_at,
            from,
            needed,
            decisions,
            token_sha256,
            answered,
            then,
            prefix,
            fingerprint,
        }
    }
}

prop_compose! {
    pub(crate) fn open_ticket()(
        ticket in ticket().boxed(),
        position in any::<Option<u32>>(),
        lifetime in option::of(millis()),
        pending in option::of(pending().boxed()),
        queued in few(decision().boxed()),
        verifying in any::<Option<u32>>(),
        approvals in few(decision().boxed()),
        taken_up in any::<u32>(),
        dropped_at in option::of(moment()),
    ) -> OpenTicket {
        OpenTicket { ticket, position, lifetime, pending, queued, verifying, approvals, taken_up, dropped_at }
    }
}

prop_compose! {
    pub(crate) fn caller_rules()(
        allow in few(text()),
        ask in few(text()),
        deny in few(text()),
    ) -> CallerRules {
        CallerRules { allow, ask, deny }
    }
}

prop_compose! {
    pub(crate) fn decision()(
        [ticket, digest] in [text(), text()],
        verdict in verdict(),
        (args, output) in (optional_json(), optional_json()),
        [text, choice, token, comment, approver, signature] in [(); 6].map(|()| option::of(text())),
        at in option::of(moment().prop_map(DecidedAt::from)),
        always in option::of(one_of(&Always::ALL)),
    ) -> Decision {
        Decision {
            ticket,
            digest,
            verdict,
            args,
            text,
            choice,
            output,
            token,
            comment,
            approver,
            at,
            signature,
            always,
        }
    }
}
