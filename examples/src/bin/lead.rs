//! An agent that gives others work, and hands its run over to one in the end. All of them are values of this program,
//! and each engine serves them with it.
//!
//! ```console
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin lead -- local "tea"
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin lead -- temporal "tea"
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin lead -- restate "tea"
//! ```
//!
//! The last two need the engine's server, which `neuron dev` starts.

use std::{env, error::Error};

use neuron::{SubAgentEntry, prelude::*};

const MODEL: &str = "anthropic/claude-sonnet-5-5";

fn lead() -> Result<Agent, neuron::AgentError> {
    let explorer = Agent::builder("explorer")
        .description("Finds out what there is to know about a topic.")
        .model(MODEL)
        .instructions("You list what there is to know about a topic.")
        .limits(Limits::turns(20))
        .build()?;
    let editor = Agent::builder("editor")
        .description("Makes the final text of what was found.")
        .model(MODEL)
        .instructions("You write the final text.")
        .build()?;
    let fewer_turns = LimitOverrides {
        turns: Some(5),
        ..LimitOverrides::default()
    };
    Agent::builder("lead")
        .model(MODEL)
        .instructions("You have a topic explored, and hand what was found over to the editor.")
        .subagents([SubAgentEntry::new(&explorer).limits(fewer_turns)])
        .handoffs([&editor])
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let lead = lead()?;

    let mut arguments = env::args().skip(1);
    let engine = arguments.next().unwrap_or_else(|| "local".into());
    let topic = arguments.next().unwrap_or_else(|| "tea".into());
    let run_id = format!("lead-{topic}");
    let prompt = format!("Write about {topic}.");
    let text = match engine.as_str() {
        "memory" => lead.run(&prompt).await?,
        engine => {
            let worker = Worker::on(engine.parse()?)
                .task_queue("leads")
                .listen("127.0.0.1:0")
                .agent(&lead)
                .spawn()
                .await?;
            let run = lead.on(&worker).start(&run_id, &prompt).await?;
            let text = run.result().await?;
            worker.stop().await?;
            text
        }
    };
    println!("{text}");
    Ok(())
}
