//! What a run does outside of its loop, and what results from it.

mod first_step;

use serde::{Deserialize, Serialize};

use crate::{
    ActivityOptions, BeginRequest, Begun, ChildRequest, CompletionRequest, CompletionResponse,
    CurrentDefinition, DefinitionRequest, DurableError, GuardOutcome, GuardRequest, OutcomeRequest,
    Preview, PreviewRequest, RunSignal, Spent, StepId, ToolCall, ToolEffects, ToolOutput,
    VerifyOutcome, VerifyRequest,
};

/// One thing that is done outside of the loop, by an executor.
///
/// Doors journal the outcome, and do not distinguish the kinds: a new kind is added here, to what the executor
/// performs, and to what asks for it. So all kinds are listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The model is asked for the conversation's next answer.
    Model(CompletionRequest),
    /// A model is asked by a context strategy, aside from the conversation.
    Summary(CompletionRequest),
    /// A tool is called.
    Tool(ToolCall),
    /// A tool is asked what a call of it would do.
    Preview(PreviewRequest),
    /// A tool is asked what became of a call of it whose outcome is unknown.
    AskOutcome(OutcomeRequest),
    /// Guards look at messages, guards and hooks at a call, or judges at a result.
    Guard(GuardRequest),
    /// A verification of whose a decision is.
    Verify(Box<VerifyRequest>),
    /// The current definition of an agent is looked for.
    Definition(DefinitionRequest),
    /// A run begins: the definition of its agent is looked for, what the run is given is checked, and the session with
    /// which it continues is handed out.
    Begin(Box<BeginRequest>),
    /// Another run is started: a door does it. A run of this id that was started with the same is the one.
    Agent(Box<ChildRequest>),
    /// Another run takes a signal: a door does it. It is made in a run that is cancelled, too.
    Signal(Box<RunSignal>),
}

/// The result of an [`Effect`], of the same kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The answer.
    Model(Box<CompletionResponse>),
    /// The answer.
    Summary(Box<CompletionResponse>),
    /// The tool's result.
    Tool(ToolOutput),
    /// What the call would do; `None` if there is nothing to say beyond its arguments.
    Preview(Option<Preview>),
    /// What became of the call; `None` if the tool does not know it either.
    AskOutcome(Option<ToolOutput>),
    /// What they said.
    Guard(GuardOutcome),
    /// Whose the decision is, or why it is not taken.
    Verify(VerifyOutcome),
    /// The definition, or why there is no definition.
    Definition(CurrentDefinition),
    /// What the run begins with.
    Begin(Box<Begun>),
    /// The run is started, or will be.
    Agent,
    /// The signal is with the run, or will be.
    Signal,
}

/// What kind of [`Effect`] it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectKind {
    /// [`Effect::Model`].
    Model,
    /// [`Effect::Summary`].
    Summary,
    /// [`Effect::Tool`].
    Tool,
    /// [`Effect::Preview`].
    Preview,
    /// [`Effect::AskOutcome`].
    AskOutcome,
    /// [`Effect::Guard`].
    Guard,
    /// [`Effect::Verify`].
    Verify,
    /// [`Effect::Definition`].
    Definition,
    /// [`Effect::Begin`].
    Begin,
    /// [`Effect::Agent`].
    Agent,
    /// [`Effect::Signal`].
    Signal,
}

impl EffectKind {
    /// Its name, as it stands in journals.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Summary => "summary",
            Self::Tool => "tool",
            Self::Preview => "preview",
            Self::AskOutcome => "ask_outcome",
            Self::Guard => "guard",
            Self::Verify => "verify",
            Self::Definition => "definition",
            Self::Begin => "begin",
            Self::Agent => "agent",
            Self::Signal => "signal",
        }
    }
}

