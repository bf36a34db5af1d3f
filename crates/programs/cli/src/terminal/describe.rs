//! Events as lines for people.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use neuron_executor::{ProgressReport, RetryNotice};
use neuron_types::{
    Amount, ExitReason, FailureKind, GuardPoint, HandedConversation, RecordedEvent, RunError,
    RunEvent, RunPhase, StepId, StopReason, Ticket, TokenUsage, Verdict,
};
use rust_decimal::Decimal;
use serde_json::Value;

use crate::terminal::shown;

/// The longest text of a model or person on a line of progress, in characters.
const SHORT: usize = 120;

/// The text for an event of a newer version.
const UNKNOWN: &str = "an event that this version of neuron does not know";

/// Returns a time in the format for people and programs.
pub(crate) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Returns the event as a line of progress. `None` if the lines around it contain enough.
pub(crate) fn progress(event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::RunStarted { .. } | RunEvent::TurnEnded { .. } | RunEvent::RunEnded { .. } => {
            None
        }
        RunEvent::ModelResponded {
            stop_reason, text, ..
        } => remark(stop_reason, text.as_deref()).map(|line| format!("  {line}")),
        RunEvent::TurnStarted { .. } | RunEvent::Waiting { .. } => Some(sentence(event)),
        event => Some(format!("  {}", sentence(event))),
    }
}

/// Returns the part of an answer that is worth showing besides the calls that it asks for. The last answer is the run's
/// output and is not shown twice.
fn remark(stop_reason: &StopReason, text: Option<&str>) -> Option<String> {
    match stop_reason {
        StopReason::ToolUse => {
            text.map(|text| format!("model: {}", shown::short_line(text, SHORT)))
        }
        StopReason::EndTurn | StopReason::StopSequence => None,
        reason => Some(format!("model stopped: {}", stop(reason))),
    }
}

/// Returns the event with its number and its time, as a line of `neuron events`.
pub(crate) fn recorded(event: &RecordedEvent) -> String {
    let (seq, at, sentence) = (event.seq, time(event.at), sentence(&event.event));
    format!("{seq:>5}  {at}  {sentence}")
}

