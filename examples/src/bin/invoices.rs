//! A Temporal worker whose agent has its own tools and typed input and output.
//!
//! ```console
//! temporal server start-dev &
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin invoices
//! ```

use std::{env, error::Error, sync::Arc, time::Duration};

use neuron::{prelude::*, temporal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is to be judged.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Invoice {
    number: String,
    cents: u64,
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Verdict {
    paid: bool,
    reason: String,
}

/// The accounts that are charged.
#[derive(Debug)]
struct Accounts;

/// Charges the customer of an invoice. Charging one twice is harmless.
#[neuron_tool(idempotent)]
async fn charge(
    #[state] _accounts: &Arc<Accounts>,
    /// The invoice's number.
    number: String,
) -> Result<String, ToolError> {
    Ok(format!("{number} is charged"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = Agent::builder("invoice")
        .model("anthropic/claude-sonnet-5-5")
        .instructions("You have invoices paid that are below 1,000 euros, and say what you did.")
        .input::<Invoice>()
        .output::<Verdict>()
        .tool(ChargeTool::new(Arc::new(Accounts)).step(Step::timeout(Duration::from_secs(30))))
        .build()?;
    let worker = temporal::Worker::builder()
        .task_queue("invoices")
        .agent(&agent)
        .spawn()
        .await?;

    // Any process can start runs, by the agent's name.
    let client = temporal::Client::connect().await?.task_queue("invoices");
    let invoice = Invoice {
        number: env::args().nth(1).unwrap_or_else(|| "17".into()),
        cents: 4_200,
    };
    let agent = client.agent::<Invoice, Verdict>("invoice");
    let run = agent
        .start(&format!("inv-{}", invoice.number), &invoice)
        .await?;
    let verdict: Verdict = run.result().await?;
    println!(
        "{}: {}",
        if verdict.paid { "paid" } else { "not paid" },
        verdict.reason
    );
    worker.stop().await?;
    Ok(())
}
