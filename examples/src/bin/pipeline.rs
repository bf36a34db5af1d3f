//! A workflow of a program in which agents work one after the other, each on the answer of the one before.
//!
//! ```console
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin pipeline -- memory "tea"
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin pipeline -- local "tea"
//! ```

use std::{env, error::Error};

use neuron::{
    prelude::*,
    workflow::{Door, DurableContext, Served as _, WorkflowError, team},
};

/// Collects facts, writes a paragraph of them, and shortens it.
#[neuron::workflow(name = "article")]
async fn article<D: DurableContext>(
    door: &Door<D>,
    title: String,
) -> Result<team::Piped, WorkflowError> {
    let agents = ["researcher", "writer", "editor"];
    team::pipeline(door, &agents, format!("Write about {title}.")).await
}

fn agent(name: &str, instructions: &str) -> Result<Agent, neuron::AgentError> {
    Agent::builder(name)
        .model("anthropic/claude-sonnet-5-5")
        .instructions(instructions)
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let article = Article::with(&[
        &agent("researcher", "You list the facts that a text needs.")?,
        &agent("writer", "You make a paragraph of facts.")?,
        &agent("editor", "You make a paragraph shorter.")?,
    ])?;

    let mut arguments = env::args().skip(1);
    let engine = arguments.next().unwrap_or_else(|| "local".into());
    let title = arguments.next().unwrap_or_else(|| "tea".into());
    let piped: team::Piped = match engine.as_str() {
        "memory" => article.run(&title).await?,
        "local" => {
            let local = Local::open(".neuron").await?;
            let run_id = format!("article-{title}");
            let run = article.on(&local).start(&run_id, &title).await?;
            run.result().await?
        }
        other => return Err(format!("{other} is none of memory, local").into()),
    };
    for said in &piped.said {
        println!("{}: {}", said.agent, said.text);
    }
    Ok(())
}
