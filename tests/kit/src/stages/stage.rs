//! The runs of a scenario, on any host.

use std::{collections::BTreeMap, time::Duration};

use neuron_patience::{long_patience, patience};
use neuron_types::{
    AgentRef, AgentSpec, Decision, Message, Place, Placement, RecordedEvent, RequestHead,
    RetryPolicy, RunEvent, RunId, RunPhase, RunRequest, RunStatus, StepId, Ticket, ToolSettings,
    UserMessage, Verdict,
};
use serde_json::Value;
use tokio::time::timeout;

use super::record::without_place;
use crate::{Host, HostError, Record, Session, World};

const BETWEEN_LOOKS: Duration = Duration::from_millis(10); // Between two looks.

/// Returns an agent with the model and all the tools of a [`World`]. Its delays are short, and the timeouts of its tool
/// calls are so long that no door treats them as quick ones. Its writes have no order, so that doors have much to do at
/// once.
#[must_use]
pub fn agent() -> AgentSpec {
    AgentSpec {
        name: "tester".to_owned(),
        head: RequestHead {
            provider: Some("world".to_owned()),
            tools: World::definitions(),
            ..RequestHead::default()
        }
        .into(),
        retry: RetryPolicy {
            initial_interval: Duration::from_millis(100), // Only so that it does not take long.
            maximum_interval: Duration::from_secs(1),     // Only so that it does not take long.
            ..RetryPolicy::default()
        },
        tool_timeout: Duration::from_secs(24 * 60 * 60), // Nothing ends by it.
        parallel_writes: true,
        ..AgentSpec::default()
    }
}

/// Returns settings with this placement for the calls of the tools that are no writes, however long they may take.
pub(crate) fn calls_placed(placement: Placement) -> BTreeMap<String, ToolSettings> {
    let mut settings = ToolSettings::default();
    settings.activity.placement = Some(placement);
    let tools = ["look", "put"].map(|tool| (tool.to_owned(), settings.clone()));
    BTreeMap::from(tools)
}

/// A session of a host, and the world that its runs act on.
#[derive(Debug)]
pub struct Stage<S> {
    /// The world.
    pub world: World,
    /// The session.
    pub session: S,
}

impl<S: Session> Stage<S> {
    /// Returns a stage on which runs are executed as they are submitted.
    ///
    /// # Panics
    ///
    /// If the host fails.
    pub async fn open<H: Host<Session = S>>(host: &H, scenario: &str) -> Self {
        let stage = Self::open_idle(host, scenario).await;
        stage.execute().await;
        stage
    }

    /// Returns a stage on which nothing is executed before [`execute`](Self::execute).
    ///
    /// # Panics
    ///
    /// If the host fails.
    pub async fn open_idle<H: Host<Session = S>>(host: &H, scenario: &str) -> Self {
        let world = World::new(scenario);
        let session = done(host.open(&world), "the host opens").await;
        Self { world, session }
    }

    /// Starts executing: see [`Session::execute`].
    ///
    /// # Panics
    ///
    /// If the host fails.
    pub async fn execute(&self) {
        done(self.session.execute(), "the host executes").await;
    }

    /// Kills the executing side: see [`Session::kill`].
    ///
    /// # Panics
    ///
    /// If the host fails.
    pub async fn kill(&self) {
        done(self.session.kill(), "the executing side is killed").await;
    }

