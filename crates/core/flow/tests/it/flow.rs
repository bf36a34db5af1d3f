use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use neuron_flow::{AttemptKey, Fact, Flow, MOST_LOST, StepLife};
use neuron_types::{
    ActivityOptions, AgentSpec, Effect, FailureKind, Handle, Outcome, RetryPolicy, RunEvent, RunId,
    Started, Step, StepFailure, ToolCall, ToolEffects, ToolOutput,
};
use serde_json::json;

use crate::said::{Came, Said};

pub(crate) const CLASSES: [ToolEffects; 3] = [
    ToolEffects::ReadOnly,
    ToolEffects::Idempotent,
    ToolEffects::Write,
];

pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

pub(crate) fn run_id() -> RunId {
    RunId::new("nightly").unwrap()
}

pub(crate) fn step(turn: u32, effects: ToolEffects) -> Step {
    let options = ActivityOptions {
        effects,
        retry_policy: RetryPolicy {
            maximum_attempts: 3,
            ..RetryPolicy::default()
        },
        ..AgentSpec::default().model_options(turn)
    };
    Step::new(
        Effect::Tool(ToolCall::new("c1", "fetch", json!({}))),
        options,
    )
}

pub(crate) fn seconds(seconds: u64) -> Started {
    Started::Deadline(Duration::from_secs(seconds)) // Only compared, never waited for.
}

pub(crate) fn outcome() -> Outcome {
    ToolOutput::text("done").into()
}

pub(crate) fn failure(kind: FailureKind) -> StepFailure {
    StepFailure::new(kind, "as told")
}

pub(crate) fn key(handle: Handle, number: u32) -> AttemptKey {
    AttemptKey { handle, number }
}

fn ended(key: AttemptKey, result: Result<Outcome, StepFailure>) -> Fact {
    Fact::Ended {
        key,
        made: 1,
        result,
    }
}

pub(crate) fn done(handle: Handle) -> Fact {
    ended(key(handle, 1), Ok(outcome()))
}

pub(crate) fn cancelled() -> Fact {
    let reason = Some("enough".to_owned());
    Fact::Cancelled { reason }
}

pub(crate) fn flow() -> Flow {
    Flow::new(run_id())
}

fn start(flow: &mut Flow, effects: ToolEffects) -> Handle {
    flow.start(step(1, effects).into(), Vec::new(), at(0))
}

/// What a wait for these comes upon.
fn said(flow: &mut Flow, handles: &[Handle]) -> Said {
    Said::of(flow.answer(handles, false, None))
}

fn keys(flow: &Flow) -> Vec<AttemptKey> {
    flow.attempts().map(|attempt| attempt.key).collect()
}

#[test]
fn a_step_is_dropped_before_its_end_is_handed_out() {
    let mut flow = flow();
    let handle = start(&mut flow, ToolEffects::ReadOnly);
    let step = Arc::downgrade(flow.attempts().next().unwrap().step);
    assert!(step.upgrade().is_some());
    flow.take(at(1), [done(handle)]);
    assert!(step.upgrade().is_none());
    assert_eq!(
        said(&mut flow, &[handle]),
        Said::Ended(handle, Came::Ok, at(1))
    );
}

#[test]
fn a_write_that_is_left_is_still_observed() {
    let mut flow = flow();
    let handle = start(&mut flow, ToolEffects::Write);
    flow.take(at(1), [Fact::Made { handle }, cancelled()]);
    assert_eq!(said(&mut flow, &[handle]), Said::Cancelled);
    assert!(flow.leave(handle).is_owed);
    let then = flow.then(key(handle, 1), 1, Ok(outcome()), at(2));
    assert!(then.is_some() && flow.attempts().all(|attempt| attempt.is_left));
    assert_eq!(said(&mut flow, &[handle]), Said::Nothing);
    flow.take(at(2), [done(handle)]);
    assert_eq!(
        said(&mut flow, &[handle]),
        Said::Ended(handle, Came::Ok, at(2))
    );
    assert!(!flow.leave(handle).is_owed);
}

#[test]
fn a_write_that_is_left_is_left_to_no_other_worker() {
    let mut flow = flow();
    let handle = start(&mut flow, ToolEffects::Write);
    flow.take(at(1), [Fact::Made { handle }]);
    assert!(flow.leave(handle).is_owed);
    let lacks_worker = ended(key(handle, 1), Err(failure(FailureKind::NoWorker)));
    assert_eq!(flow.take(at(2), [lacks_worker]), []);
    let failed = Came::Failed(FailureKind::NoWorker);
    assert_eq!(
        said(&mut flow, &[handle]),
        Said::Ended(handle, failed, at(2))
    );
}

#[test]
fn the_end_of_a_write_is_observed_once_a_cancelled_run_has_left_it() {
    let mut flow = flow();
    let [write, read] =
        [ToolEffects::Write, ToolEffects::ReadOnly].map(|effects| start(&mut flow, effects));
    flow.take(at(1), [cancelled(), done(write), done(read)]);
    assert_eq!(said(&mut flow, &[write]), Said::Cancelled);
    assert!(flow.leave(write).is_owed && !flow.leave(read).is_owed);
    let over = Said::Ended(write, Came::Ok, at(1));
    assert_eq!(said(&mut flow, &[read, write]), over);
    assert_eq!(said(&mut flow, &[read, write]), Said::Never);
}

