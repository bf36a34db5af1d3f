//! `neuron submit`

use neuron_engine::RunHandle;
use neuron_executor::ClientSpan;
use neuron_types::{Overrides, RunPhase, RunRequest};
use serde_json::json;
use tracing::Instrument as _;

use crate::{
    CliError, Exit,
    args::SubmitArgs,
    commands::wait,
    runs::follow::is_executing,
    runs::order::{Order, trace_around},
    runs::served::{Server, server_of},
    session::Session,
    terminal::output::note,
    terminal::shown,
};

pub(crate) async fn submit(session: &Session, args: SubmitArgs) -> Result<Exit, CliError> {
    let engine = session.global.engine;
    let session = &session.signing(&args.sign);
    // The engine comes before the prompt, which may take long.
    let opened = session.engine().await?;
    let agent = session.global.agent();
    let overrides = args.run.changes.overrides();
    check(session, agent, &overrides)?;
    let order = Order::read(args.run)?;
    // The worker knows the agent's definition.
    let run_id = order.run_id.clone();
    let (stored, preamble) = order.take_session(session).await?;
    let client = ClientSpan::begin(agent, trace_around());
    let request = RunRequest {
        preamble,
        trace: client.context(),
        ..order.request(agent, overrides)
    };
    if args.wait {
        note(&format!("run {run_id}: agent {}", shown::line(agent)));
    }
    let started = RunHandle::start(opened, run_id, request)
        .instrument(client.span().clone())
        .await;
    drop(client);
    let run = match (started, &stored) {
        (Err(error), Some(stored)) => {
            let is_refused = error.is_run_exists() || error.is_rejected();
            stored.not_started(session, is_refused).await?;
            return Err(error.into());
        }
        (run, _) => run?,
    };
    if args.wait {
        say_who_executes(session, &run).await;
        if session.is_local() {
            taken_up(&run).await?;
        }
        let exit = wait::to_the_end(session, &run, Some(0)).await?;
        if let Some(stored) = stored {
            stored.settle(session).await?;
        }
        return Ok(exit);
    }
    say_who_executes(session, &run).await;
    let run_id = run.id();
    if session.output.is_json() {
        let value = json!({ "run_id": run_id, "engine": engine.as_str(), "state": "running" });
        session.output.value(&value)?;
    } else {
        session.output.text(run_id.as_str())?;
    }
    Ok(Exit::Done)
}

/// Reports that no process executes a local run.
async fn say_who_executes(session: &Session, run: &RunHandle) {
    if session.is_local() && !session.has_worker().await {
        let run_id = run.id();
        let server = match run.status().await {
            Ok(status) => server_of(session, &status).await,
            Err(_) => Server::Command,
        };
        let begins = match server {
            Server::Program { agent, .. } => {
                format!("when the program runs that serves its agent {agent:?}")
            }
            _ => format!(
                "when `neuron worker` runs here, or with {}",
                session.resume_command(run_id)
            ),
        };
        note(&format!(
            "no worker runs here: run {run_id} begins {begins}"
        ));
    }
}

/// Waits until a process executes a local run, or the run has made progress already.
async fn taken_up(run: &RunHandle) -> Result<(), CliError> {
    loop {
        let status = run.status().await?;
        let waits = matches!(status.state, RunPhase::Running | RunPhase::Interrupted);
        if !waits || status.turn > 0 || is_executing(run).await? {
            return Ok(());
        }
        tokio::time::sleep(run.client().poll_interval(0)).await;
    }
}

/// Rejects overrides that the agent does not accept, if the file of its worker is named. The worker checks them in any
/// case.
fn check(session: &Session, agent: &str, overrides: &Overrides) -> Result<(), CliError> {
    if session.global.config.is_none() || overrides.is_empty() {
        return Ok(());
    }
    let file = session.agent_file_as_it_is()?;
    // The tools of MCP servers are known to the worker.
    let known = Overrides {
        tools: None,
        ..overrides.clone()
    };
    file.definition(agent)?.narrowed(&known)?;
    Ok(())
}
