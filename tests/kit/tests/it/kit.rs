//! The kit finds doors that do not behave as they must.

use std::{
    collections::{BTreeMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::FutureExt as _;
use neuron_local::LocalDurableContext;
use neuron_testing::{LocalHost, run_matching};
use neuron_types::{
    ActivityOptions, DurableContext, DurableError, EffectKind, Handle, Observed, RunEvent, RunId,
    RunState, Signal, Started, Step, StepId, ToolEffects,
};
use uuid::Uuid;

/// A fault of a door.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// The door makes each tool call twice.
    Twice,
    /// The door makes calls one after the other.
    OneByOne,
    /// The door answers calls in the opposite order.
    Reversed,
    /// The door does not wait between two attempts.
    Hasty,
    /// The door gives all calls the same key.
    SameKey,
    /// The door treats writes as harmless.
    Writes,
    /// The door emits each event twice.
    Echo,
}

struct FaultyDoor {
    door: LocalDurableContext,
    fault: Fault,
    /// The real handles of those that the loop knows.
    real: Mutex<BTreeMap<Handle, Handle>>,
    /// The calls that wait until the one before has ended.
    waiting: Mutex<VecDeque<(Handle, Step)>>,
}

impl FaultyDoor {
    fn new(door: LocalDurableContext, fault: Fault) -> Self {
        Self {
            door,
            fault,
            real: Mutex::default(),
            waiting: Mutex::default(),
        }
    }

    fn start_tool(&self, step: Step) -> Handle {
        match self.fault {
            Fault::Twice => {
                self.door.start(step.clone().into());
            }
            Fault::OneByOne => {
                let mut waiting = self.waiting.lock().unwrap();
                let StepId { turn, position, .. } = step.options.step;
                let handle = Handle::new(1_000_000 * u64::from(turn) + u64::from(position));
                waiting.push_back((handle, step));
                return handle;
            }
            _ => {}
        }
        self.door.start(step.into())
    }

    /// Starts the next call. The loop waits again when it has ended.
    fn start_waiting(&self) {
        if let Some((handle, step)) = self.waiting.lock().unwrap().pop_front() {
            let real = self.door.start(step.into());
            self.real.lock().unwrap().insert(handle, real);
        }
    }

    /// Assigns the end of each call to another one.
    fn cross(&self, handles: &[Handle]) {
        let mut real = self.real.lock().unwrap();
        if handles.iter().all(|handle| !real.contains_key(handle)) {
            real.extend(handles.iter().copied().zip(handles.iter().rev().copied()));
        }
    }

    fn real(&self, handle: Handle) -> Handle {
        let real = self.real.lock().unwrap();
        real.get(&handle).copied().unwrap_or(handle)
    }

    fn options(&self, mut options: ActivityOptions) -> ActivityOptions {
        match self.fault {
            Fault::Hasty => options.retry_policy.initial_interval = Duration::ZERO,
            Fault::SameKey => {
                options.step = StepId::new(1, 1);
            }
            Fault::Writes => options.effects = ToolEffects::Idempotent,
            _ => {}
        }
        options
    }
}

impl DurableContext for FaultyDoor {
    fn run_id(&self) -> &RunId {
        self.door.run_id()
    }

    fn engine(&self) -> &str {
        self.door.engine()
    }

    fn now(&self) -> DateTime<Utc> {
        self.door.now()
    }

    fn uuid(&self) -> Uuid {
        self.door.uuid()
    }

    fn start(&self, what: Started) -> Handle {
        let Started::Step(step) = what else {
            return self.door.start(what);
        };
        let Step { effect, options } = Arc::unwrap_or_clone(step);
        let step = Step::new(effect, self.options(options));
        match step.effect.kind() {
            EffectKind::Tool => self.start_tool(step),
            _ => self.door.start(step.into()),
        }
    }

    fn leave(&self, handle: Handle) -> bool {
        self.door.leave(self.real(handle))
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        if self.fault == Fault::OneByOne {
            self.start_waiting();
        }
        if self.fault == Fault::Reversed {
            self.cross(handles);
        }
        let real: Vec<Handle> = handles.iter().map(|handle| self.real(*handle)).collect();
        Ok(match self.door.next(&real, signals).await? {
            Observed::Ended(ended, end) => {
                let asked = handles.iter().zip(real).find(|(_, real)| *real == ended);
                Observed::Ended(*asked.expect("it was asked for").0, end)
            }
            signal => signal,
        })
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        self.door.poll(signals).await
    }

    fn should_continue_as_new(&self) -> bool {
        self.door.should_continue_as_new()
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<bool, DurableError> {
        self.door.continue_as_new(state).await
    }

    fn emit(&self, event: RunEvent) {
        if self.fault == Fault::Echo {
            self.door.emit(event.clone());
        }
        self.door.emit(event);
    }
}

fn faulty(fault: Fault) -> LocalHost {
    LocalHost::executing(move |door, input| async move {
        let faulty = FaultyDoor::new(door, fault);
        let output = neuron_workflows::agent(&faulty, input).await;
        faulty.door.finish().await;
        output
    })
}

/// Returns the kit's report about a door with this fault.
async fn said_of(fault: Fault, scenario: &str) -> String {
    let host = faulty(fault);
    let tried = AssertUnwindSafe(run_matching(&host, scenario));
    let panic = tried.catch_unwind().await.expect_err("the fault is found");
    *panic.downcast::<String>().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn finds_what_is_wrong_with_a_door() {
    for (fault, scenario) in [
        (Fault::Twice, "a_write_is_not_repeated"),
        (
            Fault::Reversed,
            "calls_of_one_turn_run_at_the_same_time_and_are_answered_in_order",
        ),
        (
            Fault::Hasty,
            "failures_of_the_model_are_retried_after_their_delays",
        ),
        (Fault::SameKey, "several_tool_turns"),
        (Fault::Writes, "a_write_is_not_repeated"),
        (Fault::Echo, "several_tool_turns"),
    ] {
        assert_eq!(
            said_of(fault, scenario).await,
            format!("failed: {scenario}")
        );
    }
}

/// Such a door never has all calls in flight. The stopped clock reaches the deadline as soon as nothing is in progress.
#[tokio::test(start_paused = true)]
async fn finds_a_door_that_makes_calls_one_after_the_other() {
    let scenario = "five_calls_of_one_turn_are_under_way_at_once";
    assert_eq!(
        said_of(Fault::OneByOne, scenario).await,
        format!("failed: {scenario}")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_the_scenarios_that_are_asked_for() {
    run_matching(&LocalHost::default(), "sequential_calls").await;
}
