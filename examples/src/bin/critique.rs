//! A workflow of a program in which a writer improves a text until a critic accepts it, or has read it often enough.
//!
//! ```console
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin critique -- memory "tea"
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin critique -- local "tea"
//! ```
//!
//! `review` does the same without `team`, on every engine.

use std::{env, error::Error};

use neuron::{
    prelude::*,
    workflow::{Door, DurableContext, Served as _, WorkflowError, team},
};

/// How often the critic reads the text at most.
const ROUNDS: u32 = 3;

/// Lets a writer and a critic write a text that the critic accepts.
#[neuron::workflow(name = "essay")]
async fn essay<D: DurableContext>(
    door: &Door<D>,
    title: String,
) -> Result<team::Critiqued, WorkflowError> {
    let prompt = format!("Write about {title}.");
    team::critique(door, "writer", "critic", prompt, ROUNDS).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let writer = Agent::builder("writer")
        .model("anthropic/claude-sonnet-5-5")
        .instructions("You write one paragraph, and mend it as you are told.")
        .build()?;
    let critic = Agent::builder("critic")
        .model("anthropic/claude-sonnet-5-5")
        .instructions("You say whether a paragraph is accepted, and what is to be mended.")
        .output::<team::Remark>()
        .build()?;
    let essay = Essay::with(&[&writer, &critic])?;

    let mut arguments = env::args().skip(1);
    let engine = arguments.next().unwrap_or_else(|| "local".into());
    let title = arguments.next().unwrap_or_else(|| "tea".into());
    let critiqued: team::Critiqued = match engine.as_str() {
        "memory" => essay.run(&title).await?,
        "local" => {
            let local = Local::open(".neuron").await?;
            let run_id = format!("essay-{title}");
            let run = essay.on(&local).start(&run_id, &title).await?;
            run.result().await?
        }
        other => return Err(format!("{other} is none of memory, local").into()),
    };
    let rounds = critiqued.rounds;
    match critiqued.accepted {
        true => println!("{} (accepted in round {rounds})", critiqued.text),
        false => println!(
            "{} (not accepted in {rounds} rounds: {})",
            critiqued.text, critiqued.remark
        ),
    }
    Ok(())
}
