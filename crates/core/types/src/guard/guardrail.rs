//! Guards of one text: the short forms of what looks at prompts or at answers alone.

use crate::{
    Guard, GuardError, GuardPoint, GuardSubject, GuardVerdict, WasmBoxedFuture, WasmCompatSend,
    WasmCompatSync,
};

/// What a guardrail says of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardrailResult {
    /// Nothing is wrong.
    Pass,
    /// The run ends, for this reason.
    Tripwire(String),
    /// It passes, with an event that holds this text.
    Warn(String),
}

impl From<GuardrailResult> for GuardVerdict {
    fn from(result: GuardrailResult) -> Self {
        match result {
            GuardrailResult::Pass => Self::Pass,
            GuardrailResult::Tripwire(reason) => Self::Trip { reason },
            GuardrailResult::Warn(reason) => Self::Warn { reason },
        }
    }
}

/// Looks at the prompt and the messages of a run.
pub trait InputGuardrail: WasmCompatSend + WasmCompatSync {
    /// Looks at the text of one message.
    fn check(&self, input: &str) -> impl Future<Output = GuardrailResult> + WasmCompatSend;
}

/// Looks at the answers of a run's model.
pub trait OutputGuardrail: WasmCompatSend + WasmCompatSync {
    /// Looks at the text of one answer.
    fn check(&self, output: &str) -> impl Future<Output = GuardrailResult> + WasmCompatSend;
}

/// An [`InputGuardrail`] as a [`Guard`].
#[derive(Debug, Clone)]
pub struct InputGuard<G>(String, G);

impl<G> InputGuard<G> {
    /// Returns the guardrail as a guard of this name.
    #[must_use]
    pub fn new(name: impl Into<String>, guardrail: G) -> Self {
        Self(name.into(), guardrail)
    }
}

/// An [`OutputGuardrail`] as a [`Guard`].
#[derive(Debug, Clone)]
pub struct OutputGuard<G>(String, G);

impl<G> OutputGuard<G> {
    /// Returns the guardrail as a guard of this name.
    #[must_use]
    pub fn new(name: impl Into<String>, guardrail: G) -> Self {
        Self(name.into(), guardrail)
    }
}

impl<G: InputGuardrail> Guard for InputGuard<G> {
    fn name(&self) -> &str {
        &self.0
    }

    fn looks_at(&self, point: GuardPoint) -> bool {
        point == GuardPoint::Input
    }

    fn check<'a>(
        &'a self,
        subject: GuardSubject<'a>,
    ) -> WasmBoxedFuture<'a, Result<GuardVerdict, GuardError>> {
        Box::pin(async move { Ok(self.1.check(subject.text).await.into()) })
    }
}

impl<G: OutputGuardrail> Guard for OutputGuard<G> {
    fn name(&self) -> &str {
        &self.0
    }

    fn looks_at(&self, point: GuardPoint) -> bool {
        point == GuardPoint::Output
    }

    fn check<'a>(
        &'a self,
        subject: GuardSubject<'a>,
    ) -> WasmBoxedFuture<'a, Result<GuardVerdict, GuardError>> {
        Box::pin(async move { Ok(self.1.check(subject.text).await.into()) })
    }
}