/// Returns the event as a sentence.
pub(crate) fn sentence(event: &RunEvent) -> String {
    match event {
        RunEvent::RunStarted {
            agent,
            model,
            prompt,
            ..
        } if model.is_empty() => format!(
            "run started: workflow {}: {}",
            shown::line(agent),
            shown::short_line(prompt, SHORT)
        ),
        RunEvent::RunStarted {
            agent,
            model,
            prompt,
            ..
        } => format!(
            "run started: agent {}, model {}: {}",
            shown::line(agent),
            shown::line(model),
            shown::short_line(prompt, SHORT)
        ),
        RunEvent::AgentAsked { agent, prompt, .. } => {
            let (agent, prompt) = (shown::line(agent), shown::short_line(prompt, SHORT));
            format!("{agent} is asked: {prompt}")
        }
        RunEvent::TurnStarted { turn } => format!("turn {turn}"),
        RunEvent::ModelResponded {
            stop_reason,
            text,
            usage,
            model,
            ..
        } => {
            let model = model.as_deref().map_or("model".into(), shown::line);
            let said = text
                .as_ref()
                .map(|text| format!(": {}", shown::short_line(text, SHORT)))
                .unwrap_or_default();
            format!(
                "{model} answered ({}, {}){said}",
                stop(stop_reason),
                tokens(usage)
            )
        }
        RunEvent::AnswerRejected { reason, .. } => {
            format!("answer rejected: {}", shown::line(reason))
        }
        RunEvent::LeftOut { what, .. } => left_out(what),
        RunEvent::Guarded {
            point,
            guard,
            verdict,
            reason,
            ..
        } => guarded(*point, guard, verdict, reason),
        RunEvent::Judged { point, usage, .. } => {
            format!("judges were asked at {point} ({})", tokens(usage))
        }
        RunEvent::ModelFailed { failure, .. } => {
            format!("model failed: {}", shown::line(&failure.to_string()))
        }
        RunEvent::ToolCalled { tool, args, .. } => shown::call(tool, args),
        RunEvent::ToolFinished {
            tool,
            is_error,
            failure,
            reason,
            ..
        } => {
            let line = finished(tool, *is_error, *failure);
            match reason {
                Some(reason) => format!("{line}: {}", shown::short_line(reason, SHORT)),
                None => line,
            }
        }
        RunEvent::ChildStarted {
            run_id,
            agent,
            background,
            ..
        } => {
            let agent = shown::line(agent);
            let how = if *background {
                " in the background"
            } else {
                ""
            };
            format!("agent {agent} is at work{how}: run {run_id}")
        }
        RunEvent::ChildEnded {
            run_id,
            exit_reason,
            usage,
            ..
        } => {
            let state = exit_reason.phase();
            format!("run {run_id} is {state} ({})", tokens(usage))
        }
        RunEvent::CallCharged {
            attempts, charged, ..
        } => {
            let calls = match attempts {
                1 => "a model call".to_owned(),
                more => format!("{more} attempts at a model call"),
            };
            format!(
                "{calls} charged as {}: the usage is unknown",
                amount(charged)
            )
        }
        RunEvent::CallExceeded { held, used, .. } => {
            let (used, held) = (amount(used), amount(held));
            format!("a model call used {used}, and {held} were reserved for it")
        }
        RunEvent::TurnEnded { turn } => format!("turn {turn} ended"),
        RunEvent::ApprovalRequested { ticket, .. } => asked(ticket),
        RunEvent::ApprovalDecided {
            ticket,
            verdict,
            approver,
            comment,
            args,
            text,
            choice,
            output,
            ..
        } => decided(
            ticket,
            *verdict,
            approver.as_deref(),
            comment.as_deref(),
            given(
                args.as_ref(),
                text.as_deref(),
                choice.as_deref(),
                output.as_ref(),
            )
            .as_ref(),
        ),
        RunEvent::ApprovalGiven {
            ticket,
            approver,
            comment,
            args,
            remaining,
            ..
        } => {
            let verdict = Verdict::Approve;
            let (who, why) = (approver.as_deref(), comment.as_deref());
            let line = decided(ticket, verdict, who, why, args.as_ref());
            format!("{line} ({})", still_needed(*remaining))
        }
        RunEvent::ApprovalEscalated { ticket, to, .. } => escalated(ticket, to),
        RunEvent::DecisionRepeated {
            tool,
            verdict,
            approver,
            ..
        } => repeated(tool, *verdict, approver.as_deref()),
        RunEvent::ApprovalRefused { ticket, reason, .. } => format!(
            "a decision about ticket {} was rejected: {}",
            shown::line(ticket),
            shown::line(reason)
        ),
        RunEvent::ApprovalExpired { ticket } => expired(ticket),
        RunEvent::MessageReceived { text } => {
            format!("message: {}", shown::short_line(text, SHORT))
        }
        RunEvent::Upgraded { changes, by, .. } => upgraded(changes, by.as_deref()),
        RunEvent::HandedOver {
            from,
            to,
            reason,
            conversation,
            ..
        } => handed_over(from, to, reason, *conversation),
        RunEvent::SignalIgnored { name, reason } => format!(
            "signal {} was ignored: {}",
            shown::line(name),
            shown::line(reason)
        ),
        RunEvent::ContextCompacted {
            old_tokens,
            new_tokens,
            ..
        } => compacted(*old_tokens, *new_tokens),
        RunEvent::CompactionFailed { reason, .. } => {
            format!(
                "conversation could not be compacted: {}",
                shown::line(reason)
            )
        }
        RunEvent::Waiting { state } => waiting(*state).to_owned(),
        RunEvent::RunEnded {
            exit_reason, error, ..
        } => ended(*exit_reason, error.as_ref()),
        _ => UNKNOWN.to_owned(),
    }
}

/// Returns the text of a guard's verdict.
pub(crate) fn guarded(point: GuardPoint, guard: &str, verdict: &str, reason: &str) -> String {
    let (guard, verdict) = (shown::line(guard), shown::line(verdict));
    let reason = shown::short_line(reason, SHORT);
    format!("guard {guard} at {point}: {verdict}: {reason}")
}

/// Returns the text of a handoff to another agent.
pub(crate) fn handed_over(
    from: &str,
    to: &str,
    reason: &str,
    conversation: HandedConversation,
) -> String {
    let what = match conversation {
        HandedConversation::Whole => "",
        HandedConversation::Summary => " with a summary",
        HandedConversation::Last => " with the last message",
    };
    let why = match reason {
        "" => String::new(),
        reason => format!(": {}", shown::short_line(reason, SHORT)),
    };
    format!(
        "handed over by {} to {}{what}{why}",
        shown::line(from),
        shown::line(to)
    )
}

