//! A program that runs the agent of the agent file in its own memory.

use std::error::Error;

use neuron::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    // This comes first: this program may have been started again as a sandbox's helper.
    neuron::sandbox::dispatch();
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let agent = Agent::from_file("neuron.toml", "default").await?.build()?;
    let mut run = agent.on(&Local::memory()).start("attacked", "Go.").await?;
    while let Some(item) = run.next().await {
        if let RunItem::Ticket(ticket) = item? {
            ticket.deny("Nobody is here.").await?;
        }
    }
    println!("{}", run.finished()?.into_text()?);
    Ok(())
}
