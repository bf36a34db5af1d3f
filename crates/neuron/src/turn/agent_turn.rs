//! The turn that runs the agent loop.

use std::{collections::BTreeMap, fmt, sync::Arc};

use neuron_executor::{EventSink, Executor};
use neuron_local::{LocalDurableContext, MemoryWorkflow};
use neuron_turn::{EffectTool, Recording, StateReader, Turn, TurnError, TurnInput, TurnOutput};
use neuron_types::{
    AgentSpec, Conversation, DurableContext as _, DurableError, RunId, RunRequest, RunStart,
    ToolDyn, WasmBoxedFuture,
};
use neuron_workflows::agent_loop;

use super::watching::Watching;
use crate::agent::{Agent, Parts};

/// The workflow of the runs below a turn: they run as agents.
const BELOW: MemoryWorkflow = |door, start| Box::pin(neuron_workflows::agent(door, start));

/// A [`Turn`] that runs the agent loop in this process, and keeps nothing.
///
/// The agent provides its model, instructions, tools, hooks, limits and rules for the context; the turn adds the
/// [effect tools](EffectTool). Turns may run at the same time: each has its own run.
#[derive(Clone)]
pub struct AgentTurn {
    agent: Arc<Parts>,
    effect_tools: Vec<EffectTool>,
    state: Option<Arc<dyn StateReader>>,
    sink: Option<Arc<dyn EventSink>>,
}

impl AgentTurn {
    /// Returns the turn of this agent, with all effect tools.
    #[must_use]
    pub fn new<I: ?Sized, O>(agent: &Agent<I, O>) -> Self {
        Self {
            agent: Arc::clone(agent.parts()),
            effect_tools: EffectTool::ALL.to_vec(),
            state: None,
            sink: None,
        }
    }

    /// Sets the source of sessions. Default is no source: an input that names a session is an error.
    #[must_use]
    pub fn state(mut self, reader: Arc<dyn StateReader>) -> Self {
        self.state = Some(reader);
        self
    }

    /// Sets the effects that the model may ask for. Default is all. A tool of the agent with the name of an effect is
    /// replaced.
    #[must_use]
    pub fn effect_tools(mut self, tools: impl IntoIterator<Item = EffectTool>) -> Self {
        self.effect_tools = tools.into_iter().collect();
        self
    }

    /// Sets the sink of what happens while it happens: events, and the answer as it arrives if the sink
    /// [wants](EventSink::wants_tokens) that. Default is no sink.
    #[must_use]
    pub fn sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sink = Some(sink);
        self
    }

    async fn history(&self, input: &TurnInput) -> Result<Conversation, TurnError> {
        let Some(session) = &input.session else {
            return Ok(Conversation::default());
        };
        let state = self.state.as_ref().ok_or_else(|| TurnError::NoState {
            session: session.clone(),
        })?;
        let history = state.history(session).await;
        history.map_err(|source| TurnError::State {
            session: session.clone(),
            source,
        })
    }

    /// Returns the agent's definition for this input, with the effect tools.
    fn spec(&self, input: &TurnInput) -> AgentSpec {
        let mut spec = self.agent.spec.clone();
        let tools = &mut spec.head_mut().tools;
        let own = std::mem::take(tools).into_iter();
        let named = own.map(|tool| (tool.name.clone(), tool));
        let effects = self.effect_tools.iter().map(ToolDyn::definition);
        let effects = effects.map(|tool| (tool.name.clone(), tool));
        // Tools of the same name are one tool, and they are ordered by name, as with any agent.
        let all: BTreeMap<_, _> = named.chain(effects).collect();
        *tools = all.into_values().collect();
        input.agent(&spec)
    }

    /// Returns the executor of a turn with this definition.
    fn executor(&self, spec: &AgentSpec) -> Executor {
        let mut tools = self.agent.executor.tools().clone();
        for tool in &self.effect_tools {
            tools.register_dyn(Arc::new(*tool));
        }
        let executor = self.agent.executor.to_builder().tools(tools).build();
        let executor = match self.agent.served_below() {
            Some((_, executors)) => executor.beside(executors),
            None => executor,
        };
        executor.with_definitions([spec.clone()])
    }

    async fn run(&self, input: TurnInput) -> Result<TurnOutput, TurnError> {
        let spec = self.spec(&input);
        let name = spec.name.clone();
        if self.agent.may_wait_for_a_person() {
            return Err(TurnError::NobodyToAsk { asked: name });
        }
        let run_id = RunId::new(uuid::Uuid::now_v7().to_string()).map_err(DurableError::engine)?;
        let mut request = RunRequest::new(name.as_str(), input.message.clone());
        request.preamble = self.history(&input).await?;
        let executor = self.executor(&spec);
        let start = RunStart::Request {
            request: Box::new(request),
            directory: executor.cwd().to_str().map(ToOwned::to_owned),
        };
        let mut door = LocalDurableContext::new(executor, run_id.clone());
        if let Some((_, executors)) = self.agent.served_below() {
            door = door.with_executors(executors);
        }
        let sink = self.sink.clone();
        let watching = Arc::new(Watching::new(sink, door.handle(), &run_id, &name));
        let door = door.with_sink(Arc::clone(&watching) as _);
        let recording = Recording::new(&door);
        let run = async { agent_loop(&recording, start).await?.run().await };
        let output = door.execute_by(&name, BELOW, run).await?;
        if let Some(asked) = watching.asked() {
            return Err(TurnError::NobodyToAsk { asked });
        }
        recording.record().into_output(output, door.now())
    }
}

impl Turn for AgentTurn {
    fn execute(&self, input: TurnInput) -> WasmBoxedFuture<'_, Result<TurnOutput, TurnError>> {
        Box::pin(self.run(input))
    }
}

impl fmt::Debug for AgentTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTurn")
            .field("agent", &self.agent.spec.name)
            .field("effect_tools", &self.effect_tools)
            .finish_non_exhaustive()
    }
}
