//! Asking guards, in the order of their registration.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt as _;
use neuron_types::{
    CompletionResponse, ContentItem, FailureKind, Guard, GuardEnd, GuardOutcome, GuardPoint,
    GuardRequest, GuardSubject, GuardVerdict, Guarded, StepFailure, ToolCall, ToolOutput,
    with_causes, withheld,
};
use serde_json::Value;
use tracing::{Instrument as _, Span, field::Empty, info_span};

use super::{
    answer_form,
    attempt::panic_text,
    hooks::{Hooks, ToolVerdict},
    judges::{Judges, failed},
};
use crate::watch::measured;

/// The name under which hooks stand beside guards.
const HOOKS: &str = "hook";

/// The guards of an executor.
#[derive(Clone, Default)]
pub(crate) struct Guards(pub(crate) Vec<Arc<dyn Guard>>);

impl Guards {
    /// Returns whether any guard looks here.
    pub(crate) fn look_at(&self, point: GuardPoint) -> bool {
        self.0.iter().any(|guard| guard.looks_at(point))
    }

    /// Checks that all of these are here.
    pub(crate) fn check(&self, names: &[String]) -> Result<(), StepFailure> {
        let is_here = |name: &&String| self.0.iter().any(|guard| guard.name() == name.as_str());
        let Some(missing) = names.iter().find(|name| !is_here(name)) else {
            return Ok(());
        };
        let message = format!("the guard {missing:?} of the run's agent is not here");
        Err(StepFailure::new(FailureKind::NoWorker, message))
    }

    /// Does what a run asks of guards in a step of its own.
    pub(crate) async fn answer(
        &self,
        hooks: &Hooks,
        request: &GuardRequest,
        judges: &mut Judges<'_>,
    ) -> Result<GuardOutcome, StepFailure> {
        match request {
            GuardRequest::Input { texts, .. } => {
                let mut all = Vec::with_capacity(texts.len());
                for text in texts {
                    let subject = GuardSubject::new(GuardPoint::Input, text);
                    all.push(self.look(subject, Some(judges)).await?);
                }
                Ok(GuardOutcome::Input(all))
            }
            GuardRequest::Call {
                call, hooks: asked, ..
            } => {
                let before = match asked {
                    true => Self::of_hooks(hooks, call).await?,
                    false => Guarded::default(),
                };
                if !before.end.is_pass() {
                    return Ok(GuardOutcome::Call(before));
                }
                let changed = before.replaced.as_deref();
                let changed = changed.and_then(|text| serde_json::from_str(text).ok());
                let input = changed.as_ref().unwrap_or(&call.input);
                let said = self.call(&call.name, input, Some(judges)).await?;
                Ok(GuardOutcome::Call(before.and_then(said)))
            }
            GuardRequest::Result { tool, texts, .. } => {
                let mut all = Vec::with_capacity(texts.len());
                for text in texts {
                    let subject = GuardSubject::new(GuardPoint::Result, text).of_tool(tool);
                    all.push(self.look(subject, Some(judges)).await?);
                }
                Ok(GuardOutcome::Result(all))
            }
            GuardRequest::Output { text, form, .. } => {
                let subject = GuardSubject::new(GuardPoint::Output, text);
                let mut said = self.look(subject, Some(judges)).await?;
                let replaced = said.replaced.as_deref().zip(form.as_deref());
                said.mismatch = replaced.and_then(|(text, form)| answer_form::misfit(form, text));
                Ok(GuardOutcome::Output(said))
            }
        }
    }

    /// Returns what hooks decide about a call.
    async fn of_hooks(hooks: &Hooks, call: &ToolCall) -> Result<Guarded, StepFailure> {
        let mut guarded = Guarded::default();
        match hooks.before_tool(&call.name, &call.input).await? {
            ToolVerdict::Call(None) => {}
            ToolVerdict::Call(Some(input)) => guarded.take(
                HOOKS,
                GuardVerdict::Replace {
                    with: input.to_string(),
                    reason: "a hook changed the arguments".to_owned(),
                },
            ),
            ToolVerdict::Skip(reason) => guarded.take(HOOKS, GuardVerdict::Block { reason }),
        }
        Ok(guarded)
    }

    /// Returns what the guards say of the call of a tool. What takes the place of its arguments is a JSON object.
    /// Without `judges` no model is asked: they have been, in the step before.
    pub(crate) async fn call(
        &self,
        tool: &str,
        input: &Value,
        mut judges: Option<&mut Judges<'_>>,
    ) -> Result<Guarded, StepFailure> {
        let mut guarded = Guarded::default();
        let mut input = input.clone();
        for guard in self.at(GuardPoint::Call) {
            let text = input.to_string();
            let subject = GuardSubject::new(GuardPoint::Call, &text);
            let subject = subject.of_tool(tool).with_input(&input);
            if guard.judge().is_some() && judges.is_none() {
                continue;
            }
            let mut verdict = verdict(guard, subject, &guarded, judges.as_deref_mut()).await?;
            if let GuardVerdict::Replace { with, .. } = &verdict {
                match serde_json::from_str::<Value>(with) {
                    Ok(changed @ Value::Object(_)) => input = changed,
                    _ => {
                        let reason =
                            "it put something in the place of the arguments that is no JSON object";
                        verdict = guard.on_failure(failed(guard, reason));
                    }
                }
            }
            guarded.take(guard.name(), verdict);
        }
        Ok(guarded)
    }

