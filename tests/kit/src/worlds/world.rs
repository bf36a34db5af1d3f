//! The world that runs act on.

use std::{
    collections::BTreeMap,
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use futures::future::BoxFuture;
use neuron_approvers::ApproverEntry;
use neuron_config::{ScriptModel, script};
use neuron_executor::{Agents, Executor};
use neuron_patience::patience;
use neuron_types::{
    AgentSpec, CompletionRequest, CompletionResponse, FailureKind, HookError, Message,
    Provider as _, ProviderError, RunId, SkillSpec, StepId, ToolDefinition, ToolEffects,
    ToolOutput,
};
use serde_json::Value;
use tokio::{
    sync::{OnceCell, watch},
    task::AbortHandle,
};
use uuid::Uuid;

use super::{
    abridge::abridged,
    acting,
    gate::{Barrier, Place},
    judge,
    line::{Line, Reach, ToolAsk},
    remote,
    sent_tools::SentTools,
    skills,
    tool_fault::ToolFault,
    tools::{self, DEFERRED, EDIT, KNOWING, READ, SERVED, SKILLS, TOOLS, ToolInput},
};
use crate::{
    Attempt, Ending, Gate, ScriptedModel, Turnstile,
    fakes::{Passed, lags},
};

/// A model and tools that follow their instructions, and record their calls. Cheap to clone.
///
/// It stays when a door is dropped or a worker dies, as the real world does.
///
/// The model answers from the script whose name is the request's model. The tools are `look`, which is
/// read-only, `put`, which is idempotent, and `write`. A call does what its arguments say:
///
/// | Argument | Means |
/// | --- | --- |
/// | `text` | what it answers; default is `done` |
/// | `bytes` | it answers with so many bytes |
/// | `takes_ms` | how long it takes |
/// | `error` | it answers with this error for the model |
/// | `hook` | what a hook of the executor does before the call: `skip`, `terminate`, `modify` |
/// | `fail` | what its attempts fail with before one answers: `with` is a [`ToolError`](neuron_types::ToolError) in snake case or `panic`, beside `message` and `retry_after_ms` |
#[derive(Clone)]
pub struct World {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    state: Mutex<State>,
    /// Notifies of changes: a request or an answer.
    changed: watch::Sender<()>,
    server: OnceCell<Server>,
    turnstile: Turnstile,
}

#[derive(Default)]
struct State {
    scripts: BTreeMap<String, Arc<ScriptModel>>,
    agents: BTreeMap<String, AgentSpec>,
    gates: BTreeMap<Place, Barrier>,
    attempts: Vec<Attempt>,
    conversations: BTreeMap<String, Vec<Message>>,
    /// The tools of model calls, by the script and its turn.
    sent: BTreeMap<(String, u32), SentTools>,
    notes: Vec<String>,
    approvers: Vec<ApproverEntry>,
}

struct Server {
    address: SocketAddr,
    task: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl World {
    /// Returns a world without scripts. `name` is part of the ids of its runs, which no other world has.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let nonce = Uuid::new_v4().simple().to_string();
        let (changed, _) = watch::channel(());
        Self {
            inner: Arc::new(Inner {
                name: format!("{}-{}", name.replace('_', "-"), &nonce[..8]),
                state: Mutex::default(),
                changed,
                server: OnceCell::new(),
                turnstile: Turnstile::default(),
            }),
        }
    }

    /// Returns the id of the run with this name.
    ///
    /// # Panics
    ///
    /// If the name does not fit into a run id.
    #[must_use]
    pub fn run_id(&self, run: &str) -> RunId {
        RunId::new(format!("{}-{run}", self.inner.name)).unwrap()
    }

    /// Sets this script for requests to the model `name`, in the form that [`neuron_config::script`] describes.
    ///
    /// # Panics
    ///
    /// If it is not a script.
    pub fn script(&self, name: &str, script: &Value) {
        let script = ScriptModel::parse(&script.to_string()).unwrap();
        let script = Arc::new(script);
        self.state().scripts.insert(name.to_owned(), script);
    }

    /// Adds this agent to those that later executing sides know by name: a run may be started with the name.
    pub fn define(&self, agent: AgentSpec) {
        self.state().agents.insert(agent.name.clone(), agent);
    }

    /// Requires from now on that decisions are signed by one of these. Before, every decision counts.
    pub fn set_approvers(&self, approvers: impl IntoIterator<Item = ApproverEntry>) {
        self.state().approvers = approvers.into_iter().collect();
    }

    /// Returns the agents that an executing side knows if it begins now.
    #[must_use]
    pub fn agents(&self) -> Agents {
        self.state().agents.values().cloned().collect()
    }

    /// Returns the same, for an executing side in another process.
    ///
    /// # Panics
    ///
    /// If they cannot be written.
    #[must_use]
    pub fn agents_json(&self) -> String {
        let agents: Vec<_> = self.state().agents.values().cloned().collect();
        serde_json::to_string(&agents).unwrap()
    }

    /// Holds the next attempt at a step: position 0 is the model call, n the n-th tool call.
    #[must_use = "a gate that is dropped is open"]
    pub fn hold(&self, run: &str, turn: u32, position: u32) -> Gate {
        let place = Place {
            run: run.to_owned(),
            step: StepId::new(turn, position),
        };
        let (gate, barrier) = Gate::new(place.clone());
        self.state().gates.insert(place, barrier);
        gate
    }

    /// Returns the gate that every attempt passes before it has any effect.
    #[must_use]
    pub fn turnstile(&self) -> &Turnstile {
        &self.inner.turnstile
    }

    /// Returns every attempt so far, in the order in which they began.
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        self.state().attempts.clone()
    }

    /// Returns the attempts at one step.
    #[must_use]
    pub fn attempts_at(&self, run: &str, turn: u32, position: u32) -> Vec<Attempt> {
        let mut attempts = self.attempts();
        attempts.retain(|attempt| attempt.is_at(run, turn, position));
        attempts
    }

    /// Returns the messages in the newest call of the model with this script. Long texts are cut, and of a conversation
    /// of more than 100 messages only the newest are kept.
    #[must_use]
    pub fn conversation(&self, script: &str) -> Vec<Message> {
        let state = self.state();
        state.conversations.get(script).cloned().unwrap_or_default()
    }

    /// Returns the notes of the executors' hooks, in order: the events that are no tool calls, and no ends of model
    /// calls.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.state().notes.clone()
    }

    /// Waits until the attempts so far contain a value, and returns it.
    ///
    /// # Panics
    ///
    /// If `what` does not happen within [`patience`].
    pub async fn until<T>(&self, what: &str, mut look: impl FnMut(&[Attempt]) -> Option<T>) -> T {
        self.until_state(what, |state| look(&state.attempts)).await
    }

    /// Waits until a hook has noted this: see [`notes`](Self::notes).
    ///
    /// # Panics
    ///
    /// If none has within [`patience`].
    pub async fn until_noted(&self, note: &str) {
        let look = |state: &State| state.notes.iter().any(|noted| noted == note).then_some(());
        self.until_state(note, look).await;
    }

    async fn until_state<T>(&self, what: &str, mut look: impl FnMut(&State) -> Option<T>) -> T {
        let mut changed = self.inner.changed.subscribe();
        let looking = async {
            loop {
                changed.borrow_and_update();
                if let Some(found) = look(&self.state()) {
                    return found;
                }
                changed.changed().await.unwrap();
            }
        };
        match tokio::time::timeout(patience(), looking).await {
            Ok(found) => found,
            Err(_) => panic!("no {what} within {:?}: {:#?}", patience(), self.attempts()),
        }
    }

    /// Returns the definitions of the tools for the model.
    #[must_use]
    pub fn definitions() -> Vec<ToolDefinition> {
        // The definitions need no world.
        let mut definitions = Self::all_definitions();
        let names = TOOLS.map(|(name, _)| name);
        definitions.retain(|tool| names.contains(&tool.name.as_str()));
        definitions
    }

    /// Returns the definition of the tool whose results are delivered later. The tool only keeps its token: see
    /// [`Attempt::token`](crate::Attempt::token).
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn deferred_tool() -> ToolDefinition {
        let mut definitions = Self::all_definitions().into_iter();
        definitions.find(|tool| tool.deferred).unwrap()
    }

    /// Returns the definition of the tool `edit_file`, which is the real one: it edits any file of this machine, and
    /// previews its changes.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn edit_tool() -> ToolDefinition {
        Self::definition_of(EDIT)
    }

    /// Returns the definition of the tool `read_file`, which is the real one: it reads any file of this machine.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn read_tool() -> ToolDefinition {
        Self::definition_of(READ)
    }

    /// Returns the definition of the tool `pay`, a write that knows the outcome of its calls: for one with the argument
    /// `outcome` it answers with that and the call's key.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn knowing_tool() -> ToolDefinition {
        Self::definition_of(KNOWING.0)
    }

    /// Returns the definition of the tool `github__create_issue`, which has a name like those of an MCP server.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn served_tool() -> ToolDefinition {
        Self::definition_of(SERVED.0)
    }

    /// The definition of the tool `read_skill`, which reads the [skill](Self::skill) of the executors.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn skill_tool() -> ToolDefinition {
        Self::definition_of(SKILLS.0)
    }

    /// The skill of the executors.
    ///
    /// # Panics
    ///
    /// If its folder cannot be read.
    #[must_use]
    pub fn skill() -> SkillSpec {
        skills::of_executors().spec().clone()
    }

    /// Returns the tools of the newest model call of this turn of a script.
    #[must_use]
    pub fn sent_tools(&self, script: &str, turn: u32) -> SentTools {
        let sent = self.state().sent.get(&(script.to_owned(), turn)).cloned();
        sent.unwrap_or_default()
    }

    fn definition_of(name: &str) -> ToolDefinition {
        let mut definitions = Self::all_definitions().into_iter();
        definitions.find(|tool| tool.name == name).unwrap()
    }

    fn all_definitions() -> Vec<ToolDefinition> {
        tools::registry(&remote::line_to(SocketAddr::from(([127, 0, 0, 1], 0)))).definitions()
    }

    /// Returns the model, for an executor of your own.
    #[must_use]
    pub fn model(&self) -> ScriptedModel {
        ScriptedModel { line: self.line() }
    }

    /// Returns an executor in this process that acts on this world. Its provider's name is `world`.
    #[must_use]
    pub fn executor(&self) -> Executor {
        acting::executor(&self.line())
    }

    /// Returns the address at which [`executor_at`](crate::executor_at) in another process reaches this world.
    ///
    /// # Panics
    ///
    /// If this process may not listen on its own machine.
    pub async fn address(&self) -> SocketAddr {
        let start = || async {
            let world = Arc::downgrade(&self.inner);
            let line = move || {
                Some(
                    Self {
                        inner: world.upgrade()?,
                    }
                    .line(),
                )
            };
            let (address, task) = remote::serve(line).await;
            Server { address, task }
        };
        self.inner.server.get_or_init(start).await.address
    }

    fn line(&self) -> Line {
        Arc::new(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        let state = self.inner.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer_model(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let name = request.model.clone();
        if judge::is_model(&name) {
            return self.answer_guard(name, request).await;
        }
        let script = {
            let mut state = self.state();
            let messages = abridged(&request.messages);
            state.conversations.insert(name.clone(), messages);
            state.scripts.get(&name).cloned()
        };
        let script = script.ok_or_else(|| {
            let message = format!("the world has no script {name:?}");
            ProviderError::new(FailureKind::ModelNotFound, message)
        })?;
        let turn = script::next_turn(&request.messages);
        let sent = SentTools::of(request);
        let at = (name.clone(), u32::try_from(turn).unwrap());
        self.state().sent.insert(at, sent);
        let under_way = self.begin(Attempt {
            run: name,
            step: StepId::new(u32::try_from(turn).unwrap(), 0),
            what: "model",
            effects: ToolEffects::Idempotent,
            key: None,
            input: Value::Null,
            token: None,
            started: Instant::now(),
            ended: None,
        });
        let _passed = under_way.hold().await;
        let answer = script.complete(request).await;
        under_way.end(answer)
    }

    /// What a model answers that judges.
    async fn answer_guard(
        &self,
        name: String,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let question = judge::Question::of(request);
        let under_way = self.begin(Attempt {
            run: name,
            step: question.step(),
            what: "judge",
            effects: ToolEffects::Idempotent,
            key: None,
            input: Value::Null,
            token: None,
            started: Instant::now(),
            ended: None,
        });
        let _passed = under_way.hold().await;
        under_way.end(Ok(question.answer(request)))
    }

    async fn answer_tool(&self, ask: ToolAsk) -> Result<ToolOutput, ToolFault> {
        let (what, effects) = TOOLS
            .into_iter()
            .chain([DEFERRED, KNOWING, SERVED, SKILLS])
            .find(|(name, _)| *name == ask.tool)
            .expect("a tool of the world");
        let own = format!("{}-", self.inner.name);
        let under_way = self.begin(Attempt {
            run: ask.run_id.strip_prefix(&own).unwrap_or("?").to_owned(),
            step: ask.step,
            what,
            effects,
            key: Some(ask.key),
            input: ask.input.clone(),
            token: ask.token,
            started: Instant::now(),
            ended: None,
        });
        let _passed = under_way.hold().await;
        let mut input: ToolInput = serde_json::from_value(ask.input).expect("checked arguments");
        let failed = under_way.failed_before();
        let answer = if failed < input.fail.len() {
            Err(input.fail.swap_remove(failed))
        } else {
            Ok(input.answer(ask.resumed).await)
        };
        under_way.end(answer)
    }

    fn begin(&self, attempt: Attempt) -> UnderWay<'_> {
        let mut state = self.state();
        let index = state.attempts.len();
        state.attempts.push(attempt);
        drop(state);
        self.inner.changed.send_replace(());
        UnderWay {
            world: self,
            index,
            has_ended: false,
        }
    }
}

