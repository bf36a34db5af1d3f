//! Asking the models that judge for guards.

use std::time::Duration;

use futures::future::BoxFuture;
use neuron_types::{
    CompletionRequest, CompletionResponse, FailureKind, Guard, GuardSubject, GuardVerdict, Judge,
    JudgeCall, JudgeSpec, Spent, StepFailure, with_causes,
};

use crate::StepScope;

/// What makes the calls of judges' models.
pub(crate) trait AskModel: Sync {
    /// Asks a model: one attempt, whose request waits for its turn for `longest_turn` at most.
    fn ask_judge<'a>(
        &'a self,
        scope: &'a StepScope,
        request: &'a CompletionRequest,
        longest_turn: Duration,
    ) -> BoxFuture<'a, Result<CompletionResponse, StepFailure>>;
}

/// The judges of a step of guards, and what their models used.
pub(crate) struct Judges<'a> {
    models: &'a dyn AskModel,
    scope: &'a StepScope,
    /// Those that may ask, each with what it may still ask.
    calls: Vec<JudgeCall>,
    spent: Option<Box<Spent>>,
    /// A model was silent.
    has_lost: bool,
}

impl<'a> Judges<'a> {
    pub(crate) fn new(models: &'a dyn AskModel, scope: &'a StepScope, calls: &[JudgeCall]) -> Self {
        Self {
            models,
            scope,
            calls: calls.to_vec(),
            spent: None,
            has_lost: false,
        }
    }

    /// Returns what the models used and cost.
    pub(crate) fn into_spent(self) -> Option<Box<Spent>> {
        self.spent
    }

    fn spend(&mut self, spent: Option<Box<Spent>>) {
        self.spent = Spent::sum(self.spent.take(), spent);
    }

    /// Notes that a model was silent, and that its usage is unknown. What is put aside for an attempt is for all that
    /// it asks: it is charged once.
    fn lose(&mut self) {
        if !std::mem::replace(&mut self.has_lost, true) {
            self.spend(Spent::of_lost(1));
        }
    }

    /// Asks a judge's model. What the run has put nothing aside for is blocked, and no model is asked.
    ///
    /// # Errors
    ///
    /// What may differ with another attempt, on another worker, or belongs to the step and not to the judge.
    pub(crate) async fn ask(
        &mut self,
        guard: &dyn Guard,
        judge: &dyn Judge,
        subject: GuardSubject<'_>,
    ) -> Result<GuardVerdict, StepFailure> {
        // The judge has nothing to ask about this, as about calls of tools that are not its own: nothing was put aside
        // for it either.
        let Some(mut request) = judge.question(subject) else {
            return Ok(GuardVerdict::Pass);
        };
        let name = guard.name();
        let mut calls = self.calls.iter_mut();
        let Some(call) = calls.find(|call| call.guard == name) else {
            // The judge looks where the run's definition names it.
            return Ok(match self.scope.guards.iter().any(|named| named == name) {
                true => not_asked(name, "the run's definition has it ask no model about this"),
                false => GuardVerdict::Pass,
            });
        };
        let size = JudgeSpec::size_of(&request);
        if let Some(left) = call.max_input {
            let Some(rest) = left.checked_sub(size) else {
                return Ok(not_asked(
                    name,
                    "the run's budget has no room for its model",
                ));
            };
            call.max_input = Some(rest);
        }
        let (provider, model) = match call.model.split_once('/') {
            Some((provider, model)) => (Some(provider.to_owned()), model),
            None => (None, call.model.as_str()),
        };
        let head = request.head_mut();
        head.provider = provider;
        model.clone_into(&mut head.model);
        head.max_tokens = Some(call.max_tokens);
        let longest = guard.timeout();
        let asked = self.models.ask_judge(self.scope, &request, longest / 2);
        let why = match tokio::time::timeout(longest, asked).await {
            Ok(Ok(mut response)) => {
                let spent = Spent::new(response.usage.clone(), response.cost_usd);
                self.spend(response.spent_before.take());
                self.spend(Some(Box::new(spent)));
                match judge.verdict(&response) {
                    Ok(verdict) => return Ok(verdict),
                    Err(error) => with_causes(&error),
                }
            }
            Ok(Err(mut failure)) => {
                self.spend(failure.spent.take());
                if failure.kind == FailureKind::Timeout {
                    // Its agent may give it less time than its guard does.
                    self.lose();
                } else if is_of_step(&failure) {
                    return Err(failure);
                }
                failure.to_string()
            }
            Err(_) => {
                self.lose();
                silent(longest)
            }
        };
        Ok(guard.on_failure(failed(guard, &why)))
    }
}

fn silent(longest: Duration) -> String {
    format!("its model said nothing within {longest:?}")
}

/// Returns the verdict on something that no model was asked about. It never passes.
fn not_asked(guard: &str, why: &str) -> GuardVerdict {
    GuardVerdict::Block {
        reason: format!("the guard {guard} was not asked: {why}"),
    }
}

/// Returns whether a failure says nothing about what is judged: another attempt may help, or the step is over.
fn is_of_step(failure: &StepFailure) -> bool {
    failure.retryable
        || matches!(
            failure.kind,
            FailureKind::NoWorker
                | FailureKind::Cancelled
                | FailureKind::Terminated
                | FailureKind::Guardrail
        )
}

/// Returns why something is withheld that a guard could not say anything about.
pub(super) fn failed(guard: &dyn Guard, why: &str) -> String {
    format!("the guard {} failed: {why}", guard.name())
}
