//! The newest runs, whether they are over or not. The server lists open runs first, and closed ones by their ends, so
//! the query is for the runs that started in a window of time.

use std::cmp::Reverse;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use neuron_engine::{Cursor, RunClientError};
use temporalio_client::tonic::Request;
use temporalio_common::protos::temporal::api::{
    workflow::v1::WorkflowExecutionInfo,
    workflowservice::v1::{CountWorkflowExecutionsRequest, ListWorkflowExecutionsRequest},
};

use super::AgentClient;

/// The most runs that the server lists at once, and the most runs in a window.
pub(super) const MOST: usize = 1_000;

/// How long before its end the first window begins.
const FIRST_WINDOW: TimeDelta = TimeDelta::hours(1);

/// The most times that a window is enlarged or reduced.
const STEPS: usize = 48;

/// The difference between servers in the precision of their times.
const EXACTNESS: TimeDelta = TimeDelta::milliseconds(1);

/// A place among runs in the order of their starts, the newest first: behind this run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// In microseconds since 1970: servers keep no finer times.
    started_at: i64,
    run: String,
}

impl Place {
    fn of(info: &WorkflowExecutionInfo) -> Option<Self> {
        let at = info.start_time.as_ref()?;
        let nanos = u32::try_from(at.nanos).unwrap_or_default();
        let started_at = DateTime::from_timestamp(at.seconds, nanos)?.timestamp_micros();
        let run = info.execution.as_ref()?.workflow_id.clone();
        Some(Self { started_at, run })
    }

    fn cursor(&self) -> Cursor {
        Cursor::new(format!("{}:{}", self.started_at, self.run))
    }

    fn read(cursor: &Cursor) -> Result<Self, RunClientError> {
        let place = cursor.as_str().split_once(':').and_then(|(at, run)| {
            let started_at = at.parse().ok()?;
            let run = run.to_owned();
            Some(Self { started_at, run })
        });
        place.ok_or(RunClientError::BadCursor)
    }

    /// Returns the sort key: smaller is newer.
    fn rank(&self) -> (Reverse<i64>, &str) {
        (Reverse(self.started_at), &self.run)
    }

    fn time(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.started_at).unwrap_or_default()
    }
}

impl AgentClient {
    /// Returns the newest histories that match a query, the newest first, at most `limit` of them behind a place; and
    /// where the next page begins.
    pub(super) async fn newest(
        &self,
        query: &str,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<(Vec<WorkflowExecutionInfo>, Option<Cursor>), RunClientError> {
        let after = after.map(Place::read).transpose()?;
        let (query, newest) = match &after {
            None => (query.to_owned(), Utc::now()),
            Some(place) => {
                let last = place.time() + EXACTNESS;
                (format!("{query} AND StartTime <= '{}'", text(last)), last)
            }
        };
        let (query, is_all) = self.window(&query, newest, limit).await?;
        let listed = self.all(&query).await?;
        let mut placed: Vec<(Place, WorkflowExecutionInfo)> = listed
            .into_iter()
            .filter_map(|info| Some((Place::of(&info)?, info)))
            .filter(|(place, _)| {
                let behind = after.as_ref();
                behind.is_none_or(|behind| place.rank() > behind.rank())
            })
            .collect();
        placed.sort_by(|(one, _), (other, _)| one.rank().cmp(&other.rank()));
        let is_last = is_all && placed.len() <= limit;
        placed.truncate(limit);
        let next = placed.last().map(|(place, _)| place.cursor());
        let next = next.filter(|_| !is_last);
        Ok((placed.into_iter().map(|(_, info)| info).collect(), next))
    }

    /// Narrows a query to a window with the newest histories: at least so many of them if they exist, and those at the
    /// end of the page before. Also returns whether the window contains all that exist.
    async fn window(
        &self,
        query: &str,
        newest: DateTime<Utc>,
        limit: usize,
    ) -> Result<(String, bool), RunClientError> {
        let all = self.count(query).await?;
        if all <= MOST {
            return Ok((query.to_owned(), true));
        }
        let since = |since: DateTime<Utc>| format!("{query} AND StartTime >= '{}'", text(since));
        // Of the runs at the place itself, some were returned already.
        let at_place = self.count(&since(newest - EXACTNESS)).await?;
        let wanted = limit.saturating_add(at_place).saturating_add(1);
        let most = MOST.max(wanted.saturating_mul(2));
        let begin = |window: TimeDelta| {
            let begin = newest.checked_sub_signed(window);
            since(begin.unwrap_or(DateTime::UNIX_EPOCH))
        };
        let (mut small, mut window, mut large) = (TimeDelta::zero(), FIRST_WINDOW, None);
        for _ in 0..STEPS {
            let found = self.count(&begin(window)).await?;
            if found >= wanted && found <= most {
                return Ok((begin(window), false));
            }
            if found < wanted {
                small = window;
            } else {
                large = Some(window);
            }
            window = match large {
                None => window.checked_mul(8).unwrap_or(window),
                Some(large) => small + (large - small) / 2,
            };
        }
        // Very many runs started at one moment.
        Ok((begin(large.unwrap_or(window)), false))
    }

    async fn count(&self, query: &str) -> Result<usize, RunClientError> {
        let request = CountWorkflowExecutionsRequest {
            namespace: self.namespace().to_owned(),
            query: query.to_owned(),
        };
        let mut service = self.client.connection().workflow_service();
        let counted = service.count_workflow_executions(Request::new(request));
        let counted = counted.await.map_err(|status| self.rpc(status))?;
        Ok(usize::try_from(counted.into_inner().count).unwrap_or_default())
    }

    /// Returns everything that matches a query, in the server's order.
    async fn all(&self, query: &str) -> Result<Vec<WorkflowExecutionInfo>, RunClientError> {
        let (mut listed, mut token) = (Vec::new(), Vec::new());
        loop {
            let mut page = self.page(query, MOST, token).await?;
            listed.append(&mut page.0);
            token = page.1;
            if token.is_empty() {
                return Ok(listed);
            }
        }
    }

    /// Returns a page of what matches a query, in the server's order, and the token of the next page.
    pub(super) async fn page(
        &self,
        query: &str,
        limit: usize,
        token: Vec<u8>,
    ) -> Result<(Vec<WorkflowExecutionInfo>, Vec<u8>), RunClientError> {
        let request = ListWorkflowExecutionsRequest {
            namespace: self.namespace().to_owned(),
            page_size: i32::try_from(limit).unwrap_or(i32::MAX),
            next_page_token: token,
            query: query.to_owned(),
        };
        let mut service = self.client.connection().workflow_service();
        let listed = service.list_workflow_executions(Request::new(request));
        let listed = listed
            .await
            .map_err(|status| self.rpc(status))?
            .into_inner();
        Ok((listed.executions, listed.next_page_token))
    }
}

fn text(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_names_the_last_run_and_nothing_else_is_one() {
        let place = Place {
            started_at: 1_795_361_601_933_123,
            run: "r:1".into(),
        };
        assert_eq!(Place::read(&place.cursor()).unwrap(), place);
        for text in ["", "r1", "x:r1", "no place"] {
            let refused = Place::read(&Cursor::new(text));
            assert!(matches!(refused, Err(RunClientError::BadCursor)), "{text}");
        }
    }

    #[test]
    fn newer_runs_come_first_and_those_of_one_moment_by_their_names() {
        let place = |started_at, run: &str| Place {
            started_at,
            run: run.into(),
        };
        let order = [place(2, "b"), place(1, "a"), place(1, "c")];
        assert!(order.is_sorted_by(|one, next| one.rank() < next.rank()));
    }
}
