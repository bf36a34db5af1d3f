//! The step by which a run begins.

use std::borrow::Cow;

use crate::{ActivityOptions, AgentRef, BeginRequest, DefinedByCaller, Effect, RunRequest, Step};

impl RunRequest {
    /// Returns the step by which a run begins that was started with this.
    #[must_use]
    pub fn first_step(&self) -> Step {
        let defined = match &self.agent {
            AgentRef::Name(_) => None,
            AgentRef::Definition(definition) => Some(DefinedByCaller {
                input: definition.input.clone(),
            }),
        };
        let asked = BeginRequest {
            agent: self.agent.name().to_owned(),
            defined,
            models: self.models(),
            given: self.prompt.text(),
            session: self.session.clone(),
        };
        let mut options = ActivityOptions::of_beginning(&self.tags);
        options.root = self.parent.as_ref().map(|parent| parent.root.clone());
        if self.session.is_some() {
            // The run before has to be looked at.
            options.start_to_close_timeout = ActivityOptions::TAKING_A_SESSION;
        }
        Step::new(Effect::Begin(Box::new(asked)), options)
    }

    /// The models that it says itself the run calls.
    fn models(&self) -> Vec<String> {
        let defined = match &self.agent {
            AgentRef::Name(_) => None,
            AgentRef::Definition(definition) => Some(definition.head.models()),
        };
        let defined = defined.into_iter().flatten().map(Cow::into_owned);
        defined.chain(self.overrides.model.clone()).collect()
    }
}