    /// Submits a run with this script. Its name is also the script's, and so that of the model.
    ///
    /// # Panics
    ///
    /// If the host fails or this is not a script.
    pub async fn submit(&self, name: &str, script: &Value, mut agent: AgentSpec) -> Run<'_, S> {
        name.clone_into(&mut agent.head_mut().model);
        self.submit_to(name, script, agent).await
    }

    /// Returns the run that the run of this name has started at this step.
    #[must_use]
    pub fn child(&self, parent: &str, step: StepId) -> Run<'_, S> {
        let id = self.world.run_id(parent).child(step);
        let own = id.as_str().rsplit_once(parent).map(|(_, own)| own);
        let name = format!("{parent}{}", own.unwrap_or_default());
        Run {
            stage: self,
            name,
            id,
        }
    }

    /// Submits a run as [`submit`](Self::submit) does, with an agent that is named, or a definition.
    ///
    /// # Panics
    ///
    /// The panics of [`submit`](Self::submit).
    pub async fn submit_to(
        &self,
        name: &str,
        script: &Value,
        agent: impl Into<AgentRef>,
    ) -> Run<'_, S> {
        let request = RunRequest::new(agent, Message::user("Go."));
        self.submit_request(name, script, request).await
    }

    /// Submits a run as [`submit_to`](Self::submit_to) does, with everything that a run can be started with.
    ///
    /// # Panics
    ///
    /// The panics of [`submit`](Self::submit).
    pub async fn submit_request(
        &self,
        name: &str,
        script: &Value,
        request: RunRequest,
    ) -> Run<'_, S> {
        self.world.script(name, script);
        let id = self.world.run_id(name);
        done(self.session.submit(&id, request), "a run is submitted").await;
        Run {
            stage: self,
            name: name.to_owned(),
            id,
        }
    }
}

/// One run on a [`Stage`].
#[derive(Debug)]
pub struct Run<'a, S> {
    stage: &'a Stage<S>,
    /// Its name in the scenario.
    pub name: String,
    /// Its id.
    pub id: RunId,
}

