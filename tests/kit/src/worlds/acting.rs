//! Acting on a world.

use std::sync::Arc;

use neuron_executor::Executor;

use super::{hook::WorldHook, line::Line, tools, verifier::WorldVerifier};
use crate::ScriptedModel;

/// An executor that acts on the world at the end of this line. Its provider's name is `world`.
pub(crate) fn executor(line: Line) -> Executor {
    Executor::builder()
        .tools(tools::registry(&line))
        .hook(WorldHook {
            line: Arc::clone(&line),
        })
        .verifier(WorldVerifier {
            line: Arc::clone(&line),
        })
        .provider("world", ScriptedModel { line })
        .build()
}