/// Returns the text of a run's adoption of the current definition of its agent.
pub(crate) fn upgraded(changes: &[String], by: Option<&str>) -> String {
    let by = by.map(|by| format!(" (by {})", shown::line(by)));
    let by = by.unwrap_or_default();
    if changes.is_empty() {
        return format!("it has the current definition of its agent: nothing changed{by}");
    }
    let changes: Vec<_> = changes.iter().map(|change| shown::line(change)).collect();
    format!(
        "it adopted the current definition of its agent: {}{by}",
        changes.join(", ")
    )
}

/// Returns the text of a tool call that was answered.
pub(crate) fn finished(tool: &str, is_error: bool, failure: Option<FailureKind>) -> String {
    let tool = shown::line(tool);
    match (is_error, failure) {
        (false, _) => format!("{tool} ok"),
        (true, None) => format!("{tool} failed"),
        (true, Some(kind)) => format!("{tool} failed ({kind})"),
    }
}

/// Returns a line of the picture about a call that was answered.
pub(crate) fn finished_call(
    call: &str,
    is_error: bool,
    failure: Option<FailureKind>,
    reason: Option<&str>,
) -> String {
    let sign = if is_error { '✗' } else { '✓' };
    let kind = failure.map(|kind| format!(" ({kind})")).unwrap_or_default();
    let reason = reason.map(|reason| format!(": {}", shown::short_line(reason, SHORT)));
    format!("  {sign} {call}{kind}{}", reason.unwrap_or_default())
}

/// Returns the text of a ticket that expired undecided.
pub(crate) fn expired(ticket: &str) -> String {
    let ticket = shown::line(ticket);
    format!("ticket {ticket} expired: no approver decided in time")
}

/// Returns the text of a conversation that was made smaller.
pub(crate) fn compacted(old_tokens: u64, new_tokens: u64) -> String {
    format!("conversation compacted from about {old_tokens} to {new_tokens} tokens")
}

/// Returns the text of the end of a run.
pub(crate) fn ended(exit_reason: ExitReason, error: Option<&RunError>) -> String {
    let why = error.map(|error| format!(": {}", shown::line(&error.message)));
    format!("run {}{}", exit_reason.phase(), why.unwrap_or_default())
}

fn asked(ticket: &Ticket) -> String {
    let mut what = match &ticket.tool {
        Some(tool) => shown::call(tool, ticket.args_or_null()),
        None => shown::line(ticket.subject()).into_owned(),
    };
    if let Some(text) = &ticket.text {
        what.push_str(&format!(": {}", shown::short_line(text, SHORT)));
    }
    format!(
        "ticket {}: {what} ({})",
        shown::line(&ticket.ticket),
        shown::line(&ticket.reason)
    )
}

/// Returns the text of a decision's values.
pub(crate) fn given(
    args: Option<&Value>,
    text: Option<&str>,
    choice: Option<&str>,
    output: Option<&Value>,
) -> Option<Value> {
    let said = text.or(choice).map(Value::from);
    args.or(output).cloned().or(said)
}

/// Returns how many more have to approve.
pub(crate) fn still_needed(remaining: u32) -> String {
    format!("{remaining} more needed")
}

/// Returns the text of what no provider is sent.
pub(crate) fn left_out(what: &[String]) -> String {
    let what: Vec<String> = what
        .iter()
        .map(|what| shown::line(what).to_string())
        .collect();
    format!("left out: {}", what.join("; "))
}

/// Returns the text of a ticket that is put to others.
pub(crate) fn escalated(ticket: &str, to: &str) -> String {
    let (ticket, to) = (shown::line(ticket), shown::line(to));
    format!("ticket {ticket} is passed to {to}: no approver decided in time")
}

