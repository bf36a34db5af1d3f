use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use chrono::{DateTime, Utc};
use neuron_flow::{Adapter, Asked, BEHIND_ALL, Fact, Flow, Left};
use neuron_types::{
    DurableContext, DurableError, End, FailureKind, Handle, Observed, RunEvent, RunId, RunNotice,
    RunState, Signal, Started, Step, ToolCall, ToolEffects, ToolOutput,
};
use serde_json::json;
use uuid::Uuid;

use crate::flow::{at, cancelled, done, failure, flow, run_id, seconds, step};

/// A door that gets sets of facts from a script, and pends once at each place where it may.
struct Door {
    run_id: RunId,
    flow: Mutex<Flow>,
    script: Mutex<Script>,
}

#[derive(Default)]
struct Script {
    /// Sets that are known already.
    known: VecDeque<Vec<Fact>>,
    /// Sets that become known one after the other, to the next wait.
    coming: VecDeque<Vec<Fact>>,
    /// With their places in the order of the ends.
    signals: VecDeque<(u64, Signal)>,
    pends: bool,
    unobserved: Vec<RunNotice>,
    left: Vec<Left>,
    handed_out: Vec<DateTime<Utc>>,
}

impl Door {
    fn new() -> Self {
        Self {
            run_id: run_id(),
            flow: Mutex::new(flow()),
            script: Mutex::default(),
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }

    fn known(self, facts: impl Into<Vec<Fact>>) -> Self {
        self.script().known.push_back(facts.into());
        self
    }

    fn coming(self, facts: impl Into<Vec<Fact>>) -> Self {
        self.script().coming.push_back(facts.into());
        self
    }

    fn signal(self, name: &str, place: u64) -> Self {
        let signal = Signal::new(name, json!(null));
        self.script().signals.push_back((place, signal));
        self
    }

    fn steps<const N: usize>(&self, effects: [ToolEffects; N]) -> [Handle; N] {
        effects.map(|effects| self.start(step(1, effects).into()))
    }

    /// Takes in the next set of these, if there is one.
    fn take(&self, sets: impl FnOnce(&mut Script) -> &mut VecDeque<Vec<Fact>>) -> bool {
        let Some(set) = sets(&mut self.script()).pop_front() else {
            return false;
        };
        self.flow.lock().unwrap().take(at(5), set);
        true
    }

    async fn pend(&self) {
        let mut pends = self.script().pends;
        poll_fn(|_| {
            if std::mem::take(&mut pends) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }
}

impl DurableContext for Door {
    fn run_id(&self) -> &RunId {
        &self.run_id
    }

    fn engine(&self) -> &str {
        "scripted"
    }

    fn now(&self) -> DateTime<Utc> {
        at(0)
    }

    fn uuid(&self) -> Uuid {
        Uuid::nil()
    }

    fn start(&self, what: Started) -> Handle {
        neuron_flow::start(self, what)
    }

    fn leave(&self, handle: Handle) -> bool {
        neuron_flow::leave(self, handle)
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        neuron_flow::next(self, handles, signals).await
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        neuron_flow::poll(self, signals).await
    }

    fn should_continue_as_new(&self) -> bool {
        false
    }

    async fn continue_as_new(&self, _: &RunState) -> Result<bool, DurableError> {
        Ok(false)
    }

    fn emit(&self, event: RunEvent) {
        self.script().unobserved.push(event.into());
    }
}

impl Adapter for Door {
    fn flow(&self) -> &Mutex<Flow> {
        &self.flow
    }

    fn notify(&self, _: &Step) -> Vec<RunNotice> {
        std::mem::take(&mut self.script().unobserved)
    }

    fn left(&self, left: Left) {
        self.script().left.push(left);
    }

    async fn settle(&self, _: &Asked<'_>) -> Result<(), DurableError> {
        self.pend().await;
        while self.take(|script| &mut script.known) {
            self.pend().await;
        }
        Ok(())
    }

    async fn wait(&self, _: &Asked<'_>) -> Result<(), DurableError> {
        self.pend().await;
        if !self.take(|script| &mut script.coming) {
            std::future::pending::<()>().await;
        }
        self.pend().await;
        Ok(())
    }

    fn signal_at(&self, names: &[&str]) -> Option<u64> {
        let script = self.script();
        let mut signals = script.signals.iter();
        let signal = signals.find(|(_, signal)| names.contains(&&*signal.name));
        signal.map(|(place, _)| *place)
    }

    fn take_signal(&self, names: &[&str]) -> Option<Signal> {
        let signals = &mut self.script().signals;
        let is_asked = |(_, signal): &(u64, Signal)| names.contains(&&*signal.name);
        let index = signals.iter().position(is_asked)?;
        signals.remove(index).map(|(_, signal)| signal)
    }

    fn hands_out(&self, at: DateTime<Utc>) {
        self.script().handed_out.push(at);
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Returns the output of a future that never pends.
fn ready<F: Future>(future: F) -> F::Output {
    match poll_once(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// Returns what a wait for these observes, in short form.
fn next(door: &Door, handles: &[Handle], signals: &[&str]) -> String {
    told(ready(door.next(handles, signals)))
}

fn told(observed: Result<Observed, DurableError>) -> String {
    match observed {
        Ok(Observed::Ended(handle, End::Effect(result))) => match result {
            Ok(_) => format!("{} done", handle.number()),
            Err(failure) => format!("{} {:?}", handle.number(), failure.kind),
        },
        Ok(Observed::Ended(handle, End::Deadline)) => format!("{} over", handle.number()),
        Ok(Observed::Signal(signal)) => signal.name,
        Ok(other) => panic!("{other:?}"),
        Err(DurableError::Cancelled { .. }) => "cancelled".to_owned(),
        Err(DurableError::Engine { .. }) => "never".to_owned(),
        Err(other) => panic!("{other:?}"),
    }
}

const READ: ToolEffects = ToolEffects::ReadOnly;
const WRITE: ToolEffects = ToolEffects::Write;

#[test]
fn what_has_ended_comes_before_a_signal_that_has_no_place() {
    let [first, second] = [1, 2].map(Handle::new);
    let door = Door::new()
        .known([done(second)])
        .known([done(first)])
        .signal("stop", BEHIND_ALL);
    door.steps([READ, READ]);
    let wait = || next(&door, &[first, second], &["stop"]);
    assert_eq!([(); 3].map(|()| wait()), ["2 done", "1 done", "stop"]);
    assert_eq!(door.script().handed_out, [at(5), at(5)]);
}

#[test]
fn a_signal_comes_before_the_ends_of_later_places() {
    let [first, second] = [1, 2].map(Handle::new);
    let door = Door::new()
        .known([done(first)])
        .known([done(second)])
        .signal("more", 2);
    door.steps([READ, READ]);
    let wait = || next(&door, &[first, second], &["more"]);
    assert_eq!([(); 3].map(|()| wait()), ["1 done", "more", "2 done"]);
}

#[test]
fn a_signal_that_is_not_asked_for_is_kept() {
    let handle = Handle::new(1);
    let door = Door::new()
        .signal("more", 0)
        .signal("stop", 0)
        .coming([done(handle)]);
    door.steps([READ]);
    assert_eq!(next(&door, &[handle], &["other"]), "1 done");
    assert_eq!(next(&door, &[], &["stop"]), "stop");
    let polled = ready(door.poll(&["stop", "more"])).unwrap().unwrap();
    assert_eq!(polled.name, "more");
    assert_eq!(ready(door.poll(&["stop", "more"])).unwrap(), None);
}

#[test]
fn a_run_waits_until_something_that_it_asks_for_becomes_known() {
    let [first, second] = [1, 2].map(Handle::new);
    let door = Door::new()
        .coming([Fact::Made { handle: first }])
        .coming([done(second)])
        .coming([done(first)]);
    door.steps([READ, READ]);
    assert_eq!(next(&door, &[first], &[]), "1 done");
    assert_eq!(next(&door, &[first, second], &[]), "2 done");
}

#[test]
fn a_run_that_is_cancelled_takes_no_signal() {
    let door = Door::new().known([cancelled()]).signal("more", 0);
    let polled = ready(door.poll(&["more"])).unwrap_err();
    let DurableError::Cancelled { reason } = polled else {
        panic!("{polled:?}");
    };
    assert_eq!(reason.as_deref(), Some("enough"));
    assert_eq!(next(&door, &[], &["more"]), "cancelled");
    assert_eq!(door.script().signals.len(), 1);
}

#[test]
fn waiting_for_nothing_is_an_error() {
    let door = Door::new();
    assert_eq!(next(&door, &[], &[]), "never");
    let over = door.start(seconds(0)); // The flow has no clock.
    assert_eq!(next(&door, &[over], &[]), "1 over");
    assert_eq!(next(&door, &[over], &[]), "never");
    let [left] = door.steps([READ]);
    assert!(!door.leave(left));
    assert_eq!(next(&door, &[over, left], &[]), "never");
    assert_eq!(next(&door, &[Handle::new(9)], &[]), "never");
}

#[test]
fn events_go_to_the_first_step_that_is_started_behind_them() {
    let door = Door::new();
    let event = RunEvent::TurnStarted { turn: 1 };
    let notice = RunNotice::from(event.clone());
    door.emit(event);
    let deadline = door.start(seconds(5)); // The flow has no clock.
    let [first, second] = door.steps([READ, READ]);
    for handle in [deadline, second, first] {
        assert!(!door.leave(handle));
    }
    let left = &door.script().left;
    let notify: Vec<&[RunNotice]> = left.iter().map(|left| &*left.notify).collect();
    assert_eq!(notify, [&[][..], &[], &[notice]]);
    let attempts = left.iter().map(|left| left.attempt.is_some());
    assert_eq!(attempts.collect::<Vec<_>>(), [false, true, true]);
}

/// Waits for the ends of two steps and then for a signal, after a wait that is dropped when it was polled so often. Returns
/// what it comes upon; `None` if that wait was over by then.
fn dropped_after(polls: usize) -> Option<[String; 3]> {
    let handles = [1, 2].map(Handle::new);
    let door = Door::new()
        .known([Fact::Made { handle: handles[0] }])
        .coming([done(handles[1])])
        .coming([done(handles[0])])
        .signal("more", BEHIND_ALL);
    door.steps([WRITE, READ]);
    door.script().pends = true;
    {
        let mut wait = pin!(door.next(&handles, &[]));
        for _ in 0..polls {
            if poll_once(wait.as_mut()).is_ready() {
                return None;
            }
        }
    }
    door.script().pends = false;
    let wait = |signals| next(&door, &handles, signals);
    let observed = [wait(&[]), wait(&[]), wait(&["more"])];
    assert_eq!(door.script().left, []);
    Some(observed)
}

#[test]
fn a_wait_that_is_dropped_loses_nothing() {
    let dropped: Vec<[String; 3]> = (1..).map_while(dropped_after).collect();
    assert!(dropped.len() > 4, "{dropped:?}");
    let whole = dropped_after(0).unwrap();
    assert_eq!(whole, ["2 done", "1 done", "more"]);
    assert!(dropped.iter().all(|observed| *observed == whole));
}

fn call() -> ToolCall {
    ToolCall::new("c1", "fetch", json!({}))
}

/// Returns the result of a call of these effects that is cancelled while it is made, and then ends with this.
fn called(effects: ToolEffects, end: Fact) -> Result<ToolOutput, DurableError> {
    let handle = Handle::new(1);
    let door = Door::new()
        .coming([Fact::Made { handle }])
        .coming([cancelled()])
        .coming([end]);
    ready(door.execute_tool(&call(), &step(1, effects).options))
}

#[test]
fn a_cancelled_run_waits_for_a_write_and_leaves_any_other_call() {
    let handle = Handle::new(1);
    let output = called(WRITE, done(handle)).unwrap();
    assert_eq!(output, ToolOutput::text("done"));
    let result = Err(failure(FailureKind::ToolFailed));
    for (effects, end) in [
        (WRITE, Fact::Over { handle, result }),
        (READ, done(handle)),
        (ToolEffects::Idempotent, done(handle)),
    ] {
        let ended = called(effects, end);
        assert!(
            matches!(ended, Err(DurableError::Cancelled { .. })),
            "{ended:?}"
        );
    }
}

#[test]
fn a_write_that_a_cancelled_run_has_not_begun_is_over_as_cancelled() {
    let door = Door::new().coming([cancelled()]);
    let ended = ready(door.execute_tool(&call(), &step(1, WRITE).options));
    assert!(
        matches!(ended, Err(DurableError::Cancelled { .. })),
        "{ended:?}"
    );
    assert_eq!(door.script().left.len(), 1);
    assert!(door.flow.lock().unwrap().is_idle());
}
