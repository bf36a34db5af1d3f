//! Lists of runs, a page at a time.

use std::{cmp::Reverse, fmt::Write as _};

use chrono::{DateTime, Utc};
use futures::{StreamExt as _, stream};
use neuron_engine::{Cursor, PageRequest, RunClientError, RunFilter, RunPage};
use neuron_types::{Blocked, BlockedKind, RunId, RunPhase, RunStatus, RunTags, hex};
use serde::de::DeserializeOwned;
use temporalio_common::protos::temporal::api::{
    enums::v1::WorkflowExecutionStatus, workflow::v1::WorkflowExecutionInfo,
};

use super::{AgentClient, memo, newest::MOST, silence::Silence};
use crate::{
    state::{registered, search_attributes},
    wire::names::{AGENT_WORKFLOW, ENGINE},
};

/// The number of runs whose workers are asked at once.
const AT_ONCE: usize = 16;

/// A run as the server lists it.
struct Listed {
    run_id: RunId,
    queue: String,
    /// The status as far as the server knows it.
    status: RunStatus,
}

impl AgentClient {
    /// Returns a page of runs with the statuses that their workers report. If the workers of a queue do not answer, its
    /// runs are listed with what the server knows; the first of them are waited for together. A run that does not pass
    /// the filter is left out: the server knows the tags of some runs only, and the statuses have the tags of all.
    pub(super) async fn list_page(
        &self,
        filter: &RunFilter,
        page: PageRequest,
    ) -> Result<RunPage, RunClientError> {
        let (listed, next) = self.listed(filter, page).await?;
        let silence = Silence::default();
        let asked = listed.into_iter().map(|run| self.status_of(run, &silence));
        let mut answers = stream::iter(asked).buffered(AT_ONCE);
        let (mut runs, mut left_out) = (Vec::new(), Vec::new());
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(status) if filter.matches(&status) => runs.push(status),
                Ok(_) => {}
                // The run was deleted meanwhile.
                Err(error) if error.is_unknown_run() => {}
                Err(error @ RunClientError::Unreachable { .. }) => return Err(error),
                Err(error) => left_out.push(error.to_string()),
            }
        }
        drop(answers);
        left_out.extend(silence.reasons());
        // Temporal sorts by the start of the newest history.
        runs.sort_by_key(|run| Reverse(run.started_at));
        Ok(RunPage::of(runs).next(next).left_out(left_out))
    }

    /// Returns the status of a listed run, from its worker if there is one.
    async fn status_of(&self, run: Listed, silence: &Silence) -> Result<RunStatus, RunClientError> {
        let is_over = run.status.state.is_final();
        if is_over || !silence.is_known(&run.queue) {
            match self.status_at_once(&run.run_id).await {
                Err(error) if error.is_no_worker() && !is_over => {}
                answer => {
                    // The server answers for a run that no worker has taken up yet.
                    if !is_over && answer.as_ref().is_ok_and(|status| status.turn > 0) {
                        silence.broken(&run.queue);
                    }
                    return answer;
                }
            }
        }
        silence.noted(&run.queue);
        let detail = format!("no worker of the task queue \"{}\" answers", run.queue);
        let mut status = run.status;
        status.blocked = Some(Blocked::new(BlockedKind::NoWorker, Utc::now(), detail));
        Ok(status)
    }

    /// Returns the runs on a page, and where the next page begins. Temporal lists a run a moment after it started.
    async fn listed(
        &self,
        filter: &RunFilter,
        page: PageRequest,
    ) -> Result<(Vec<Listed>, Option<Cursor>), RunClientError> {
        // A run that continued as new has several histories. The newest represents the run.
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
        let limit = page.limit.clamp(1, MOST);
        let (executions, next) = if filter.is_open {
            // The server lists open runs in the order of their starts.
            let token = page.after.as_ref().map_or_else(|| Ok(Vec::new()), token)?;
            let (executions, next) = self.page(&query, limit, token).await?;
            (executions, (!next.is_empty()).then(|| cursor(&next)))
        } else {
            self.newest(&query, page.after.as_ref(), limit).await?
        };
        let mut listed: Vec<Listed> = Vec::with_capacity(executions.len());
        let may_pass = |tags: Option<&RunTags>| tags.is_none_or(|tags| filter.is_for(tags));
        for execution in executions {
            let tags = memo::read(execution.memo.as_ref());
            // Another client may have started a workflow of this type under a name that is no run id.
            let Some(run) = Listed::read(execution, tags.as_ref()) else {
                continue;
            };
            // Temporal records the end of a history and the start of the next one separately.
            let is_new = listed.iter().all(|known| known.run_id != run.run_id);
            if is_new && may_pass(tags.as_ref()) {
                listed.push(run);
            }
        }
        Ok((listed, next))
    }
}

impl Listed {
    fn read(info: WorkflowExecutionInfo, tags: Option<&RunTags>) -> Option<Self> {
        let is_open = info.status == WorkflowExecutionStatus::Running as i32;
        let agent: Option<String> = attribute(&info, search_attributes::AGENT_NAME);
        let state: Option<RunPhase> = attribute(&info, search_attributes::STATE_NAME);
        let started_at = info.start_time.as_ref().and_then(|at| {
            DateTime::from_timestamp(at.seconds, u32::try_from(at.nanos).unwrap_or_default())
        });
        let run_id = RunId::new(info.execution?.workflow_id).ok()?;
        let (agent, started_at) = (agent.unwrap_or_default(), started_at.unwrap_or_default());
        let mut status = RunStatus::new(run_id.clone(), ENGINE, &agent, started_at);
        if let Some(tags) = tags {
            status = status.with_tags(tags);
        }
        status.state = match state.filter(|state| state.is_final() != is_open) {
            Some(state) => state,
            None if is_open => RunPhase::Running,
            None => RunPhase::Failed,
        };
        status.cost_usd = None;
        Some(Self {
            run_id,
            queue: info.task_queue,
            status,
        })
    }
}

/// Returns the attribute of this name that the server lists for a run.
fn attribute<T: DeserializeOwned>(info: &WorkflowExecutionInfo, name: &str) -> Option<T> {
    let attributes = info.search_attributes.as_ref()?;
    let payload = attributes.indexed_fields.get(name)?;
    serde_json::from_slice(&payload.data).ok()
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