impl Reach for World {
    fn ask_model<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionResponse, ProviderError>> {
        Box::pin(self.answer_model(request))
    }

    fn ask_tool(&self, ask: ToolAsk) -> BoxFuture<'_, Result<ToolOutput, ToolFault>> {
        Box::pin(self.answer_tool(ask))
    }

    fn approvers(&self) -> io::Result<Vec<ApproverEntry>> {
        Ok(self.state().approvers.clone())
    }

    fn note(&self, note: String) -> BoxFuture<'_, Result<(), HookError>> {
        self.state().notes.push(note);
        self.inner.changed.send_replace(());
        Box::pin(async { Ok(()) })
    }
}

/// An attempt that has begun. If this is dropped, so is the attempt.
struct UnderWay<'a> {
    world: &'a World,
    index: usize,
    has_ended: bool,
}

impl UnderWay<'_> {
    async fn hold(&self) -> Passed {
        let passed = self.world.inner.turnstile.pass().await;
        let barrier = {
            let mut state = self.world.state();
            let Attempt { run, step, .. } = &state.attempts[self.index];
            let place = Place {
                run: run.clone(),
                step: *step,
            };
            state.gates.remove(&place)
        };
        if let Some(barrier) = barrier {
            barrier.pass().await;
        }
        lags().await;
        passed
    }

    /// Returns how many attempts at the same step have failed.
    fn failed_before(&self) -> usize {
        let state = self.world.state();
        let this = &state.attempts[self.index];
        let same = |other: &&Attempt| other.key == this.key && other.was(Ending::Failed);
        state.attempts.iter().filter(same).count()
    }

    fn end<T, E>(mut self, answer: Result<T, E>) -> Result<T, E> {
        self.set_ended(match &answer {
            Ok(_) => Ending::Answered,
            Err(_) => Ending::Failed,
        });
        answer
    }

    fn set_ended(&mut self, how: Ending) {
        self.has_ended = true;
        self.world.state().attempts[self.index].ended = Some((Instant::now(), how));
        self.world.inner.changed.send_replace(());
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.set_ended(Ending::Dropped);
        }
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("name", &self.inner.name)
            .finish_non_exhaustive()
    }
}
