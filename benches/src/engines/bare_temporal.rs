//! The same steps with only Temporal's SDK: the result of each has as many bytes as neuron's.

use std::time::Duration;

use neuron_types::{CompletionResponse, ToolOutput};
use serde::{Deserialize, Serialize};
use temporalio_macros::{activities, workflow, workflow_methods};
use temporalio_sdk::{
    ActivityOptions, LocalActivityOptions, WorkflowContext, WorkflowResult,
    activities::{ActivityContext, ActivityError},
};

use super::agent::{ANSWER, Placement};
use crate::model::answer;

/// The number of turns, and where their steps are executed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Turns {
    pub(crate) turns: u32,
    pub(crate) placement: Placement,
}

pub(crate) struct BareActivities;

#[activities]
impl BareActivities {
    #[activity]
    pub(crate) async fn model(
        _ctx: ActivityContext,
        turn: u32,
        turns: u32,
    ) -> Result<CompletionResponse, ActivityError> {
        Ok(answer(turn, turns))
    }

    #[activity]
    pub(crate) async fn tool(
        _ctx: ActivityContext,
        _turn: u32,
    ) -> Result<ToolOutput, ActivityError> {
        Ok(ToolOutput::text(ANSWER))
    }
}

#[workflow]
#[derive(Default)]
pub(crate) struct BareWorkflow;

#[workflow_methods]
impl BareWorkflow {
    #[run]
    pub(crate) async fn run(ctx: &mut WorkflowContext<Self>, input: Turns) -> WorkflowResult<u32> {
        let Turns { turns, placement } = input;
        let normal = || ActivityOptions::start_to_close_timeout(Duration::from_secs(60));
        let local = || {
            let options = LocalActivityOptions::builder();
            let options = options.start_to_close_timeout(Duration::from_secs(5));
            options.build()
        };
        for turn in 1..=turns {
            if placement.is_model_local() {
                ctx.execute_local_activity(BareActivities::model, (turn, turns), local())
                    .await?;
            } else {
                ctx.execute_activity(BareActivities::model, (turn, turns), normal())
                    .await?;
            }
            // The last turn of an agent calls no tool.
            if turn == turns {
                break;
            }
            if placement.is_tool_local() {
                ctx.execute_local_activity(BareActivities::tool, turn, local())
                    .await?;
            } else {
                ctx.execute_activity(BareActivities::tool, turn, normal())
                    .await?;
            }
        }
        Ok(turns)
    }
}
