//! The same number of steps with Temporal's SDK and nothing else.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use temporalio_macros::{activities, workflow, workflow_methods};
use temporalio_sdk::{
    ActivityOptions, LocalActivityOptions, WorkflowContext, WorkflowResult,
    activities::{ActivityContext, ActivityError},
};

use super::agent::ANSWER;

/// How many turns, and where their second step is made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Turns {
    pub(crate) turns: u32,
    pub(crate) local: bool,
}

pub(crate) struct BareActivities;

#[activities]
impl BareActivities {
    #[activity]
    pub(crate) async fn step(_ctx: ActivityContext, _turn: u32) -> Result<String, ActivityError> {
        Ok(ANSWER.to_owned())
    }
}

#[workflow]
#[derive(Default)]
pub(crate) struct BareWorkflow;

#[workflow_methods]
impl BareWorkflow {
    #[run]
    pub(crate) async fn run(ctx: &mut WorkflowContext<Self>, input: Turns) -> WorkflowResult<u32> {
        let normal = || ActivityOptions::start_to_close_timeout(Duration::from_secs(60));
        for turn in 1..=input.turns {
            ctx.execute_activity(BareActivities::step, turn, normal())
                .await?;
            // The last turn of an agent calls no tool.
            if turn == input.turns {
                break;
            }
            if input.local {
                let local = LocalActivityOptions::builder()
                    .start_to_close_timeout(Duration::from_secs(5))
                    .build();
                ctx.execute_local_activity(BareActivities::step, turn, local)
                    .await?;
            } else {
                ctx.execute_activity(BareActivities::step, turn, normal())
                    .await?;
            }
        }
        Ok(input.turns)
    }
}
