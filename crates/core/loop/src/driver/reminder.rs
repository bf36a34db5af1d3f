//! What the model is reminded of.

use neuron_types::Message;

/// A reminder as the model reads it: a user's message, since not every model takes an operator's between
/// others, with a mark that no user wrote it.
pub(crate) fn reminder(text: &str) -> Message {
    Message::user(format!("<system-reminder>\n{text}\n</system-reminder>"))
}
