//! What the result of a call asks for.

use neuron_types::{ToolCall, ToolOutput};

use crate::{Effect, EffectTool, LogLevel, effect::FIELD};

/// Returns the effect that the result of a call asks for; a [log](Effect::Log) that names the tool where it is lost, or
/// may be.
pub(crate) fn effect_of(call: &ToolCall, output: &ToolOutput) -> Option<Effect> {
    let tool = call.name.as_str();
    let is_effect_tool = EffectTool::named(tool).is_some();
    if output.is_error {
        // It may have been an error before it was withheld, which asks for nothing.
        let guard = guard_of(output, &["block"])?;
        return Some(lost(format!(
            "the guard {guard} withheld the result of a call of {tool}: if it asked for an effect, that is lost"
        )));
    }
    let result = output.structured_content.as_ref();
    let asked = match is_effect_tool {
        // A hook may have changed the arguments: what was asked for is what the tool says.
        true => result
            .and_then(|result| result.get(FIELD))
            .and_then(|effect| serde_json::from_value(effect.clone()).ok()),
        false => result.and_then(Effect::custom),
    };
    if asked.is_some() {
        return asked;
    }
    let message = match (is_effect_tool, guard_of(output, &["replace", "ask"])) {
        (true, Some(guard)) => format!(
            "the effect that a call of {tool} asked for is lost: the guard {guard} changed its result"
        ),
        (true, None) => format!(
            "the effect that a call of {tool} asked for is lost: its result does not say which"
        ),
        (false, Some(guard)) => format!(
            "the guard {guard} changed the result of a call of {tool}: if it asked for an effect, that is lost"
        ),
        (false, None) => return None,
    };
    Some(lost(message))
}

/// Returns the first guard with one of these verdicts on a result, which took away what the result has for programs.
fn guard_of<'a>(output: &'a ToolOutput, verdicts: &[&str]) -> Option<&'a str> {
    let mut notes = output.guarded.as_deref()?.notes.iter();
    let note = notes.find(|note| verdicts.contains(&note.verdict.as_str()))?;
    Some(&note.guard)
}

const fn lost(message: String) -> Effect {
    Effect::Log {
        level: LogLevel::Warn,
        message,
    }
}
