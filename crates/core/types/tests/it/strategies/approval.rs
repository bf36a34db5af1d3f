use chrono::{DateTime, Utc};
use neuron_types::{
    ApprovalRules, ApprovalTicket, CallerRules, Decision, OnExpiry, PermissionDecision,
    RememberedDecision, Verdict,
};
use proptest::{option, prelude::*};

use super::{few, json, moment, one_of, optional_json, text};
use crate::samples::approval::{self, ON_EXPIRY, VERDICTS};

pub(crate) fn permission_decision() -> impl Strategy<Value = PermissionDecision> {
    prop_oneof![
        Just(PermissionDecision::Allow),
        text().prop_map(PermissionDecision::Deny),
        text().prop_map(PermissionDecision::Ask),
    ]
}

prop_compose! {
    fn remembered()(
        tool in text(),
        reason in text(),
        verdict in verdict(),
        comment in option::of(text()),
        approver in option::of(text()),
    ) -> RememberedDecision {
        RememberedDecision { tool, reason, verdict, comment, approver }
    }
}

prop_compose! {
    pub(crate) fn rules()(
        allow in few(text()),
        approve in few(text()),
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

fn sample(expires_at: Option<DateTime<Utc>>) -> ApprovalTicket {
    ApprovalTicket {
        expires_at,
        ..approval::ticket()
    }
}

prop_compose! {
    pub(crate) fn ticket()(
        ticket in text(),
        tool in text(),
        args in json(),
        digest in text(),
        reason in text(),
        expires_at in option::of(moment()),
    ) -> ApprovalTicket {
        // What is not drawn is as in the sample.
        ApprovalTicket { ticket, tool, args, digest, reason, ..sample(expires_at) }
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
        ticket in text(),
        digest in text(),
        verdict in verdict(),
        args in optional_json(),
        comment in option::of(text()),
        approver in option::of(text()),
        remember in any::<bool>(),
    ) -> Decision {
        Decision { ticket, digest, verdict, args, comment, approver, remember }
    }
}
