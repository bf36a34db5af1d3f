//! The guard of a world's executors whose verdicts come from a model, and that model.

use std::time::Duration;

use neuron_guards::ModelGuard;
use neuron_types::{
    CompletionRequest, CompletionResponse, GuardPoint, GuardSpec, Message, StepId, StopReason,
    TokenUsage,
};
use serde_json::json;

/// What the names of models that judge begin with.
const PREFIX: &str = "judge-of-";

/// How long the model may take: it is held.
const LONGEST: Duration = Duration::from_secs(60 * 60); // Nothing ends by it.

/// Where it looks.
pub(crate) const POINTS: [GuardPoint; 4] = GuardPoint::ALL;

/// What each verdict uses.
pub(crate) const USED: u64 = 110;

/// The guard.
pub(crate) fn guard() -> ModelGuard {
    let policy = "A text gets the verdict that it asks for.";
    ModelGuard::new("judge", format!("world/{PREFIX}nothing"), policy)
        .at(POINTS)
        .within(LONGEST)
}

/// The guard as the definition of this run names it: its model judges for no other run.
pub(crate) fn of_run(run: &str) -> GuardSpec {
    let mut spec = GuardSpec::of(&guard());
    if let Some(judge) = &mut spec.judge {
        judge.model = format!("world/{}", model_of(run));
    }
    spec
}

/// The name of the model that judges for this run.
pub(crate) fn model_of(run: &str) -> String {
    format!("{PREFIX}{run}")
}

/// Whether this model judges.
pub(crate) fn is_model(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// A text that asks the model for a verdict at this point: `[[call:block]]`. The world's own guard passes it.
pub(crate) fn marker(point: GuardPoint, asked: &str) -> String {
    format!("[[{point}:{asked}]]")
}

/// Under which step the world keeps the questions about what is at this point.
pub(crate) const fn step_of(point: GuardPoint) -> StepId {
    match point {
        GuardPoint::Input => StepId::new(1, 0),
        GuardPoint::Call => StepId::new(1, 1),
        GuardPoint::Result => StepId::new(2, 0),
        GuardPoint::Output => StepId::new(3, 0),
    }
}

/// What a text asks for at this point.
fn asked(point: GuardPoint, text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(&format!("[[{point}:"))?;
    rest.split_once("]]").map(|(asked, _)| asked)
}

/// What a model is asked.
pub(crate) struct Question {
    point: GuardPoint,
    /// The verdict that the text asks for.
    asked: String,
}

impl Question {
    pub(crate) fn of(request: &CompletionRequest) -> Self {
        let text: String = request.messages.iter().map(Message::text).collect();
        let is_at = |point: &GuardPoint| text.contains(&format!(r#"{{"point":"{point}""#));
        let point = POINTS.into_iter().find(is_at);
        let point = point.expect("a question at one of the points");
        let asked = asked(point, &text).unwrap_or("pass").to_owned();
        Self { point, asked }
    }

    /// Where it is asked, as the world names it.
    pub(crate) fn step(&self) -> StepId {
        step_of(self.point)
    }

    /// Returns the verdict that the text asks for, also where the text asks for no verdict.
    pub(crate) fn answer(&self, request: &CompletionRequest) -> CompletionResponse {
        let asked = &self.asked;
        let verdict = json!({"verdict": asked, "reason": format!("the text asks for {asked}")});
        CompletionResponse {
            id: "verdict".to_owned(),
            model: request.model.clone(),
            message: Message::assistant(verdict.to_string()),
            usage: TokenUsage {
                input_tokens: USED - 10,
                output_tokens: 10,
                ..TokenUsage::default()
            },
            stop_reason: StopReason::EndTurn,
            ..CompletionResponse::default()
        }
    }
}
