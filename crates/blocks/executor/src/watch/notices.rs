//! What happened in a run, as spans and measurements.

use neuron_types::{RunEvent, RunNotice, RunScope, TicketKind, TraceContext};
use tracing::info_span;

use super::{
    measure::measure,
    sampling::{is_measuring, is_recording, is_sampled},
};

/// A span that is over when it is emitted.
macro_rules! told_span {
    ($run:expr, $took_ms:expr, $span:expr, $parent:expr, $name:literal, $($own:tt)*) => {{
        let span: &TraceContext = $span;
        let parent: Option<&TraceContext> = $parent;
        let tags = &$run.tags;
        drop(info_span!(
            $name,
            trace.id = span.trace_id(),
            trace.span = span.span_id(),
            trace.parent = parent.map(TraceContext::span_id),
            trace.sampled = is_sampled(span),
            trace.state = span.tracestate(),
            trace.took_ms = $took_ms,
            run_id = %$run.run_id,
            tenant = tags.tenant.as_deref(),
            owner = tags.owner.as_deref(),
            $($own)*
        ));
    }};
}

/// Emits what happened in a run to traces and metrics.
pub(crate) fn tell(run: &RunScope, agent: Option<&str>, notice: &RunNotice) {
    // A run that ended as a child belongs to another agent.
    let own = agent.filter(|_| !matches!(notice.event, RunEvent::ChildEnded { .. }));
    let agent = notice.agent.as_deref().or(own).unwrap_or_default();
    if is_recording() {
        spans(run, agent, notice);
    }
    if is_measuring() {
        measurements(run, agent, notice);
    }
}

fn spans(run: &RunScope, agent: &str, notice: &RunNotice) {
    let spans = run.spans();
    let whole = spans.of_run();
    let around = match notice.in_turn {
        None | Some(0) => whole.clone(),
        Some(turn) => spans.of_turn(turn),
    };
    if let Some(closed) = ClosedTicket::of(&notice.event) {
        let kind = closed.kind.map(TicketKind::as_str);
        told_span!(
            run,
            notice.took_ms,
            &spans.of_ticket(closed.ticket),
            Some(&around),
            "approval",
            otel.name =
                kind.map_or_else(|| "approval".to_owned(), |kind| format!("approval {kind}")),
            agent,
            neuron.ticket.id = closed.ticket,
            neuron.ticket.kind = kind,
            neuron.ticket.verdict = closed.verdict,
        );
    }
    match &notice.event {
        RunEvent::RunStarted { agent, .. } => {
            told_span!(
                run,
                notice.took_ms,
                &whole,
                run.trace.as_ref(),
                "neuron_loop",
                otel.name = format!("invoke_workflow {agent}"),
                session_id = %run.run_id,
                agent,
                gen_ai.operation.name = "invoke_workflow",
                gen_ai.workflow.name = agent,
                gen_ai.conversation.id = %run.run_id,
            );
        }
        RunEvent::TurnEnded { turn } => {
            let span = spans.of_turn(*turn);
            let before = turn.checked_sub(1).filter(|before| *before > 0);
            told_span!(
                run,
                notice.took_ms,
                &span,
                Some(&whole),
                "invoke_agent",
                otel.name = format!("invoke_agent {agent}"),
                trace.link = before.map(|before| spans.of_turn(before).span_id()),
                agent,
                turn,
                gen_ai.operation.name = "invoke_agent",
                gen_ai.conversation.id = %run.run_id,
            );
        }
        RunEvent::ContextCompacted {
            old_tokens,
            new_tokens,
            ..
        } => {
            let span = spans.of_compaction(*old_tokens, *new_tokens);
            told_span!(
                run,
                notice.took_ms,
                &span,
                Some(&whole),
                "context_compaction",
                otel.name = "context_compaction",
                agent,
                neuron.context.old_tokens = old_tokens,
                neuron.context.new_tokens = new_tokens,
            );
        }
        RunEvent::ChildEnded {
            run_id,
            exit_reason,
            ..
        } => {
            let span = spans.of_child(run_id);
            told_span!(
                run,
                notice.took_ms,
                &span,
                Some(&around),
                "sub_agent",
                otel.name = format!("invoke_agent {agent}"),
                otel.kind = "client",
                agent_name = agent,
                depth = run_id.levels(),
                agent,
                neuron.child.run.id = %run_id,
                neuron.exit_reason = exit_reason.as_str(),
                gen_ai.operation.name = "invoke_agent",
                gen_ai.conversation.id = %run_id,
                error.r#type = exit_reason.is_failure().then(|| exit_reason.as_str()),
            );
        }
        RunEvent::RunEnded { exit_reason, .. } => {
            let span = spans.of_end();
            told_span!(
                run,
                None::<u64>,
                &span,
                Some(&whole),
                "run_end",
                otel.name = "run_end",
                agent,
                neuron.exit_reason = exit_reason.as_str(),
                error.r#type = exit_reason.is_failure().then(|| exit_reason.as_str()),
            );
        }
        _ => {}
    }
}

