//! A workflow that makes turns and carries out what they ask for.

use std::time::Duration;

use neuron_turn::{Effect, TurnInput};
use neuron_types::{Conversation, DurableContext, Message};
use neuron_workflows::{Door, EFFECT_SIGNAL, Workflow, WorkflowError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How long a signal may take that was sent.
const LONGEST: Duration = Duration::from_secs(60 * 60); // Only waited for where it is lost.

/// A workflow in which `lead` makes a turn. What the turn asks for is carried out, and `closer` makes a turn of what came
/// of that. Every executing side of a scenario serves it beside agents.
#[derive(Debug, Clone, Copy)]
pub struct Desk;

/// What came of the turns of a [`Desk`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Came {
    /// What `lead` said.
    pub said: String,
    /// What those answered to whom it delegated.
    pub answers: Vec<String>,
    /// What was not carried out.
    pub left: Vec<Effect>,
    /// What was signalled to the run.
    pub signalled: Option<Value>,
    /// What `closer` said.
    pub closed: String,
    /// What was signalled once more.
    pub again: Option<Value>,
}

impl Workflow for Desk {
    const NAME: &'static str = "desk";
    const TEMPORAL_TYPE: &'static str = "agent:desk";
    type Input = String;
    type Output = Came;

    async fn run<D: DurableContext>(
        door: &Door<D>,
        question: String,
    ) -> Result<Came, WorkflowError> {
        let history = Conversation::from(vec![Message::user("Hi.")]);
        let input = TurnInput::text(question);
        let led = door.turn("lead", &history, &input).await?;
        let said = led.text();
        let carried_out = door.carry_out(led.effects).await?;
        let answers = carried_out.answers.iter();
        let answers: Vec<String> = answers
            .filter_map(|answer| answer.text().map(ToOwned::to_owned))
            .collect();
        let signalled = door.wait_for_signal(EFFECT_SIGNAL, Some(LONGEST)).await?;
        let input = TurnInput::text(answers.join("\n"));
        let history = Conversation::default();
        let closed = door.turn("closer", &history, &input).await?;
        Ok(Came {
            said,
            answers,
            left: carried_out.left,
            signalled,
            closed: closed.text(),
            again: door
                .wait_for_signal(EFFECT_SIGNAL, Some(Duration::ZERO))
                .await?,
        })
    }
}