#[test]
fn a_cancel_counts_before_an_end_that_becomes_known_together_with_it() {
    let mut flow = flow();
    let [before, together] = [(); 2].map(|()| start(&mut flow, ToolEffects::ReadOnly));
    flow.take(at(1), [done(before)]);
    flow.take(at(2), [done(together), cancelled()]);
    assert_eq!(said(&mut flow, &[before, together]), Said::Cancelled);
    assert_eq!(said(&mut flow, &[together]), Said::Cancelled);
    let before_it = Said::Ended(before, Came::Ok, at(1));
    assert_eq!(said(&mut flow, &[before]), before_it);
    assert_eq!(said(&mut flow, &[]), Said::Cancelled);
}

#[test]
fn no_attempt_follows_one_that_ends_together_with_a_cancel() {
    for kind in [FailureKind::Overloaded, FailureKind::NoWorker] {
        let mut flow = flow();
        let handle = start(&mut flow, ToolEffects::ReadOnly);
        let end = ended(key(handle, 1), Err(failure(kind)));
        assert_eq!(flow.take(at(1), [end, cancelled()]), []);
        assert!(flow.has_ended(&[handle]) && flow.attempts().next().is_none());
        assert_eq!(said(&mut flow, &[handle]), Said::Cancelled);
    }
}

#[test]
fn what_a_cancelled_run_starts_has_ended_as_cancelled() {
    let mut flow = flow();
    flow.take(at(1), [cancelled()]);
    for effects in CLASSES {
        let handle = flow.start(step(1, effects).into(), Vec::new(), at(2));
        assert_eq!(keys(&flow), []);
        let given_up = Came::Failed(FailureKind::Cancelled);
        assert_eq!(
            said(&mut flow, &[handle]),
            Said::Ended(handle, given_up, at(2))
        );
    }
    let deadline = flow.start(seconds(0), Vec::new(), at(2)); // The flow has no clock.
    assert_eq!(said(&mut flow, &[deadline]), Said::Cancelled);
}

#[test]
fn a_deadline_of_no_time_is_over_at_once_unless_it_is_journaled() {
    let mut flow = flow();
    let handle = flow.start(seconds(0), Vec::new(), at(3)); // The flow has no clock.
    let over = Said::Ended(handle, Came::Deadline, at(3));
    assert_eq!(said(&mut flow, &[handle]), over);

    let mut flow = Flow::new(run_id()).with_journaled_deadlines();
    let handle = flow.start(seconds(0), Vec::new(), at(3)); // The flow has no clock.
    assert_eq!(said(&mut flow, &[handle]), Said::Nothing);
    flow.take(at(2), [Fact::Due { handle }]);
    assert_eq!(said(&mut flow, &[handle]), over);
}

#[test]
fn a_deadline_does_not_end_as_an_attempt() {
    let mut flow = flow();
    let handle = flow.start(seconds(5), Vec::new(), at(0)); // The flow has no clock.
    flow.take(at(1), [done(handle)]);
    assert_eq!(said(&mut flow, &[handle]), Said::Nothing);
    flow.take(at(2), [Fact::Due { handle }]);
    let over = Said::Ended(handle, Came::Deadline, at(5));
    assert_eq!(said(&mut flow, &[handle]), over);
}

#[test]
fn a_step_is_not_over_as_a_deadline() {
    let mut flow = flow();
    let handle = start(&mut flow, ToolEffects::ReadOnly);
    flow.take(at(1), [Fact::Due { handle }]);
    assert_eq!(said(&mut flow, &[handle]), Said::Nothing);
}

#[test]
fn hooks_are_notified_before_the_first_attempt_that_is_one_alone() {
    let handle = Handle::new(1);
    let lacks_worker = ended(key(handle, 1), Err(failure(FailureKind::NoWorker)));
    let life = StepLife::after(1, Some(at(0)), None, None);
    let failed_before = Fact::Failing { handle, life };
    for (fact, notified, given_back) in [
        (None, 1, 1),
        (Some(Fact::Made { handle }), 1, 0),
        // Its worker lacked what it needs: nothing was done.
        (Some(lacks_worker), 1, 1),
        (Some(failed_before), 0, 0),
    ] {
        let mut flow = flow();
        let events = vec![RunEvent::TurnStarted { turn: 1 }.into()];
        flow.start(step(1, ToolEffects::ReadOnly).into(), events, at(0));
        flow.take(at(1), fact);
        assert_eq!(flow.attempts().next().unwrap().notify.len(), notified);
        assert_eq!(flow.leave(handle).notify.len(), given_back);
    }
}

