//! Trials of doors.

use std::sync::Arc;

use futures::future::join_all;
use neuron_engine::RunClient;
use neuron_patience::patience;
use neuron_types::{DurableContext, RunId};
use tokio::time::timeout;

use super::{CASES, DoorCase, DoorRoom, Outside, Verdict, cases};

/// Tries a door of this process with one case. The case needs a runtime with several threads: some calls block one.
///
/// # Panics
///
/// If the door does not behave as it must.
pub async fn holds_at(door: &impl DurableContext, case: &str, outside: Outside) {
    let (name, beside) = (case.to_owned(), outside.clone());
    let person = tokio::spawn(async move { cases::outside(&name, &beside).await });
    let inside = timeout(patience(), cases::inside(case, door)).await;
    let verdict = inside.unwrap_or_else(|_| Err("it does not come to its end".to_owned()));
    let verdict = match verdict {
        Ok(()) => {
            person.await.unwrap();
            calls_are_right(case, &outside)
        }
        wrong => {
            person.abort();
            wrong
        }
    };
    verdict.unwrap_or_else(|wrong| panic!("{case}: {wrong}"));
}

/// Tries a door with every case, as runs of [`DoorCase`] under this client's engine, side by side. A worker with the
/// executor of the room must be running.
///
/// # Panics
///
/// If the door does not behave as it must.
pub async fn all_hold_at(client: Arc<dyn RunClient>, room: &DoorRoom) {
    let trials = CASES.iter().map(|case| {
        let client = Arc::clone(&client);
        async move { (*case, run_at(client, case, room).await) }
    });
    let wrong: Vec<_> = join_all(trials)
        .await
        .into_iter()
        .filter_map(|(case, verdict)| Some(format!("{case}: {}", verdict.err()?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn run_at(client: Arc<dyn RunClient>, case: &str, room: &DoorRoom) -> Verdict {
    let run = RunId::new(case).unwrap();
    let input = DoorCase::input(case);
    client.start(&run, input.into()).await.unwrap();
    let outside = Outside::of(room, &run, (Arc::clone(&client), run.clone()));
    let both = async {
        tokio::select! {
            biased;
            output = client.wait_for_end(&run) => output,
            () = cases::outside(case, &outside) => client.wait_for_end(&run).await,
        }
    };
    let output = timeout(patience(), both).await;
    let output = output.map_err(|_| "it does not come to its end".to_owned())?;
    let output = output.map_err(|error| error.to_string())?;
    match output.output.as_deref() {
        Some("") => calls_are_right(case, &outside),
        Some(wrong) => Err(wrong.to_owned()),
        None => Err(format!("{output:?}")),
    }
}

fn calls_are_right(case: &str, outside: &Outside) -> Verdict {
    let (wanted, calls) = (cases::calls(case), outside.calls());
    if calls == wanted {
        return Ok(());
    }
    Err(format!("the calls {calls:?} were made, and not {wanted:?}"))
}