/// Returns the text of a decision about a ticket.
pub(crate) fn decided(
    ticket: &str,
    verdict: Verdict,
    approver: Option<&str>,
    comment: Option<&str>,
    args: Option<&Value>,
) -> String {
    let mut line = format!("ticket {} {}", shown::line(ticket), verdict.past());
    if let Some(name) = approver {
        line.push_str(&format!(" by {}", shown::line(name)));
    }
    if let Some(args) = args {
        let args = shown::short_line(&args.to_string(), SHORT);
        line.push_str(&format!(" with {args}"));
    }
    if let Some(comment) = comment {
        line.push_str(&format!(": {}", shown::short_line(comment, SHORT)));
    }
    line
}

/// Returns the text of a decision that answers a question before it is asked.
pub(crate) fn repeated(tool: &str, verdict: Verdict, approver: Option<&str>) -> String {
    let line = format!("{} {} as before", shown::line(tool), verdict.past());
    match approver {
        Some(name) => format!("{line}: {} decided so", shown::line(name)),
        None => line,
    }
}

/// Returns the text of what a run in this phase does.
pub(crate) const fn waiting(state: RunPhase) -> &'static str {
    match state {
        RunPhase::WaitingForApproval => "waiting for approval",
        RunPhase::WaitingForInput => "waiting for a message",
        RunPhase::Sleeping => "sleeping",
        RunPhase::Interrupted => "interrupted",
        _ => "waiting",
    }
}

/// Returns the text of a tool's progress report.
pub(crate) fn report(report: &ProgressReport) -> String {
    let far = match report.total {
        Some(total) if total > 0.0 => format!("{} of {total}", report.progress),
        _ => report.progress.to_string(),
    };
    match &report.message {
        Some(message) => format!("{far}  {}", shown::short_line(message, SHORT)),
        None => far,
    }
}

/// Returns the text of a failed attempt that is followed by another.
pub(crate) fn retry(notice: &RetryNotice) -> String {
    format!(
        "{}: attempt {} failed ({}), again in {}",
        step(notice.step),
        notice.attempt,
        shown::short_line(&notice.failure.to_string(), SHORT),
        duration(notice.delay)
    )
}

fn step(step: StepId) -> String {
    match step.position {
        0 => "model call".to_owned(),
        // Positions are counted up for tool calls and down from the top for summaries.
        position if position > StepId::SUMMARY / 2 => "summary".to_owned(),
        position => format!("tool call {position}"),
    }
}

/// Returns a short time, rounded to what matters.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        1..=9 => format!("{:.1} s", duration.as_secs_f64()),
        10..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

/// Returns the text of the tokens of one or more calls.
pub(crate) fn tokens(usage: &TokenUsage) -> String {
    format!(
        "{} tokens in, {} out",
        usage.input_tokens, usage.output_tokens
    )
}

/// Returns a known cost in dollars.
pub(crate) fn cost(cost_usd: Decimal) -> String {
    format!("${}", cost_usd.normalize())
}

fn stop(reason: &StopReason) -> String {
    match serde_json::to_value(reason) {
        Ok(Value::String(text)) => shown::line(&text).into_owned(),
        Ok(other) => shown::short_line(&other.to_string(), SHORT),
        Err(_) => "unknown reason".to_owned(),
    }
}

/// Returns the text of tokens, with their cost if it is known.
fn amount(amount: &Amount) -> String {
    let Amount { tokens, cost_usd } = amount;
    match cost_usd.is_zero() {
        true => format!("{tokens} tokens"),
        false => format!("{tokens} tokens or ${cost_usd}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each event, at least once: a test of neuron-types makes sure of that.
    const EVENTS: &str = include_str!("../../../../core/types/tests/it/snapshots/event.snap");

    #[test]
    fn a_call_that_was_denied_says_why() {
        let why = Some("denied by rule bash(command=rm *)\u{1b}[2J");
        let line = finished_call("bash", true, None, why);
        assert!(line.starts_with("  ✗ bash: denied by rule bash(command=rm *)"));
        assert!(!line.contains('\u{1b}'), "{line}");
        assert_eq!(finished_call("bash ls", false, None, None), "  ✓ bash ls");
    }

    #[test]
    fn every_event_has_its_sentence() {
        let (_, samples) = EVENTS.split_once("\n---\n").unwrap();
        let mut samples: Value = serde_json::from_str(samples).unwrap();
        let events: Vec<RunEvent> = serde_json::from_value(samples["events"].take()).unwrap();
        assert!(!events.is_empty());
        for event in events {
            assert_ne!(sentence(&event), UNKNOWN, "{event:?}");
        }
    }
}
