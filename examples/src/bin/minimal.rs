//! The minimal agent: a model, instructions, and a policy for long conversations. It runs in memory.
//!
//! ```console
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin minimal -- "What is the capital of France?"
//! ```

use std::{env, error::Error};

use neuron::{
    prelude::*,
    types::{ContextPolicy, ContextRule},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = env::args()
        .nth(1)
        .unwrap_or_else(|| "What is the capital of France?".into());

    let agent = Agent::builder("assistant")
        .model("anthropic/claude-sonnet-5-5")
        .instructions("You are a helpful assistant.")
        // From 100,000 tokens on, the newest messages and the first one stay.
        .context(ContextPolicy {
            rules: vec![ContextRule::SlidingWindow { keep: 20 }],
            at_tokens: Some(100_000),
            ..ContextPolicy::default()
        })
        .build()?;
    println!("{}", agent.run(&question).await?);
    Ok(())
}
