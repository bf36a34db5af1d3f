//! Lists of runs, a page at a time. They come from the server, so no worker is needed.

use neuron_engine::{Cursor, PageRequest, RunClientError, RunFilter, RunPage};
use neuron_types::{RunId, RunStatus};

use super::{
    RestateClient,
    fault::HttpFault,
    tables::{Invocation, Shown},
    without_worker::{ended_beside, unreadable},
};

/// The most runs on a page.
const MOST: usize = 1_000;

impl RestateClient {
    pub(super) async fn list_page(
        &self,
        filter: &RunFilter,
        page: PageRequest,
    ) -> Result<RunPage, RunClientError> {
        let mut conditions = vec!["target_service_key IS NOT NULL".to_owned()];
        if filter.is_open {
            conditions.push("status != 'completed'".to_owned());
        }
        if let Some(cursor) = &page.after {
            conditions.push(Place::read(cursor)?.condition());
        }
        let limit = page.limit.clamp(1, MOST);
        let listed = self.invocations(&conditions.join(" AND "), limit).await;
        let listed = listed.map_err(HttpFault::of_server)?;
        let last = listed.last().filter(|_| listed.len() == limit);
        let next = last.and_then(Place::of).map(|place| place.cursor());
        // Another client may have started a workflow under a name that is no run id.
        let named = listed.into_iter().filter_map(|invocation| {
            let run_id = RunId::new(&*invocation.run).ok()?;
            Some((run_id, invocation))
        });
        let (run_ids, invocations): (Vec<_>, Vec<_>) = named.unzip();
        let shown = self.shown(&run_ids).await.map_err(HttpFault::of_server)?;
        let (mut runs, mut untouched, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for ((run_id, invocation), shown) in run_ids.into_iter().zip(invocations).zip(shown) {
            match shown {
                Shown::Status(status) => runs.push((*status, invocation)),
                Shown::Nothing => untouched.push((run_id, invocation)),
                Shown::Unreadable => left_out.push(unreadable(&run_id)),
            }
        }
        let first = self.first_statuses(&untouched).await;
        let first = first.map_err(HttpFault::of_server)?.into_iter();
        runs.extend(first.zip(untouched.into_iter().map(|(_, invocation)| invocation)));
        runs.sort_by(|(_, one), (_, other)| {
            let newest = other.created_at.cmp(&one.created_at);
            newest.then_with(|| one.run.cmp(&other.run))
        });
        let runs =
            runs.into_iter().map(
                |(status, invocation)| match &invocation.completion_failure {
                    Some(how) if invocation.is_over() => ended_beside(status, how),
                    _ => status,
                },
            );
        let mut runs: Vec<RunStatus> = runs.collect();
        self.fill_in_hold_ups(runs.iter_mut().collect()).await;
        // Of what the filter asks for, the server only knows whether a run is over.
        let runs = runs.into_iter();
        let runs = runs.filter(|status| filter.matches(status)).collect();
        Ok(RunPage::of(runs).next(next).left_out(left_out))
    }
}

/// A place in the list: behind this run.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    created_at_ms: i64,
    run_id: RunId,
}

impl Place {
    fn of(invocation: &Invocation) -> Option<Self> {
        Some(Self {
            created_at_ms: invocation.created_at.timestamp_millis(),
            run_id: RunId::new(&*invocation.run).ok()?,
        })
    }

    fn cursor(&self) -> Cursor {
        Cursor::new(format!("{}:{}", self.created_at_ms, self.run_id))
    }

    fn read(cursor: &Cursor) -> Result<Self, RunClientError> {
        let (at, run_id) = cursor
            .as_str()
            .split_once(':')
            .ok_or(RunClientError::BadCursor)?;
        Ok(Self {
            created_at_ms: at.parse().map_err(|_| RunClientError::BadCursor)?,
            run_id: RunId::new(run_id).map_err(|_| RunClientError::BadCursor)?,
        })
    }

    /// Returns the condition of the runs behind the place, in SQL. A run id has no quote.
    fn condition(&self) -> String {
        let (at, run_id) = (self.created_at_ms, &self.run_id);
        let at = format!("to_timestamp_millis({at})");
        format!("(created_at < {at} OR (created_at = {at} AND target_service_key > '{run_id}'))")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_names_the_last_run_and_nothing_else_is_one() {
        let place = Place {
            created_at_ms: 1_795_361_601_933,
            run_id: RunId::new("r-1").unwrap(),
        };
        assert_eq!(Place::read(&place.cursor()).unwrap(), place);
        for text in ["", "r-1", "1:", "x:r-1", "1:r' OR '1' = '1"] {
            let refused = Place::read(&Cursor::new(text));
            assert!(matches!(refused, Err(RunClientError::BadCursor)), "{text}");
        }
    }
}