impl<S: Session> Run<'_, S> {
    pub(crate) fn session(&self) -> &S {
        &self.stage.session
    }

    /// Waits until the run is in this state and its status satisfies the condition.
    ///
    /// # Panics
    ///
    /// If that does not happen within [`patience`].
    pub async fn reaches(
        &self,
        state: RunPhase,
        is_right: impl Fn(&RunStatus) -> bool,
    ) -> RunStatus {
        let mut last = None;
        let looking = async {
            loop {
                match self.session().status(&self.id).await {
                    Ok(status) if status.state == state && is_right(&status) => return status,
                    other => last = Some(other),
                }
                tokio::time::sleep(BETWEEN_LOOKS).await; // Between two looks.
            }
        };
        match timeout(patience(), looking).await {
            Ok(status) => status,
            Err(_) => panic!("run {} is not {state}: {last:?}", self.name),
        }
    }

    /// Waits until this many tickets are open and nothing else is in flight.
    ///
    /// # Panics
    ///
    /// If that does not happen within [`patience`].
    pub async fn waits_for(&self, tickets: usize) -> Vec<Ticket> {
        let state = RunPhase::WaitingForApproval;
        let status = self.reaches(state, |status| status.approvals.len() == tickets);
        status.await.approvals
    }

    /// Waits until the run has asked this many questions, and returns their tickets, whether they are still open or
    /// not.
    ///
    /// # Panics
    ///
    /// If that does not happen within [`patience`].
    pub async fn has_asked(&self, tickets: usize) -> Vec<Ticket> {
        let asked = |events: Vec<RecordedEvent>| {
            let asked = events
                .into_iter()
                .filter_map(|recorded| match recorded.event {
                    RunEvent::ApprovalRequested { ticket, .. } => Some(ticket),
                    _ => None,
                });
            asked.collect::<Vec<Ticket>>()
        };
        let are_there = |events: &[RecordedEvent]| asked(events.to_vec()).len() >= tickets;
        self.shows("its questions", are_there).await;
        asked(self.events().await)
    }

    /// Returns the open tickets.
    ///
    /// # Panics
    ///
    /// If the host cannot return them.
    pub async fn tickets(&self) -> Vec<Ticket> {
        done(self.session().status(&self.id), "the status")
            .await
            .approvals
    }

    /// Waits until the run's events satisfy the condition.
    ///
    /// # Panics
    ///
    /// If that does not happen within [`patience`].
    pub async fn shows(&self, what: &str, is_right: impl Fn(&[RecordedEvent]) -> bool) {
        let mut last = None;
        let looking = async {
            loop {
                match self.session().events(&self.id).await {
                    Ok(events) if is_right(&events) => return,
                    other => last = Some(other),
                }
                tokio::time::sleep(BETWEEN_LOOKS).await; // Between two looks.
            }
        };
        if timeout(patience(), looking).await.is_err() {
            panic!("run {} does not show {what}: {last:?}", self.name);
        }
    }

    /// Waits until the run has received this many messages.
    ///
    /// # Panics
    ///
    /// If that does not happen within [`patience`].
    pub async fn has_received(&self, messages: usize) {
        let received =
            |recorded: &&RecordedEvent| matches!(recorded.event, RunEvent::MessageReceived { .. });
        let are_there =
            |events: &[RecordedEvent]| events.iter().filter(received).count() >= messages;
        self.shows("its messages", are_there).await;
    }

    /// Returns the status, without what differs between hosts and runs.
    ///
    /// # Panics
    ///
    /// If the host cannot return it.
    pub async fn status(&self) -> Value {
        let status = done(self.session().status(&self.id), "the status").await;
        without_place(&serde_json::to_value(status).unwrap(), &self.name)
    }

    /// Returns the status as it is.
    ///
    /// # Panics
    ///
    /// If the host cannot return it.
    pub async fn status_now(&self) -> RunStatus {
        done(self.session().status(&self.id), "the status").await
    }

    /// Returns the events so far.
    ///
    /// # Panics
    ///
    /// If the host cannot return them.
    pub async fn events(&self) -> Vec<RecordedEvent> {
        done(self.session().events(&self.id), "the events").await
    }

    /// Returns where the run is.
    #[must_use]
    pub fn place(&self) -> Place {
        self.session().place()
    }

    /// Answers a ticket.
    ///
    /// # Panics
    ///
    /// If the host rejects the decision or fails.
    pub async fn decide(&self, decision: &Decision) {
        done(self.session().decide(&self.id, decision), "a decision").await;
    }

    /// Answers a ticket as soon as the run has processed the decision that it rejected before.
    ///
    /// # Panics
    ///
    /// If the host fails, or does not accept the decision in time.
    pub async fn decide_in_the_end(&self, decision: &Decision) {
        let taken = async {
            while let Err(error) = self.session().decide(&self.id, decision).await {
                assert!(
                    matches!(error, HostError::Refused(_)),
                    "a decision: {error}"
                );
                tokio::time::sleep(BETWEEN_LOOKS).await; // Between two looks.
            }
        };
        timeout(patience(), taken)
            .await
            .expect("a decision is taken in time");
    }

    /// Answers a ticket with a decision that fits none.
    ///
    /// # Panics
    ///
    /// If the host fails.
    pub async fn decide_wrongly(&self, decision: &Decision) {
        self.is_taken(decision).await;
    }

    /// Answers a ticket, and returns whether the host accepts the decision.
    ///
    /// # Panics
    ///
    /// If the host fails.
    pub async fn is_taken(&self, decision: &Decision) -> bool {
        let answer = timeout(patience(), self.session().decide(&self.id, decision)).await;
        match answer.expect("a decision is taken or refused in time") {
            Ok(()) => true,
            Err(HostError::Refused(_)) => false,
            Err(error) => panic!("a decision: {error}"),
        }
    }

    /// Answers a ticket with a decision that is not from an approver, and returns the reason: the host rejects it, or
    /// the run does. The run keeps waiting.
    ///
    /// # Panics
    ///
    /// If the run accepts it, or the host fails.
    pub async fn rejects(&self, decision: &Decision) -> String {
        let reasons = |events: &[RecordedEvent]| -> Vec<String> {
            let reasons = events.iter().filter_map(|recorded| match &recorded.event {
                RunEvent::ApprovalRefused { reason, .. } => Some(reason.clone()),
                _ => None,
            });
            reasons.collect()
        };
        let before = reasons(&self.events().await).len();
        let told = format!(
            "the decision about ticket {} is not taken: ",
            decision.ticket
        );
        match timeout(patience(), self.session().decide(&self.id, decision)).await {
            Ok(Ok(())) => {}
            Ok(Err(HostError::Refused(refused))) => {
                let reason = refused.strip_prefix(&told);
                return reason.unwrap_or_else(|| panic!("{refused}")).to_owned();
            }
            other => panic!("a wrong decision: {other:?}"),
        }
        self.shows("a rejection", |events| reasons(events).len() > before)
            .await;
        self.waits_for(1).await;
        reasons(&self.events().await).pop().unwrap()
    }

    /// Answers a ticket with a decision that fits none, and returns the host's reason for rejecting it.
    ///
    /// # Panics
    ///
    /// If the host accepts it or fails.
    pub async fn refuses(&self, decision: &Decision) -> String {
        let answer = timeout(patience(), self.session().decide(&self.id, decision)).await;
        match answer.expect("a decision is taken or refused in time") {
            Err(HostError::Refused(reason)) => reason,
            other => panic!("a wrong decision: {other:?}"),
        }
    }

    /// Queues a message.
    ///
    /// # Panics
    ///
    /// If the host fails.
    pub async fn send(&self, text: &str) {
        let message = UserMessage {
            text: text.to_owned(),
        };
        done(self.session().send(&self.id, &message), "a message").await;
    }

    /// Sends a signal.
    ///
    /// # Panics
    ///
    /// If the host fails.
    pub async fn signal(&self, name: &str, payload: Value) {
        done(self.session().signal(&self.id, name, payload), "a signal").await;
    }

    /// Cancels the run.
    ///
    /// # Panics
    ///
    /// If the host fails.
    pub async fn cancel(&self, reason: &str) {
        let reason = Some(reason.to_owned());
        done(self.session().cancel(&self.id, reason), "a cancellation").await;
    }

    /// Returns how many segments the run has had so far.
    ///
    /// # Panics
    ///
    /// If the host cannot return it.
    pub async fn histories(&self) -> u64 {
        done(self.session().histories(&self.id), "the histories").await
    }

    /// Waits for the run's end, and checks what is true of every run.
    ///
    /// # Panics
    ///
    /// If the run does not end, or a check fails.
    pub async fn ends(&self) -> Record {
        self.ends_within(patience()).await
    }

    /// Does the same as [`ends`](Self::ends), for a run that moves much data or makes thousands of steps.
    ///
    /// # Panics
    ///
    /// The panics of [`ends`](Self::ends).
    pub async fn ends_at_last(&self) -> Record {
        self.ends_within(long_patience()).await
    }

    async fn ends_within(&self, deadline: Duration) -> Record {
        let what = format!("the end of run {}", self.name);
        let waiting = timeout(deadline, self.session().wait(&self.id));
        let output = match waiting.await {
            Ok(output) => output.unwrap_or_else(|error| panic!("{what}: {error}")),
            Err(_) => panic!("{what}: not within {deadline:?}"),
        };
        self.world_is_at_rest().await;
        let recorded = done(self.session().events(&self.id), "the events").await;
        assert_eq!(output.run_id, self.id);
        let world = &self.stage.world;
        let mut attempts = world.attempts();
        attempts.retain(|attempt| attempt.run == self.name);
        let record = Record::new(
            &self.name,
            recorded,
            output,
            attempts,
            world.conversation(&self.name),
        );
        record.check();
        record
    }

    /// Waits until steps that were in flight at the end of a run are over.
    async fn world_is_at_rest(&self) {
        let what = format!("end of every attempt of run {}", self.name);
        let own = self.name.as_str();
        let world = &self.stage.world;
        world
            .until(&what, |attempts| {
                let mut own = attempts.iter().filter(|attempt| attempt.run == own);
                own.all(|attempt| attempt.ended.is_some()).then_some(())
            })
            .await;
    }
}

/// Returns a decision of `ann` about this ticket.
#[must_use]
pub fn decision(ticket: &Ticket, verdict: Verdict) -> Decision {
    Decision {
        approver: Some("ann".to_owned()),
        ..Decision::of(ticket, verdict)
    }
}

async fn done<T>(work: impl Future<Output = Result<T, HostError>>, what: &str) -> T {
    match timeout(patience(), work).await {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => panic!("{what}: {error}"),
        Err(_) => panic!("{what}: not within {:?}", patience()),
    }
}
