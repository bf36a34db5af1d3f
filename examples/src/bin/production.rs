//! A durable production agent: its runs survive their process, on Temporal or in a journal. It has a tool of its own,
//! the built-in ones that read, a sub-agent, a guard that removes secrets from the results of tools and the answers of
//! models, and limits.
//!
//! ```console
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin production -- local staging
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin production -- steps staging
//! temporal server start-dev &
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin production -- temporal staging
//! ```
//!
//! Stop it with Ctrl-C and start it again: the run continues where it was. The program follows its events; on Temporal
//! any process can. There the conversation is also kept in the folder `sessions`, for the runs after it. With `steps`
//! this program executes the run in the journal step by step.

use std::{env, error::Error};

use neuron::{
    TurnResult,
    guards::TextGuard,
    prelude::*,
    sessions::{FileSessionStorage, SessionManager, SessionName, StoredSessions},
    temporal,
    types::{ContextPolicy, ContextRule, Message, RunEvent},
};

const MODEL: &str = "anthropic/claude-sonnet-5-5";
const SMALL_MODEL: &str = "anthropic/claude-haiku-5-5";

/// Deploys the newest version. To deploy it again changes nothing.
#[neuron_tool(idempotent, open_world)]
async fn deploy(
    /// Where to: staging or production.
    stage: String,
) -> Result<String, ToolError> {
    // A real tool would ask the machines.
    match stage.as_str() {
        "staging" | "production" => Ok(format!("the newest version is on {stage}")),
        other => Err(ToolError::ModelRetry(format!("there is no stage {other}"))),
    }
}

fn explorer() -> Result<Agent, neuron::AgentError> {
    Agent::builder("explorer")
        .description("Searches the code and says what it found.")
        .model(SMALL_MODEL)
        .instructions("Search and analyze the codebase.")
        .tools(builtin::read_only())
        .limits(Limits::turns(20))
        .build()
}

fn deployer(explorer: &Agent) -> Result<Agent, neuron::AgentError> {
    Agent::builder("deployer")
        .model(MODEL)
        .instructions("You are a production agent: you look at what has changed, and deploy it.")
        .tools(builtin::read_only())
        .tool(DeployTool)
        .subagents([explorer])
        .guard(TextGuard::secrets("no_secrets"))
        .context(ContextPolicy {
            rules: vec![
                ContextRule::ClearToolResults { keep: 10 },
                ContextRule::Summarize {
                    keep: 20,
                    model: Some(SMALL_MODEL.into()),
                    summary_prompt: None,
                },
            ],
            ..ContextPolicy::default()
        })
        .limits(Limits::turns(100))
        .build()
}

/// Prints the calls of a run, and returns its answer.
async fn follow(mut run: Run) -> Result<String, Box<dyn Error>> {
    while let Some(item) = run.next().await {
        if let RunItem::Event(recorded) = item?
            && let RunEvent::ToolCalled { tool, .. } = recorded.event
        {
            println!("[tool: {tool}]");
        }
    }
    Ok(run.finished()?.into_text()?)
}

/// Executes a run in the journal step by step.
async fn by_steps(agent: &Agent, run_id: &str, task: &str) -> Result<String, Box<dyn Error>> {
    let local = Local::open(".neuron").await?;
    let mut steps = agent.on(&local).steps(run_id, task).await?;
    while let Some(step) = steps.next().await {
        match step? {
            TurnResult::ToolExecuted { call, .. } => println!("[tool: {}]", call.name),
            TurnResult::CompactionOccurred { new_tokens, .. } => {
                println!("[compacted to {new_tokens} tokens]");
            }
            _ => {}
        }
    }
    Ok(steps.finished()?.into_text()?)
}

/// Serves the agent on Temporal, and follows one of its runs.
async fn on_temporal(agent: &Agent, run_id: &str, task: &str) -> Result<String, Box<dyn Error>> {
    let client = temporal::Client::connect().await?.task_queue("deployments");
    let sessions = SessionManager::new(FileSessionStorage::new("sessions"));
    let worker = temporal::Worker::builder()
        .task_queue("deployments")
        .agent(agent)
        .sessions(StoredSessions::new(sessions, client.runs()))
        .spawn()
        .await?;

    let mut request = RunRequest::new(agent.name(), Message::user(task));
    request.session = Some(SessionName::new("deployments")?);
    let run = agent.on(&client).start_request(run_id, request).await?;
    let text = follow(run).await?;
    worker.stop().await?;
    Ok(text)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let engine = arguments.next().unwrap_or_else(|| "local".into());
    let stage = arguments.next().unwrap_or_else(|| "staging".into());
    let agent = deployer(&explorer()?)?;
    let run_id = format!("deploy-{stage}");
    let task = format!("Deploy the new feature to {stage}");
    let text = match engine.as_str() {
        "local" => {
            let local = Local::open(".neuron").await?;
            follow(agent.on(&local).start(&run_id, &task).await?).await?
        }
        "steps" => by_steps(&agent, &run_id, &task).await?,
        "temporal" => on_temporal(&agent, &run_id, &task).await?,
        other => return Err(format!("{other} is none of local, steps, temporal").into()),
    };
    println!("{text}");
    Ok(())
}
