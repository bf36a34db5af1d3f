//! A run that survives its process: kill it at any moment and start it again. No call that was journaled is made again.
//!
//! ```console
//! cargo run -p neuron-examples --bin survive -- HOME LOG
//! ```
//!
//! HOME is the folder of the run. Each call of the tool adds a line to LOG.

use std::{env, error::Error, fs::OpenOptions, io::Write as _, path::PathBuf, sync::Arc};

use neuron::{config::ScriptModel, prelude::*};

/// How many calls the run makes.
const CALLS: u32 = 30;

/// Writes a number to the log.
#[neuron_tool(idempotent)]
async fn note(
    #[state] log: &Arc<PathBuf>,
    /// The number.
    number: u32,
) -> Result<String, ToolError> {
    let noted = OpenOptions::new()
        .create(true)
        .append(true)
        .open(log.as_path())
        .and_then(|mut log| writeln!(log, "{number}"));
    noted.map_err(|error| ToolError::ExecutionFailed(error.into()))?;
    Ok(format!("{number} is noted"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let home = arguments.next().unwrap_or_else(|| ".neuron".into());
    let log = arguments.next().unwrap_or_else(|| "numbers.log".into());

    // A model that follows a script, so that this needs no key.
    let calls = (1..=CALLS).map(|number| {
        format!(r#"{{"tool_calls": [{{"name": "note", "input": {{"number": {number}}}}}]}}"#)
    });
    let turns: Vec<String> = calls
        .chain([r#"{"text": "All are noted."}"#.to_owned()])
        .collect();
    let script = format!(r#"{{"turns": [{}]}}"#, turns.join(", "));

    let agent = Agent::builder("survivor")
        .model(Model::of(ScriptModel::parse(&script)?, "script"))
        .tool(NoteTool::new(Arc::new(log)))
        .build()?;
    let local = Local::open(home).await?;
    let run = agent
        .on(&local)
        .start("numbers", "Note the numbers.")
        .await?;
    println!("{}", run.result().await?);
    Ok(())
}