    /// Returns what the guards say of a text. Of a result or an answer, those that have models asked look in a step of their
    /// own, which has `judges`, and the others in the step of the call or of the model.
    async fn look(
        &self,
        subject: GuardSubject<'_>,
        mut judges: Option<&mut Judges<'_>>,
    ) -> Result<Guarded, StepFailure> {
        let mut guarded = Guarded::default();
        for guard in self.at(subject.point) {
            let left = guarded.replaced.clone();
            let text = left.as_deref().unwrap_or(subject.text);
            let subject = subject.of_text(text);
            if matches!(subject.point, GuardPoint::Result | GuardPoint::Output) {
                match (guard.judge(), &judges) {
                    (Some(judge), None) => {
                        // One that asks nothing about this has nothing to say later either.
                        if judge.question(subject).is_some() {
                            guarded.defer(guard.name());
                        }
                        continue;
                    }
                    (None, Some(_)) => continue,
                    (Some(_), Some(_)) | (None, None) => {}
                }
            }
            let verdict = verdict(guard, subject, &guarded, judges.as_deref_mut()).await?;
            guarded.take(guard.name(), verdict);
        }
        Ok(guarded)
    }

    fn at(&self, point: GuardPoint) -> impl Iterator<Item = &dyn Guard> {
        let guards = self.0.iter().map(AsRef::as_ref);
        guards.filter(move |guard: &&dyn Guard| guard.looks_at(point))
    }

    /// Asks the guards about a result, if any [looks at](Self::look_at) results, and leaves of it what they pass on.
    pub(super) async fn guard_result(
        &self,
        tool: &str,
        mut output: ToolOutput,
    ) -> Result<ToolOutput, StepFailure> {
        if output.pending.is_some() {
            return Ok(output);
        }
        let mut all = Guarded::default();
        for item in &mut output.content {
            let ContentItem::Text(text) = item else {
                continue;
            };
            let subject = GuardSubject::new(GuardPoint::Result, text).of_tool(tool);
            let said = self.look(subject, None).await?;
            if let Some(with) = &said.replaced {
                text.clone_from(with);
            }
            all = all.and_then(said);
        }
        if let Some(structured) = &output.structured_content {
            let text = structured.to_string();
            let subject = GuardSubject::new(GuardPoint::Result, &text).of_tool(tool);
            all = all.and_then(self.look(subject, None).await?);
        }
        if let Some(failure) = all.tripped() {
            return Err(failure);
        }
        if all.replaced.take().is_some() || !all.end.is_pass() {
            // What is for programs is not repaired.
            output.structured_content = None;
        }
        if let GuardEnd::Block(reason) = &all.end {
            output = ToolOutput::error(withheld(reason));
        }
        output.guarded = all.into_box();
        Ok(output)
    }

    /// Asks the guards about the text of an answer, if any [looks at](Self::look_at) answers, and leaves of it what they
    /// pass on.
    pub(crate) async fn guard_answer(
        &self,
        response: &mut CompletionResponse,
    ) -> Result<(), StepFailure> {
        let text = response.message.text();
        if text.is_empty() {
            return Ok(());
        }
        let subject = GuardSubject::new(GuardPoint::Output, &text);
        let said = self.look(subject, None).await?;
        if let Some(failure) = said.tripped() {
            return Err(failure);
        }
        response.take_guarded(said);
        Ok(())
    }
}

/// Returns one guard's verdict, or that of the model that it has asked. What is blocked already is shown to no model.
async fn verdict(
    guard: &dyn Guard,
    subject: GuardSubject<'_>,
    before: &Guarded,
    judges: Option<&mut Judges<'_>>,
) -> Result<GuardVerdict, StepFailure> {
    let (Some(judge), Some(judges)) = (guard.judge(), judges) else {
        return Ok(ask(guard, subject).await);
    };
    if matches!(before.end, GuardEnd::Block(_) | GuardEnd::Trip(_)) {
        return Ok(GuardVerdict::Pass);
    }
    let span = span_of(guard, subject.point);
    let asked = judges.ask(guard, judge, subject);
    let verdict = asked.instrument(span.clone()).await?;
    spoke(guard, subject.point, &span, &verdict);
    Ok(verdict)
}

fn span_of(guard: &dyn Guard, point: GuardPoint) -> Span {
    info_span!(
        "guardrail_check",
        otel.name = format!("guardrail_check {}", guard.name()),
        guardrail_name = guard.name(),
        point = point.as_str(),
        result = Empty,
    )
}

/// Returns one guard's verdict. If the guard fails in any way, the verdict is what the guard declares for its failures.
async fn ask(guard: &dyn Guard, subject: GuardSubject<'_>) -> GuardVerdict {
    let span = span_of(guard, subject.point);
    let checked = AssertUnwindSafe(async { guard.check(subject).await }).catch_unwind();
    let timeout = guard.timeout();
    let answer = tokio::time::timeout(timeout, checked.instrument(span.clone())).await;
    let verdict = match answer {
        Ok(Ok(Ok(verdict))) => verdict,
        Ok(Ok(Err(error))) => guard.on_failure(failed(guard, &with_causes(&error))),
        Ok(Err(panic)) => {
            let what = format!("it panicked: {}", panic_text(panic.as_ref()));
            guard.on_failure(failed(guard, &what))
        }
        Err(_) => guard.on_failure(failed(
            guard,
            &format!("it said nothing within {timeout:?}"),
        )),
    };
    spoke(guard, subject.point, &span, &verdict);
    verdict
}

fn spoke(guard: &dyn Guard, point: GuardPoint, span: &Span, verdict: &GuardVerdict) {
    span.record("result", verdict.as_str());
    measured::guard(guard.name(), point.as_str(), verdict.as_str());
}
