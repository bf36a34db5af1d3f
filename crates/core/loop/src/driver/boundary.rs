//! Between two turns: what has arrived, and the definition that the run adopts.

use neuron_types::{
    ContextStrategy, DurableContext, DurableError, End, Handle, Observed, Outcome, RunEvent, Step,
    signal,
};

use crate::{AgentLoop, Observation, Spent, driver::progress::Progress};

impl<D: DurableContext, C: ContextStrategy> AgentLoop<D, C> {
    /// Takes the messages that are here, and whether the run is to adopt the current definition.
    pub(crate) async fn take_messages(&mut self) -> Result<Progress, DurableError> {
        let names = [signal::USER_MESSAGE, signal::UPGRADE];
        let mut messages = Vec::new();
        while let Some(signal) = self.door().poll(&names).await? {
            if signal.name == signal::UPGRADE {
                self.take_signal(signal)?;
                continue;
            }
            match signal.read() {
                Ok(message) => messages.push(message),
                Err(DurableError::BadSignal { name, source }) => {
                    let reason = source.to_string();
                    self.door().emit(RunEvent::SignalIgnored { name, reason });
                }
                Err(error) => return Err(error),
            }
        }
        self.feed(Observation::Messages(messages))?;
        Ok(Progress::Other)
    }

    /// Has the current definition found, and goes on by it. Messages that arrive meanwhile are taken up.
    pub(crate) async fn find_definition(&mut self, step: Step) -> Result<Progress, DurableError> {
        if self.is_time_over() {
            return self.time_over(Spent::default());
        }
        let finding = self.door().start(step.into());
        let awaited: Vec<Handle> = [finding].into_iter().chain(self.clock()).collect();
        let result = loop {
            match self.observe(&awaited, &[signal::USER_MESSAGE]).await {
                Ok(Observed::Ended(_, End::Effect(result))) => break result,
                Ok(Observed::Ended(handle, End::Deadline)) if self.ends_time(handle) => {
                    self.door().leave(finding);
                    return self.time_over(Spent::default());
                }
                Ok(Observed::Signal(signal)) => self.take_signal(signal)?,
                Ok(other) => return Err(other.unexpected()),
                Err(error) => {
                    self.door().leave(finding);
                    return Err(error);
                }
            }
            self.emit();
        };
        let before = self.machine().state().definition.clone();
        self.feed(Observation::DefinitionFound(match result {
            Ok(Outcome::Definition(found)) => Ok(found),
            Ok(other) => return Err(other.unexpected()),
            Err(failure) => Err(failure),
        }))?;
        if self.machine().state().definition != before {
            self.go_by_definition();
        }
        Ok(Progress::Other)
    }
}
