//! Reminders, so that a model does not drift off in a long run.

use std::{fmt, sync::Arc};

use neuron_types::{
    ContextError, ContextPolicy, ContextStrategy, Message, ModelHandle, Reminder, ReminderTrigger,
    RunState,
};

/// Reminds the model of something when a rule is due.
///
/// Before each model call the loop evaluates the rules, and adds the reminders that are due as the newest message, in
/// `<system-reminder>` tags. A reminder is part of the conversation from then on; like the rest of the conversation, it
/// may be compacted away. While a model continues its own answer, no reminder is added.
///
/// Whether a rule is due depends on the run's state alone, so a replay and a roll-over remind as the run did.
///
/// ```
/// use neuron_context::{InjectionRule, InjectionTrigger, SlidingWindow, SystemInjector};
/// use neuron_types::{ContextStrategy, Message, RunInput, RunState};
///
/// let injector = SystemInjector::new()
///     .rule(InjectionRule::new(InjectionTrigger::EveryNTurns(5), "Keep to the plan."))
///     .rule(InjectionRule::new(InjectionTrigger::EveryNToolCalls(20), "Are you getting closer?"))
///     .rule(InjectionRule::new(InjectionTrigger::OnTokenThreshold(80_000), "Be brief from now on."))
///     .rule(InjectionRule::from_state(
///         InjectionTrigger::custom(|state: &RunState| state.turn == 40),
///         |state| format!("{} tool calls so far: come to an end.", state.tool_calls),
///     ));
/// let strategy = injector.over(SlidingWindow::new(50));
///
/// // The loop asks before each model call. Here is a run after 5 turns, and after 39 with 21 tool calls.
/// # let input = RunInput::new(Default::default(), Message::user("Go."));
/// # let mut state = RunState::from(neuron_loop::AgentMachine::new(input, Default::default()));
/// assert!(strategy.remind(&state).is_empty());
/// state.turn = 5;
/// assert_eq!(strategy.remind(&state), ["Keep to the plan."]);
/// state.context.reminded.turns = 39;
/// state.context.reminded.tool_calls = 21;
/// (state.turn, state.tool_calls, state.context.tokens) = (39, 21, 80_000);
/// assert_eq!(strategy.remind(&state), ["Be brief from now on."]);
/// state.context.reminded.tokens = 80_000;
/// (state.turn, state.tool_calls) = (40, 40);
/// assert_eq!(
///     strategy.remind(&state),
///     ["Keep to the plan.", "Are you getting closer?", "40 tool calls so far: come to an end."],
/// );
/// ```
#[derive(Debug, Clone, Default)]
pub struct SystemInjector {
    rules: Vec<InjectionRule>,
}

/// One rule of a [`SystemInjector`].
#[derive(Clone)]
pub struct InjectionRule {
    trigger: InjectionTrigger,
    content: Arc<dyn Fn(&RunState) -> String + Send + Sync>,
}

/// When an [`InjectionRule`] is due.
#[derive(Clone)]
#[non_exhaustive]
pub enum InjectionTrigger {
    /// After every such number of tool calls, before the next model call; never with 0.
    EveryNToolCalls(u32),
    /// After every such number of turns; never with 0.
    EveryNTurns(u32),
    /// When the request reaches this size in tokens, and again when it does so after it was smaller.
    OnTokenThreshold(u64),
    /// Due when this function returns `true` for the run. The function must be pure: a replay calls it again.
    Custom(Arc<dyn Fn(&RunState) -> bool + Send + Sync>),
}

impl InjectionTrigger {
    /// Returns a reminder that is due when this function returns `true` for the run, which is about to make the model
    /// call of `turn`. The function must be pure: a replay calls it again.
    #[must_use]
    pub fn custom(is_due: impl Fn(&RunState) -> bool + Send + Sync + 'static) -> Self {
        Self::Custom(Arc::new(is_due))
    }

    fn is_due(&self, state: &RunState) -> bool {
        let trigger = match self {
            Self::Custom(is_due) => return is_due(state),
            Self::EveryNToolCalls(every) => ReminderTrigger::EveryToolCalls(*every),
            Self::EveryNTurns(every) => ReminderTrigger::EveryTurns(*every),
            Self::OnTokenThreshold(tokens) => ReminderTrigger::AtTokens(*tokens),
        };
        trigger.is_due(&state.context.reminded, &state.milestone())
    }
}

impl fmt::Debug for InjectionTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EveryNToolCalls(every) => f.debug_tuple("EveryNToolCalls").field(every).finish(),
            Self::EveryNTurns(every) => f.debug_tuple("EveryNTurns").field(every).finish(),
            Self::OnTokenThreshold(tokens) => {
                f.debug_tuple("OnTokenThreshold").field(tokens).finish()
            }
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

impl InjectionRule {
    /// Says this.
    #[must_use]
    pub fn new(trigger: InjectionTrigger, text: impl Into<String>) -> Self {
        let text = text.into();
        Self::from_state(trigger, move |_state| text.clone())
    }

    /// Says what this makes of the run. It must be pure: it is asked again on a replay.
    #[must_use]
    pub fn from_state(
        trigger: InjectionTrigger,
        content: impl Fn(&RunState) -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            trigger,
            content: Arc::new(content),
        }
    }
}

impl fmt::Debug for InjectionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InjectionRule")
            .field("trigger", &self.trigger)
            .finish_non_exhaustive()
    }
}

impl From<Reminder> for InjectionRule {
    /// A rule as an agent file has it. One with a trigger that this build does not know is never due.
    fn from(Reminder { text, when }: Reminder) -> Self {
        let trigger = InjectionTrigger::custom(move |state| {
            when.is_due(&state.context.reminded, &state.milestone())
        });
        Self::new(trigger, text)
    }
}

impl SystemInjector {
    /// No rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule. What several rules say at once is said in their order, a message each.
    #[must_use]
    pub fn rule(mut self, rule: InjectionRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Returns the reminders that are due in a run that is about to call the model.
    #[must_use]
    pub fn due(&self, state: &RunState) -> Vec<String> {
        let due = self.rules.iter().filter(|rule| rule.trigger.is_due(state));
        due.map(|rule| (rule.content)(state)).collect()
    }

    /// The strategy with these reminders beside its own.
    #[must_use]
    pub const fn over<C: ContextStrategy>(self, strategy: C) -> Injected<C> {
        Injected {
            strategy,
            injector: self,
        }
    }
}

/// A strategy with reminders. Created with [`SystemInjector::over`].
#[derive(Debug, Clone)]
pub struct Injected<C> {
    strategy: C,
    injector: SystemInjector,
}

impl<C: ContextStrategy> ContextStrategy for Injected<C> {
    fn should_compact(&self, messages: &[Message], token_count: u64) -> bool {
        self.strategy.should_compact(messages, token_count)
    }

    async fn compact<M: ModelHandle>(
        &self,
        messages: Vec<Message>,
        model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        self.strategy.compact(messages, model).await
    }

    fn token_estimate(&self, messages: &[Message]) -> u64 {
        self.strategy.token_estimate(messages)
    }

    fn adopt(&mut self, policy: &ContextPolicy) {
        self.strategy.adopt(policy);
    }

    fn remind(&self, state: &RunState) -> Vec<String> {
        let mut texts = self.strategy.remind(state);
        texts.extend(self.injector.due(state));
        texts
    }
}
