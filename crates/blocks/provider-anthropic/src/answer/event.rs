use neuron_types::read_json;
use serde::Deserialize;
use serde_json::Value;

/// What most events say. The others are read once more, as a whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Event {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) index: u64,
    pub(crate) delta: Delta,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Delta {
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) thinking: Option<String>,
    pub(crate) partial_json: Value,
    pub(crate) signature: Option<String>,
}

impl Event {
    /// Reads an event. What does not fit in one that servers made up is not read.
    pub(crate) fn read(data: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(data).or_else(|_| {
            let event: Value = read_json(data)?;
            Ok(Self {
                kind: text(&event, "type").unwrap_or_default(),
                index: event.get("index").and_then(Value::as_u64).unwrap_or(0),
                delta: event.get("delta").map(Delta::of).unwrap_or_default(),
            })
        })
    }
}

impl Delta {
    fn of(delta: &Value) -> Self {
        Self {
            kind: text(delta, "type"),
            text: text(delta, "text"),
            thinking: text(delta, "thinking"),
            partial_json: delta.get("partial_json").cloned().unwrap_or_default(),
            signature: text(delta, "signature"),
        }
    }

    /// Returns more of a call's input, as JSON text. Some servers send it as it is.
    pub(crate) fn input(self) -> String {
        match self.partial_json {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        }
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}
