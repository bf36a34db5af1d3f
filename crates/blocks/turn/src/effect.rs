//! What a turn wants its caller to do.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a turn wants its caller to do. The turn itself does none of it.
///
/// The model asks for the first five by [effect tools](crate::EffectTool).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Something is to be remembered.
    WriteMemory {
        /// Where, in words of one's own: `user`, `project`.
        scope: String,
        /// Under which name.
        key: String,
        /// What.
        value: Value,
    },
    /// Something is to be forgotten.
    DeleteMemory {
        /// Where.
        scope: String,
        /// Under which name.
        key: String,
    },
    /// Another agent is to work on something.
    Delegate {
        /// The agent.
        agent: String,
        /// What it is given: a text, or a value.
        input: Value,
    },
    /// Another agent is to continue the conversation.
    Handoff {
        /// The agent.
        agent: String,
        /// What it is to know.
        state: Value,
    },
    /// A signal is to be sent.
    Signal {
        /// Who takes it: a run, in the workflows of neuron.
        target: String,
        /// What it carries.
        payload: Value,
    },
    /// The loop noticed something: what was left out of a request, that the conversation was made smaller or could not
    /// be, that a guard changed a result and an effect is lost with it. Does not come from the model.
    Log {
        /// How much it matters.
        level: LogLevel,
        /// A sentence for people.
        message: String,
    },
    /// A tool of one's own asks for something: one whose result for programs,
    /// [`ToolOutput::structured_content`](neuron_types::ToolOutput::structured_content), is an object with the field
    /// `effect`, which is an object with a `kind` that is a text, and maybe a `payload`.
    Custom {
        /// What kind of effect it is, in words of one's own.
        kind: String,
        /// What it needs.
        payload: Value,
    },
}

/// How much a [log](Effect::Log) matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// All is as it should be.
    Info,
    /// Something is not as it was asked for.
    Warn,
}

/// The field of a tool's result that holds an effect.
pub(crate) const FIELD: &str = "effect";

impl Effect {
    /// Reads the effect that the result of a tool of one's own asks for; `None` if it asks for none.
    ///
    /// ```
    /// use neuron_turn::Effect;
    /// use serde_json::json;
    ///
    /// let result = json!({"effect": {"kind": "page", "payload": {"team": "storage"}}, "note": "paged"});
    /// let effect = Effect::Custom { kind: "page".into(), payload: json!({"team": "storage"}) };
    /// assert_eq!(Effect::custom(&result), Some(effect));
    /// assert_eq!(Effect::custom(&json!({"effect": "page"})), None);
    /// ```
    #[must_use]
    pub fn custom(result: &Value) -> Option<Self> {
        let effect = result.get(FIELD)?;
        Some(Self::Custom {
            kind: effect.get("kind")?.as_str()?.to_owned(),
            payload: effect.get("payload").cloned().unwrap_or_default(),
        })
    }
}
