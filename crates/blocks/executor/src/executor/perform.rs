//! Whatever a run has done: one door for all kinds of effects.

use std::{pin::Pin, time::Duration};

use neuron_types::{Effect, FailureKind, Outcome, StepFailure};
use tracing::{Instrument as _, field::Empty};

use super::{Executor, Inner, attempt::Attempt, judges::Judges, record_failure, step_span, verify};
use crate::{StepScope, watch::attempt_trace::AttemptTrace};

impl Executor {
    /// Does what a run asks for: one attempt. The outcome is of the effect's kind.
    ///
    /// # Errors
    ///
    /// Those of [`call_model`](Self::call_model) and [`call_tool`](Self::call_tool) for these; `no_worker` where this
    /// worker lacks the step's agent or one of its guards, its definition where a run begins, a tool that is asked for
    /// an outcome, or a verifier for a signed decision; `timeout` or `cancelled` where the scope ended it.
    pub async fn perform(
        &self,
        scope: &StepScope,
        effect: &Effect,
    ) -> Result<Outcome, StepFailure> {
        match effect {
            Effect::Model(request) => {
                let response = self.call_model(scope, request).await?;
                Ok(Outcome::Model(Box::new(response)))
            }
            Effect::Summary(request) => {
                let response = self.call_model(scope, request).await?;
                Ok(Outcome::Summary(Box::new(response)))
            }
            Effect::Tool(call) => Ok(Outcome::Tool(self.call_tool(scope, call).await?)),
            Effect::Preview(asked) => {
                let preview = async |executor: Self| executor.preview(scope, asked).await;
                let found = self.find_out(scope, effect, preview).await;
                found.map(Outcome::Preview)
            }
            Effect::AskOutcome(asked) => {
                let ask = async |executor: Self| executor.ask_outcome(scope, asked).await;
                let found = self.find_out(scope, effect, ask).await;
                found.map(Outcome::AskOutcome)
            }
            Effect::Guard(asked) => {
                let look = async |executor: Self| {
                    let Inner { guards, hooks, .. } = executor.inner.as_ref();
                    guards.check(&scope.guards)?;
                    let attempt = Attempt::start(scope, Duration::MAX);
                    let mut judges = Judges::new(&executor, scope, asked.judges());
                    let looked = attempt.part(guards.answer(hooks, asked, &mut judges)).await;
                    let looked = looked.map_err(|cut| cut.into_failure("the guards"));
                    let spent = judges.into_spent();
                    match looked.and_then(|looked| looked) {
                        Ok(said) => Ok(said.with_spent(spent)),
                        Err(failure) => Err(failure.with_spent(spent)),
                    }
                };
                let found = self.find_out(scope, effect, look).await;
                found.map(Outcome::Guard)
            }
            Effect::Verify(request) => {
                // No hook sees it: the decision may carry a token.
                let judge = async |executor: Self| {
                    let (verifier, place) = (executor.verifier(), executor.place.as_deref());
                    verify::judge(verifier.as_deref(), place, request)
                };
                let found = self.find_out(scope, effect, judge).await;
                found.map(Outcome::Verify)
            }
            Effect::Definition(asked) => {
                let find = async |executor: Self| Ok(executor.current_definition(&asked.agent));
                let found = self.find_out(scope, effect, find).await;
                found.map(Outcome::Definition)
            }
            Effect::Agent(_) | Effect::Signal(_) => {
                let message = "this is done by the door of a run, and this door does not";
                Err(StepFailure::new(FailureKind::Internal, message))
            }
            Effect::Begin(asked) => {
                let begin = async |executor: Self| executor.begun(scope, asked).await;
                let found = self.find_out(scope, effect, begin).await;
                found.map(|begun| Outcome::Begin(Box::new(begun)))
            }
        }
    }

    /// Does what calls no tool, and no model but those of judges, as the executor of the step's agent does it. It is boxed,
    /// since it is rare: the future of each step would have room for it.
    fn find_out<T>(
        &self,
        scope: &StepScope,
        effect: &Effect,
        find: impl AsyncFnOnce(Self) -> Result<T, StepFailure>,
    ) -> Pin<Box<impl Future<Output = Result<T, StepFailure>>>> {
        Box::pin(async move {
            let executor = self.of_step(scope.agent.as_deref())?;
            let trace = AttemptTrace::of(scope);
            let (kind, name) = (effect.kind().as_str(), effect.name());
            let span = step_span!(
                executor,
                scope,
                trace,
                "step",
                otel.name = format!("{kind} {name}"),
                position = scope.step.position,
                kind,
                name,
                error.r#type = Empty,
            );
            let result = find(executor).instrument(span.clone()).await;
            if let Err(failure) = &result {
                record_failure(&span, failure);
            }
            result
        })
    }
}
