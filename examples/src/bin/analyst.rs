//! A local agent with a tool of its own that has state. The run survives its process, streams, and asks.
//!
//! ```console
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin analyst -- "How many rows has the table runs?"
//! ```
//!
//! Stop it with Ctrl-C and start it again: the run continues where it was.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    io::{Write as _, stdin, stdout},
    sync::Arc,
};

use neuron::prelude::*;

/// The rows of each table.
#[derive(Debug)]
struct Db(BTreeMap<&'static str, u64>);

/// Counts the rows of a table.
#[neuron_tool(read_only)]
async fn count_rows(
    #[state] db: &Arc<Db>,
    /// The table's name.
    table: String,
) -> Result<u64, ToolError> {
    let rows = db.0.get(table.as_str()).copied();
    rows.ok_or_else(|| ToolError::ModelRetry(format!("there is no table {table}")))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = env::args()
        .nth(1)
        .unwrap_or_else(|| "How many rows has the table runs?".into());
    let db = Arc::new(Db(BTreeMap::from([("runs", 3), ("events", 41)])));

    let agent = Agent::builder("analyst")
        .model("anthropic/claude-sonnet-5-5")
        .instructions("You answer questions about the tables of a database.")
        .tools(builtin::read_only())
        .tool(CountRowsTool::new(db))
        .ask("count_rows")
        .limits(Limits::turns(30))
        .build()?;

    let local = Local::open(".neuron").await?;
    local.recover(&[&agent]).await?;
    let mut run = agent.on(&local).start("q3", &question).await?;
    while let Some(item) = run.next().await {
        match item? {
            RunItem::Delta(text) => print!("{text}"),
            RunItem::Ticket(ticket) => {
                let question = ticket.question();
                // This agent only asks about calls.
                let tool = question.tool.as_deref().unwrap_or_default();
                let args = question.args.clone().unwrap_or_default();
                print!("\nmay it call {tool} with {args}? [y/n] ");
                stdout().flush()?;
                let mut line = String::new();
                stdin().read_line(&mut line)?;
                if line.trim() == "y" {
                    ticket.approve().await?;
                } else {
                    ticket.deny("not now").await?;
                }
            }
            _ => {}
        }
        stdout().flush()?;
    }
    println!("\n{}", run.finished()?.into_text()?);
    Ok(())
}