#[test]
fn so_many_workers_lost_in_a_row_end_a_step_that_is_no_write() {
    for effects in CLASSES {
        let mut flow = flow();
        let handle = start(&mut flow, effects);
        let lose = |flow: &mut Flow, times: u32| {
            for _ in 0..times {
                flow.take(at(1), [Fact::Lost { handle }]);
            }
        };
        lose(&mut flow, MOST_LOST - 1);
        // An answer in between starts the count anew, be it that there is no worker.
        let lacks = Err(failure(FailureKind::NoWorker));
        flow.take(at(2), [ended(key(handle, 1), lacks)]);
        lose(&mut flow, MOST_LOST - 1);
        assert!(!flow.has_ended(&[handle]), "{effects:?}");
        lose(&mut flow, 1);
        assert_eq!(flow.has_ended(&[handle]), effects != ToolEffects::Write);
    }
}

#[test]
fn a_segment_ends_once_the_ends_of_its_steps_were_observed_and_waits_for_no_deadline() {
    let mut flow = flow();
    flow.start(seconds(5), Vec::new(), at(0)); // The flow has no clock.
    assert!(flow.is_idle());
    let handle = start(&mut flow, ToolEffects::ReadOnly);
    assert!(!flow.is_idle());
    flow.take(at(1), [done(handle)]);
    assert!(!flow.is_idle(), "as a replay finds that knows of it sooner");
    assert_eq!(
        said(&mut flow, &[handle]),
        Said::Ended(handle, Came::Ok, at(1))
    );
    assert!(flow.is_idle() && flow.timers().count() == 1);
}

#[test]
fn names_three_of_what_goes_on_and_counts_the_others() {
    let mut flow = flow();
    let label = step(1, ToolEffects::ReadOnly).label();
    for _ in 0..5 {
        start(&mut flow, ToolEffects::ReadOnly);
    }
    let retried = key(Handle::new(1), 1);
    flow.take(
        at(1),
        [ended(retried, Err(failure(FailureKind::Overloaded)))],
    );
    let named = format!("{label} (attempt 2), {label}, {label} and 2 more");
    assert_eq!(flow.label(), named);
}

#[test]
fn a_signal_comes_before_the_ends_that_are_known_behind_it() {
    let mut flow = flow();
    let [first, second] = [(); 2].map(|()| start(&mut flow, ToolEffects::ReadOnly));
    flow.take_at(3, at(3), [done(first)]);
    flow.take_at(5, at(5), [done(second)]);
    let mut ask = |signal| Said::of(flow.answer(&[first, second], true, Some(signal)));
    assert_eq!(ask(3), Said::Signal);
    assert_eq!(ask(4), Said::Ended(first, Came::Ok, at(3)));
    assert_eq!(ask(5), Said::Signal);
    assert_eq!(ask(6), Said::Ended(second, Came::Ok, at(5)));
    assert_eq!(ask(7), Said::Signal);
}

#[test]
fn handles_go_on_behind_one_that_a_journal_numbers() {
    let mut flow = flow();
    assert_eq!(start(&mut flow, ToolEffects::ReadOnly), Handle::new(1));
    let numbered = Handle::new(7);
    let what = step(1, ToolEffects::ReadOnly).into();
    assert_eq!(flow.start_as(numbered, what, Vec::new(), at(0)), numbered);
    assert_eq!(start(&mut flow, ToolEffects::ReadOnly), Handle::new(8));
}

#[test]
fn a_write_that_is_left_before_it_is_made_has_ended_as_given_up() {
    for cancels in [false, true] {
        let mut flow = flow();
        let handle = start(&mut flow, ToolEffects::Write);
        if cancels {
            flow.take(at(1), [cancelled()]);
        }
        let left = flow.leave(handle);
        let then = flow.then(key(handle, 1), 1, Ok(outcome()), at(1));
        assert!(left.is_owed && then.is_none() && flow.attempts().next().is_none());
        // An attempt that began all the same makes no difference.
        flow.take(at(2), [done(handle)]);
        let given_up = Came::Failed(FailureKind::Cancelled);
        assert_eq!(
            said(&mut flow, &[handle]),
            Said::Ended(handle, given_up, DateTime::UNIX_EPOCH)
        );
        assert_eq!(said(&mut flow, &[handle]), Said::Never);
    }
}

#[test]
fn no_attempt_follows_at_a_step_that_a_cancelled_run_has_going() {
    let mut flow = flow();
    let [between, running] = [(); 2].map(|()| start(&mut flow, ToolEffects::Idempotent));
    let made = [between, running].map(|handle| Fact::Made { handle });
    flow.take(at(1), made);
    let overloaded = || Err(failure(FailureKind::Overloaded));
    flow.take(at(2), [ended(key(between, 1), overloaded())]);
    flow.take(at(3), [cancelled()]);
    assert_eq!(keys(&flow), [key(between, 2), key(running, 1)]);
    let ends = [key(between, 2), key(running, 1)].map(|key| ended(key, overloaded()));
    flow.take(at(4), ends);
    assert!(flow.attempts().next().is_none() && flow.is_open(between) && flow.is_open(running));
}