/// What a step needs of the executor that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed<'a> {
    /// The provider of this name; the only one there is where `None`.
    Provider(Option<&'a str>),
    /// The tool of this name.
    Tool(&'a str),
    /// The definition of the agent of this name.
    Agent(&'a str),
    /// An executor for the step's agent, and nothing else that is known beforehand.
    Executor,
}

impl Effect {
    /// Returns its kind.
    #[must_use]
    pub const fn kind(&self) -> EffectKind {
        match self {
            Self::Model(_) => EffectKind::Model,
            Self::Summary(_) => EffectKind::Summary,
            Self::Tool(_) => EffectKind::Tool,
            Self::Preview(_) => EffectKind::Preview,
            Self::AskOutcome(_) => EffectKind::AskOutcome,
            Self::Guard(_) => EffectKind::Guard,
            Self::Verify(_) => EffectKind::Verify,
            Self::Definition(_) => EffectKind::Definition,
            Self::Begin(_) => EffectKind::Begin,
            Self::Agent(_) => EffectKind::Agent,
            Self::Signal(_) => EffectKind::Signal,
        }
    }

    /// Returns what it is about: a model, a tool, a ticket or an agent by its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Model(request) | Self::Summary(request) => &request.model,
            Self::Tool(call) => &call.name,
            Self::Preview(request) => &request.name,
            Self::AskOutcome(request) => &request.name,
            Self::Guard(request) => request.name(),
            Self::Verify(request) => &request.ticket,
            Self::Definition(request) => &request.agent,
            Self::Begin(request) => &request.agent,
            Self::Agent(child) => child.request.agent.name(),
            Self::Signal(signal) => &signal.name,
        }
    }

    /// Returns what the step is called where people read it.
    ///
    /// ```
    /// use neuron_types::{Effect, StepId, ToolCall};
    ///
    /// let call = ToolCall::new("call-1", "bash", serde_json::json!({}));
    /// assert_eq!(Effect::Tool(call).label(StepId::new(2, 1)), "bash 2.1");
    /// ```
    #[must_use]
    pub fn label(&self, step: StepId) -> String {
        let StepId { turn, position, .. } = step;
        match self {
            Self::Model(_) | Self::Summary(_) => format!("{} {turn}", self.kind().as_str()),
            Self::Tool(call) => format!("{} {turn}.{position}", call.name),
            Self::Begin(request) => format!("begin {}", request.agent),
            other => format!("{} {} {turn}", other.kind().as_str(), other.name()),
        }
    }

    /// Returns whether a door does it itself, and no executor.
    #[must_use]
    pub const fn is_of_door(&self) -> bool {
        matches!(self, Self::Agent(_) | Self::Signal(_))
    }

    /// Returns whether the effect sends another run a message. Such an effect takes no time, and is also made in a run
    /// that is cancelled or about to be put away: with it a run reports that it has ended.
    #[must_use]
    pub const fn is_signal(&self) -> bool {
        matches!(self, Self::Signal(_))
    }

    /// Returns what an executor must have for it.
    #[must_use]
    pub fn needs(&self) -> Needed<'_> {
        match self {
            Self::Model(request) | Self::Summary(request) => {
                Needed::Provider(request.provider.as_deref())
            }
            Self::Tool(call) => Needed::Tool(&call.name),
            Self::Begin(request) if request.defined.is_none() => Needed::Agent(&request.agent),
            Self::Preview(_)
            | Self::AskOutcome(_)
            | Self::Guard(_)
            | Self::Verify(_)
            | Self::Definition(_)
            | Self::Begin(_)
            | Self::Agent(_)
            | Self::Signal(_) => Needed::Executor,
        }
    }
}

impl Outcome {
    /// Returns its kind.
    #[must_use]
    pub const fn kind(&self) -> EffectKind {
        match self {
            Self::Model(_) => EffectKind::Model,
            Self::Summary(_) => EffectKind::Summary,
            Self::Tool(_) => EffectKind::Tool,
            Self::Preview(_) => EffectKind::Preview,
            Self::AskOutcome(_) => EffectKind::AskOutcome,
            Self::Guard(_) => EffectKind::Guard,
            Self::Verify(_) => EffectKind::Verify,
            Self::Definition(_) => EffectKind::Definition,
            Self::Begin(_) => EffectKind::Begin,
            Self::Agent => EffectKind::Agent,
            Self::Signal => EffectKind::Signal,
        }
    }

    /// Returns the error of a caller who waited for the outcome of another kind.
    #[must_use]
    pub fn unexpected(&self) -> DurableError {
        let kind = self.kind().as_str();
        DurableError::engine(format!(
            "the end of a step of kind {kind} that nobody waits for"
        ))
    }

    /// Returns it with what the attempts used and cost that failed before. Only calls of models use anything.
    #[must_use]
    pub fn with_spent_before(self, spent: Option<Box<Spent>>) -> Self {
        match self {
            Self::Model(response) => Self::Model(Box::new(response.with_spent_before(spent))),
            Self::Summary(response) => Self::Summary(Box::new(response.with_spent_before(spent))),
            Self::Guard(said) => Self::Guard(said.with_spent(spent)),
            other => other,
        }
    }
}

impl From<CompletionResponse> for Outcome {
    fn from(response: CompletionResponse) -> Self {
        Self::Model(Box::new(response))
    }
}

impl From<ToolOutput> for Outcome {
    fn from(output: ToolOutput) -> Self {
        Self::Tool(output)
    }
}

/// An effect at its place in a run: what a door [starts](crate::DurableContext::start).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What is done.
    pub effect: Effect,
    /// How it is done.
    pub options: ActivityOptions,
}

impl Step {
    /// Returns the step that does this so.
    #[must_use]
    pub const fn new(effect: Effect, options: ActivityOptions) -> Self {
        Self { effect, options }
    }

    /// Returns what it is called where people read it: see [`Effect::label`].
    #[must_use]
    pub fn label(&self) -> String {
        self.effect.label(self.options.step)
    }

    /// Returns whether it changes something that must not be changed twice.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.options.effects == ToolEffects::Write
    }
}
