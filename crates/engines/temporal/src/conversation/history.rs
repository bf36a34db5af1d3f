//! The conversation of a run, read from the run's own history.

use futures::StreamExt as _;
use neuron_types::StepFailure;
use temporalio_client::{
    Client, WorkflowHandle,
    tonic::{Code, Request},
};
use temporalio_common::{
    UntypedWorkflow,
    protos::temporal::api::{
        common::v1::WorkflowExecution, history::v1::HistoryEvent,
        workflowservice::v1::GetWorkflowExecutionHistoryReverseRequest,
    },
};
use temporalio_sdk::activities::ActivityContext;

use crate::{
    conversation::{
        fold::{Fold, Next, is_of, unreadable},
        transcript::Transcript,
    },
    wire::activity_inputs::Delta,
};

/// The number of events per page: about those of the turns since a worker last had the run.
const PAGE: i32 = 200;

/// The number of pages from which on it is cheaper to read from the first event, which needs no buffer.
const PAGES: usize = 5;

/// Returns the conversation with this delta at its end, where `known` is what an earlier activity of the run left: only
/// newer events are read, from the newest backwards. Returns `None` if it is not found that way.
pub(crate) async fn transcript_since(
    ctx: &ActivityContext,
    known: Transcript,
    delta: &Delta,
) -> Result<Option<Transcript>, StepFailure> {
    let Some(mark) = known.mark.clone() else {
        return Ok(None);
    };
    let handle = handle(ctx)?;
    let Some(events) = newest_events(ctx, &handle, &mark).await? else {
        return Ok(None);
    };
    let converter = &handle.client().options().data_converter;
    let mut fold = Fold::from(converter, &ctx.info().activity_id, known);
    for event in events.into_iter().rev() {
        if fold.take_in(event).await? == Next::Stop {
            break;
        }
    }
    fold.end(delta)
}

/// Returns the conversation with this delta at its end, from the whole history. Returns `None` if it differs from the
/// one that the run states.
pub(crate) async fn transcript(
    ctx: &ActivityContext,
    delta: &Delta,
) -> Result<Option<Transcript>, StepFailure> {
    let handle = handle(ctx)?;
    let converter = &handle.client().options().data_converter;
    let mut fold = Fold::from(converter, &ctx.info().activity_id, Transcript::default());
    let mut events = handle.fetch_history(Default::default());
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| unreadable(&error))?;
        if fold.take_in(event).await? == Next::Stop {
            break;
        }
    }
    fold.end(delta)
}

/// Returns the events from that of this activity on, the newest first; `None` if it is not among the newest pages.
async fn newest_events(
    ctx: &ActivityContext,
    handle: &WorkflowHandle<Client, UntypedWorkflow>,
    activity: &str,
) -> Result<Option<Vec<HistoryEvent>>, StepFailure> {
    let client = handle.client();
    let execution = WorkflowExecution {
        workflow_id: ctx.info().workflow_id.clone().unwrap_or_default(),
        run_id: ctx.info().workflow_run_id.clone().unwrap_or_default(),
    };
    let mut newest = Vec::new();
    let mut next_page_token = Vec::new();
    for _page in 0..PAGES {
        let request = GetWorkflowExecutionHistoryReverseRequest {
            namespace: client.options().namespace.clone(),
            execution: Some(execution.clone()),
            maximum_page_size: PAGE,
            next_page_token,
        };
        let mut service = client.connection().workflow_service();
        let answer = service
            .get_workflow_execution_history_reverse(Request::new(request))
            .await;
        let page = match answer {
            Ok(page) => page.into_inner(),
            // An old server only reads forwards.
            Err(status) if status.code() == Code::Unimplemented => return Ok(None),
            Err(status) => return Err(unreadable(&status)),
        };
        for event in page.history.unwrap_or_default().events {
            let is_found = is_of(&event, activity);
            newest.push(event);
            if is_found {
                return Ok(Some(newest));
            }
        }
        next_page_token = page.next_page_token;
        if next_page_token.is_empty() {
            break;
        }
    }
    Ok(None)
}

fn handle(ctx: &ActivityContext) -> Result<WorkflowHandle<Client, UntypedWorkflow>, StepFailure> {
    ctx.workflow_handle::<UntypedWorkflow>()
        .ok_or_else(|| unreadable(&"the activity belongs to no run"))
}
