//! The engine that runs the agents: every command that reads runs or sends them something is written once, over
//! [`RunClient`].

use std::{collections::BTreeSet, env, sync::Arc};

use neuron_engine::{OpenTicket, PageRequest, RunClient, RunClientError, RunFilter};
use neuron_types::RunStatus;

use crate::{CliError, advice, args::EngineName, home::Home, terminal::output::note};

/// The task queue on Temporal and the prefix on Restate, if [`TASK_QUEUE_VARIABLE`] is not set.
#[cfg(any(feature = "temporal", feature = "restate"))]
const TASK_QUEUE: &str = "neuron";

#[cfg(any(feature = "temporal", feature = "restate"))]
const TASK_QUEUE_VARIABLE: &str = "NEURON_TASK_QUEUE";

/// How many runs are requested at once.
const PAGE: usize = 1_000;

/// How many runs are requested at least if most may not pass the filter.
const FEWEST: usize = 100;

/// Returns the client of the engine that the command line names; local runs are those in this home directory, and work
/// in the current directory if they are started here.
///
/// # Errors
///
/// The engine cannot be reached, or this build does not support it.
pub(crate) async fn open(engine: EngineName, home: &Home) -> Result<Arc<dyn RunClient>, CliError> {
    match engine {
        EngineName::Local => {
            let client = home.client_to_look().await?;
            Ok(Arc::new(match env::current_dir() {
                Ok(directory) => client.with_directory(directory),
                Err(_) => client,
            }))
        }
        #[cfg(feature = "temporal")]
        EngineName::Temporal => {
            let client = neuron_temporal::AgentClient::connect().await?;
            Ok(Arc::new(client.with_task_queue(task_queue())))
        }
        #[cfg(feature = "restate")]
        EngineName::Restate => {
            use neuron_restate::{RestateClient, ServerAddress, ServiceNames};

            let names = ServiceNames::new(task_queue());
            let names = names.map_err(|error| RunClientError::Settings {
                engine: engine.as_str(),
                source: error.into(),
            })?;
            let address = ServerAddress::from_environment(|name| std::env::var(name).ok());
            Ok(Arc::new(RestateClient::new(address, names)?))
        }
        #[cfg(not(feature = "temporal"))]
        EngineName::Temporal => Err(CliError::NotBuilt { engine }),
        #[cfg(not(feature = "restate"))]
        EngineName::Restate => Err(CliError::NotBuilt { engine }),
    }
}

/// Returns the newest runs that pass a filter, the newest first. Runs that are left out are reported on standard error.
///
/// # Errors
///
/// The engine cannot be asked.
pub(crate) async fn newest_runs(
    client: &dyn RunClient,
    filter: &RunFilter,
    limit: usize,
) -> Result<Vec<RunStatus>, RunClientError> {
    let (mut runs, mut left, mut cursor) = (Vec::new(), limit, None);
    while left > 0 {
        // A page may have few runs that pass the filter, or none.
        let size = if filter.is_narrow() {
            left.max(FEWEST)
        } else {
            left
        };
        let mut page = PageRequest::first(size.min(PAGE));
        let asked = page.limit;
        page.after = cursor;
        let listed = client.list(filter, page).await?;
        say_incomplete(client, listed.incomplete);
        left = left.saturating_sub(if filter.is_narrow() {
            listed.runs.len()
        } else {
            asked
        });
        runs.extend(listed.runs);
        cursor = listed.next;
        if cursor.is_none() {
            break;
        }
    }
    runs.truncate(limit);
    Ok(runs)
}

/// Returns every run that passes a filter, once. Runs that are left out are reported on standard error.
///
/// # Errors
///
/// The engine cannot be asked.
pub(crate) async fn each_run(
    client: &dyn RunClient,
    filter: &RunFilter,
    mut each: impl FnMut(&RunStatus),
) -> Result<(), RunClientError> {
    let mut seen = BTreeSet::new();
    let mut page = PageRequest::first(PAGE);
    loop {
        let listed = client.list(filter, page).await?;
        say_incomplete(client, listed.incomplete);
        for run in listed.runs {
            // On Temporal a run moves in the list when its history grows too long for one segment.
            if seen.insert(run.run_id.clone()) {
                each(&run);
            }
        }
        match listed.next {
            Some(next) => page = PageRequest::first(PAGE).after(next),
            None => return Ok(()),
        }
    }
}

/// Returns the open tickets of all runs, the oldest run first: it has waited longest. Runs that are left out are
/// reported on standard error.
///
/// # Errors
///
/// The engine cannot be asked.
pub(crate) async fn all_tickets(client: &dyn RunClient) -> Result<Vec<OpenTicket>, RunClientError> {
    let mut tickets: Vec<OpenTicket> = Vec::new();
    let mut page = PageRequest::first(PAGE);
    loop {
        let listed = client.tickets(None, page).await?;
        say_incomplete(client, listed.incomplete);
        tickets.extend(listed.tickets);
        match listed.next {
            Some(next) => page = PageRequest::first(PAGE).after(next),
            None => break,
        }
    }
    let of_runs = tickets.chunk_by(|one, next| one.run_id == next.run_id);
    let oldest_first = of_runs.rev().flatten().cloned();
    Ok(oldest_first.collect())
}

fn say_incomplete(client: &dyn RunClient, why: Option<String>) {
    if let Some(why) = why {
        note(&advice::of_incomplete(client.engine(), &why));
    }
}

/// Returns the prefix of the services on Restate. All runs that a command sees have it.
pub(crate) fn prefix(engine: EngineName) -> Option<String> {
    match engine {
        #[cfg(feature = "restate")]
        EngineName::Restate => Some(task_queue()),
        _ => None,
    }
}

/// Returns the task queue on Temporal and the prefix of the services on Restate.
#[cfg(any(feature = "temporal", feature = "restate"))]
fn task_queue() -> String {
    neuron_worker::variable(TASK_QUEUE_VARIABLE)
        .and_then(|name| name.into_string().ok())
        .unwrap_or_else(|| TASK_QUEUE.to_owned())
}
