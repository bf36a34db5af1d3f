//! The same steps with only Restate's SDK: the result of each has as many bytes as neuron's, and what a turn shows is
//! written once.

use neuron_types::ToolOutput;
use restate_sdk::prelude::*;

use super::agent::ANSWER;
use crate::model::answer;

/// How many bytes a turn of neuron's shows: its events, and the run's status.
const SHOWN: usize = 1024;

pub(crate) struct Bare;

#[workflow]
impl Bare {
    #[handler]
    async fn run(&self, ctx: WorkflowContext<'_>, turns: u32) -> HandlerResult<u32> {
        for turn in 1..=turns {
            ctx.run(|| async { Ok(Json(answer(turn, turns))) }).await?;
            // The last turn of an agent calls no tool.
            if turn < turns {
                ctx.run(|| async { Ok(Json(ToolOutput::text(ANSWER))) })
                    .await?;
            }
            ctx.set(&format!("turn-{turn}"), "x".repeat(SHOWN));
        }
        Ok(turns)
    }
}
