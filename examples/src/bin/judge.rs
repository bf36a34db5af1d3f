//! A workflow of a program in which agents work at the same time, each in a run of its own, and a judge combines their
//! answers into one.
//!
//! ```console
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin judge -- memory "tea"
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin judge -- local "tea"
//! ```

use std::{env, error::Error};

use neuron::{
    prelude::*,
    workflow::{Door, DurableContext, Served as _, WorkflowError, team},
};

/// Asks two agents the same question, and a third about their answers.
#[neuron::workflow(name = "jury")]
async fn jury<D: DurableContext>(
    door: &Door<D>,
    topic: String,
) -> Result<team::Judged, WorkflowError> {
    let prompt = format!("What is to be said about {topic}?");
    team::parallel(door, &["optimist", "pessimist"], "judge", prompt).await
}

fn agent(name: &str, instructions: &str) -> Result<Agent, neuron::AgentError> {
    Agent::builder(name)
        .model("anthropic/claude-sonnet-5-5")
        .instructions(instructions)
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let jury = Jury::with(&[
        &agent("optimist", "You say what speaks for a thing.")?,
        &agent("pessimist", "You say what speaks against a thing.")?,
        &agent("judge", "You make one answer of several.")?,
    ])?;

    let mut arguments = env::args().skip(1);
    let engine = arguments.next().unwrap_or_else(|| "local".into());
    let topic = arguments.next().unwrap_or_else(|| "tea".into());
    let judged: team::Judged = match engine.as_str() {
        "memory" => jury.run(&topic).await?,
        "local" => {
            let local = Local::open(".neuron").await?;
            let run_id = format!("jury-{topic}");
            let run = jury.on(&local).start(&run_id, &topic).await?;
            run.result().await?
        }
        other => return Err(format!("{other} is none of memory, local").into()),
    };
    for said in &judged.said {
        let text = said
            .text()
            .map(ToOwned::to_owned)
            .or_else(|| said.why_none());
        println!("{}: {}", said.agent, text.unwrap_or_default());
    }
    println!("judge: {}", judged.answer);
    Ok(())
}
