//! A workflow of a program in which two agents take turns, the same on every engine.
//!
//! ```console
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin review -- local "tea"
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin review -- temporal "tea"
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin review -- restate "tea"
//! ```
//!
//! The last two need the engine's server, which `neuron dev` starts.

use std::{env, error::Error};

use neuron::{
    prelude::*,
    workflow::{Door, DurableContext, Served as _, WorkflowError},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The task of the writer.
#[derive(Debug, Serialize, Deserialize)]
struct Topic {
    title: String,
    rounds: u32,
}

/// The text, and how often it was improved.
#[derive(Debug, Serialize, Deserialize)]
struct Text {
    text: String,
    mended: u32,
}

/// What the critic says of a text.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Remark {
    fine: bool,
    remark: String,
}

/// Lets a writer improve a text until a critic is content.
#[neuron::workflow(name = "review")]
async fn review<D: DurableContext>(door: &Door<D>, topic: Topic) -> Result<Text, WorkflowError> {
    let mut writer = door.scoped("writer")?;
    let mut critic = door.scoped("critic")?;
    let mut text = writer.ask(format!("Write about {}.", topic.title)).await?;
    for mended in 0..topic.rounds {
        let Remark { fine, remark } = critic.ask_for(&text).await?;
        if fine {
            return Ok(Text { text, mended });
        }
        text = writer.ask(remark).await?;
    }
    let mended = topic.rounds;
    Ok(Text { text, mended })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let writer = Agent::builder("writer")
        .model("anthropic/claude-sonnet-5-5")
        .instructions("You write one paragraph, and mend it as you are told.")
        .build()?;
    let critic = Agent::builder("critic")
        .model("anthropic/claude-sonnet-5-5")
        .instructions("You say whether a paragraph is fine, and what is to be mended.")
        .output::<Remark>()
        .build()?;
    let review = Review::with(&[&writer, &critic])?;

    let mut arguments = env::args().skip(1);
    let engine = arguments.next().unwrap_or_else(|| "local".into());
    let title = arguments.next().unwrap_or_else(|| "tea".into());
    let run_id = format!("review-{title}");
    let topic = Topic { title, rounds: 3 };
    let text = match engine.as_str() {
        "memory" => review.run(&topic).await?,
        engine => {
            let worker = Worker::on(engine.parse()?)
                .task_queue("reviews")
                .listen("127.0.0.1:0")
                .agent(&review)
                .spawn()
                .await?;
            let run = review.on(&worker).start(&run_id, &topic).await?;
            let text = run.result().await?;
            worker.stop().await?;
            text
        }
    };
    println!("{} (mended {} times)", text.text, text.mended);
    Ok(())
}
