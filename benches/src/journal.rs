//! The cost of a journaled step beside a bare SQLite commit of the same bytes.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use neuron_local::{Journal, JournaledContext};
use neuron_types::{
    ActivityOptions, ActivitySettings, DurableContext, Priority, RetryPolicy, RunEvent, RunId,
    RunTags, StepId, ToolCall, ToolEffects,
};
use rusqlite::Connection;
use serde_json::json;

use crate::{
    failure::Failure,
    model::run_of,
    report::{line, median, micros},
};

const STEPS: u32 = 1_000;

pub(crate) async fn measure() -> Result<(), Failure> {
    let home = tempfile::tempdir()?;
    let (executor, input) = run_of(STEPS);
    let journal = Journal::open(home.path().join("journal")).await?;
    let run_id = RunId::new("bench")?;
    journal.create_run(&run_id, input, "local").await?;
    let door = JournaledContext::open(&journal, &run_id, executor).await?;
    let bare = bare_database(&home.path().join("bare.db"))?;
    let (mut steps, mut commits) = (Vec::new(), Vec::new());
    for step in 1..=STEPS {
        let (time, bytes) = journaled_step(&door, step).await?;
        steps.push(time);
        commits.push(commit(&bare, bytes)?);
    }
    let (step, commit) = (median(steps), median(commits));
    let figures = json!({
        "us_per_step": micros(step),
        "us_per_bare_commit": micros(commit),
        "ratio": micros(step) / micros(commit),
        "steps": STEPS,
    });
    line("journaled_step", figures, "ratio <= 1.5");
    Ok(())
}

/// Makes one tool call through the door, with the event before it. Returns how long it took and how many bytes of
/// result and event were written.
async fn journaled_step(door: &JournaledContext, step: u32) -> Result<(Duration, usize), Failure> {
    let call = ToolCall {
        id: format!("call-{step}"),
        name: "lookup".to_owned(),
        input: json!({"key": step}),
        ..ToolCall::default()
    };
    let options = ActivityOptions {
        step: StepId::new(step, 1),
        agent: None,
        nonce: None,
        trace: None,
        skills: std::collections::BTreeMap::new(),
        tags: RunTags::default(),
        root: None,
        allow: Vec::new(),
        bounds: Vec::new(),
        guards: Vec::new(),
        priority: Priority::default(),
        effects: ToolEffects::ReadOnly,
        start_to_close_timeout: Duration::from_secs(60),
        retry_policy: RetryPolicy::default(),
        held: None,
        activity: ActivitySettings::default(),
    };
    let event = RunEvent::ToolCalled {
        turn: step,
        call_id: call.id.clone(),
        tool: call.name.clone(),
        args: call.input.clone(),
    };
    let event_bytes = serde_json::to_string(&event)?.len();
    let start = Instant::now();
    door.emit(event);
    let output = door.execute_tool(&call, &options).await?;
    let time = start.elapsed();
    Ok((time, event_bytes + serde_json::to_string(&output)?.len()))
}

/// Returns a database with the settings of the journal: WAL, and on the disk when a commit returns.
fn bare_database(path: &Path) -> Result<Connection, Failure> {
    let connection = Connection::open(path)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 250, |_| Ok(()))?;
    connection.execute_batch("CREATE TABLE bytes (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")?;
    Ok(connection)
}

fn commit(connection: &Connection, bytes: usize) -> Result<Duration, Failure> {
    let blob = vec![b'x'; bytes];
    let start = Instant::now();
    connection
        .prepare_cached("INSERT INTO bytes (bytes) VALUES (?1)")?
        .execute([blob])?;
    Ok(start.elapsed())
}
