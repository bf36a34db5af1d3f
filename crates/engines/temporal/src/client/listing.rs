//! Lists of runs, a page at a time.

use std::{cmp::Reverse, fmt::Write as _};

use futures::{StreamExt as _, stream};
use neuron_engine::{Cursor, PageRequest, RunClientError, RunFilter, RunPage};
use neuron_types::{RunId, hex};
use temporalio_client::tonic::Request;
use temporalio_common::protos::temporal::api::{
    workflow::v1::WorkflowExecutionInfo, workflowservice::v1::ListWorkflowExecutionsRequest,
};

use super::{AgentClient, memo};
use crate::{state::registered, wire::names::AGENT_WORKFLOW};

/// How many runs are asked about at once.
const AT_ONCE: usize = 16;

/// How many runs the server lists at once.
const MOST: usize = 1_000;

impl AgentClient {
    /// A page of runs with the statuses that their workers tell. A run for which no worker answers is left out, and so
    /// is one that does not pass: the server knows of some runs whose they are, and the statuses of all say it.
    pub(super) async fn list_page(
        &self,
        filter: &RunFilter,
        page: PageRequest,
    ) -> Result<RunPage, RunClientError> {
        let (run_ids, next) = self.listed(filter, page).await?;
        let asked = run_ids
            .into_iter()
            .map(|run_id| async move { self.status_now(&run_id).await });
        let mut answers = stream::iter(asked).buffered(AT_ONCE);
        let (mut runs, mut left_out) = (Vec::new(), Vec::new());
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(status) if filter.matches(&status) => runs.push(status),
                Ok(_) => {}
                // It was deleted meanwhile.
                Err(error) if error.is_unknown_run() => {}
                Err(error @ RunClientError::Unreachable { .. }) => return Err(error),
                Err(error) => left_out.push(error.to_string()),
            }
        }
        // Temporal goes by the start of the newest history.
        runs.sort_by_key(|run| Reverse(run.started_at));
        Ok(RunPage::of(runs).next(next).left_out(left_out))
    }

    /// The ids of the runs on a page, and where the next begins. Temporal lists a run a moment after it started.
    async fn listed(
        &self,
        filter: &RunFilter,
        page: PageRequest,
    ) -> Result<(Vec<RunId>, Option<Cursor>), RunClientError> {
        // A run that continued as new has several histories. The newest stands for it.
        let which = if filter.is_open {
            "= 'Running'"
        } else {
            "!= 'ContinuedAsNew'"
        };
        let attributes = match filter.is_narrow() {
            true => registered::ask(&self.client).await,
            false => None,
        };
        let mut query = format!(
            "(WorkflowType = '{AGENT_WORKFLOW}' OR WorkflowType STARTS_WITH '{AGENT_WORKFLOW}:') \
             AND ExecutionStatus {which}"
        );
        for condition in attributes.unwrap_or_default().conditions(filter) {
            // Writing to a String cannot fail.
            let _ = write!(query, " AND {condition}");
        }
        let size = page.limit.clamp(1, MOST);
        let request = ListWorkflowExecutionsRequest {
            namespace: self.namespace().to_owned(),
            page_size: i32::try_from(size).unwrap_or(i32::MAX),
            next_page_token: page.after.as_ref().map_or_else(|| Ok(Vec::new()), token)?,
            query,
        };
        let mut service = self.client.connection().workflow_service();
        let listed = service
            .list_workflow_executions(Request::new(request))
            .await
            .map_err(|status| self.rpc(status))?
            .into_inner();
        let mut run_ids: Vec<RunId> = Vec::with_capacity(listed.executions.len());
        let may_pass = |run: &WorkflowExecutionInfo| {
            memo::read(run.memo.as_ref()).is_none_or(|tags| filter.is_for(&tags))
        };
        let listed_runs = listed.executions.into_iter().filter(may_pass);
        for execution in listed_runs.filter_map(|run| run.execution) {
            // Somebody may have started a workflow of this type under a name that is no run id.
            let Ok(run_id) = RunId::new(execution.workflow_id) else {
                continue;
            };
            // Temporal lists the end of a history and the start of the next one after the other.
            if !run_ids.contains(&run_id) {
                run_ids.push(run_id);
            }
        }
        let next = &listed.next_page_token;
        Ok((run_ids, (!next.is_empty()).then(|| cursor(next))))
    }
}

fn cursor(token: &[u8]) -> Cursor {
    Cursor::new(hex(token))
}

fn token(cursor: &Cursor) -> Result<Vec<u8>, RunClientError> {
    let text = cursor.as_str();
    let byte = |at: usize| {
        let digits = text.get(at..at + 2)?;
        u8::from_str_radix(digits, 16).ok()
    };
    let bytes = (0..text.len()).step_by(2).map(byte);
    let bytes: Option<Vec<u8>> = bytes.collect();
    bytes.ok_or(RunClientError::BadCursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_the_servers_token_and_nothing_else_is_one() {
        let page = [0, 1, 127, 255];
        assert_eq!(token(&cursor(&page)).unwrap(), page);
        for text in ["abc", "zz", "é1"] {
            let refused = token(&Cursor::new(text));
            assert!(matches!(refused, Err(RunClientError::BadCursor)), "{text}");
        }
    }
}