fn measurements(run: &RunScope, agent: &str, notice: &RunNotice) {
    let tenant = run.tags.tenant.as_deref();
    let seconds = notice.took_ms.map(seconds);
    if let Some(closed) = ClosedTicket::of(&notice.event) {
        measure!(
            counter.neuron.ticket.closed = 1_u64,
            histogram.neuron.ticket.wait = seconds,
            neuron.ticket.kind = closed.kind.map(TicketKind::as_str),
            neuron.ticket.verdict = closed.verdict,
            agent,
            tenant,
        );
    }
    match &notice.event {
        RunEvent::RunStarted { agent, .. } => {
            measure!(counter.neuron.run.started = 1_u64, agent, tenant,);
        }
        RunEvent::RunEnded { exit_reason, .. } => measure!(
            counter.neuron.run.ended = 1_u64,
            histogram.neuron.run.duration = seconds,
            neuron.exit_reason = exit_reason.as_str(),
            agent,
            tenant,
        ),
        RunEvent::TurnEnded { .. } => measure!(
            histogram.gen_ai.invoke_agent.duration = seconds,
            gen_ai.operation.name = "invoke_agent",
            agent,
            tenant,
        ),
        RunEvent::ApprovalRequested { ticket, .. } => measure!(
            counter.neuron.ticket.opened = 1_u64,
            neuron.ticket.kind = ticket.kind.as_str(),
            agent,
            tenant,
        ),
        RunEvent::ChildEnded { exit_reason, .. } => measure!(
            counter.neuron.child.ended = 1_u64,
            neuron.exit_reason = exit_reason.as_str(),
            agent,
            tenant,
        ),
        RunEvent::ContextCompacted { .. } => {
            measure!(counter.neuron.context.compactions = 1_u64, agent, tenant,);
        }
        _ => {}
    }
}

/// A ticket that was decided, or lapsed.
struct ClosedTicket<'a> {
    ticket: &'a str,
    kind: Option<TicketKind>,
    verdict: &'static str,
}

impl<'a> ClosedTicket<'a> {
    /// That which is closed with an event, if one is.
    fn of(event: &'a RunEvent) -> Option<Self> {
        let (ticket, kind, verdict) = match event {
            RunEvent::ApprovalDecided {
                ticket,
                kind,
                verdict,
                ..
            } => (ticket, Some(*kind), verdict.as_str()),
            RunEvent::ApprovalExpired { ticket } => (ticket, None, "expired"),
            _ => return None,
        };
        Some(Self {
            ticket,
            kind,
            verdict,
        })
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "what lasts so long is not measured to the millisecond"
)]
fn seconds(took_ms: u64) -> f64 {
    took_ms as f64 / 1000.0
}
