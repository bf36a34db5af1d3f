//! The messages and exit codes of a command about a run that it followed.

use neuron_types::{ExitReason, RunOutput, RunPhase, RunStatus};

use crate::{
    CliError, Exit, runs::served::server_of, runs::tickets, runs::tree::Tree, session::Session,
    terminal::describe, terminal::output::note, terminal::progress::Progress, terminal::shown,
};

/// Reports that the run is over: its answer is written to standard output, the rest to standard error. An answer that
/// `progress` already showed while it arrived is not written again.
///
/// # Errors
///
/// [`CliError::Stdout`], unless the reader is gone: then the run's end still decides the exit.
pub(crate) fn over(
    session: &Session,
    output: &RunOutput,
    progress: Option<&Progress>,
) -> Result<Exit, CliError> {
    note(&summary(output));
    let told = if session.output.is_json() {
        session.output.counts(output)
    } else {
        let ended_by_itself = matches!(output.state, RunPhase::Completed | RunPhase::LimitReached);
        match &output.output {
            Some(text) if progress.is_some_and(|progress| progress.has_shown(text)) => Ok(()),
            Some(text) if ended_by_itself => session.output.text(text),
            _ => Ok(()),
        }
    };
    match told {
        Err(error) if !error.is_broken_pipe() => Err(error),
        _ => Ok(Exit::of_phase(output.state)),
    }
}

/// Reports that the run waits for a person, who does not decide here and now.
///
/// # Errors
///
/// The errors of [`over`].
pub(crate) async fn parked(session: &Session, status: &RunStatus) -> Result<Exit, CliError> {
    note(&left(session, status).await);
    unfinished(session, status)
}

/// Returns why a run that no process executes does not continue, and what to type.
pub(crate) async fn left(session: &Session, status: &RunStatus) -> String {
    let server = server_of(session, status).await;
    if status.state.waits_for_person() {
        return tickets::parked(session, status, &server);
    }
    let run_id = &status.run_id;
    let to_do = server.to_do(session, run_id);
    match &asking_below(session, status).await[..] {
        [] => format!("run {run_id} was interrupted, and no process executes it; {to_do}"),
        asking => format!(
            "run {run_id} waits for people, who are asked in {}: {} lists the questions and what to type; after that \
             {to_do}",
            asking.join(", "),
            session.typed(&format!("approvals {run_id}"))
        ),
    }
}

/// Returns the runs below one in which people are asked, as far as they are known.
async fn asking_below(session: &Session, status: &RunStatus) -> Vec<String> {
    let Ok(run) = session.run_to_look_at(&status.run_id).await else {
        return Vec::new();
    };
    let Ok(tree) = Tree::below(&run, status.clone()).await else {
        return Vec::new();
    };
    let below = tree.known().filter(|below| below.run_id != status.run_id);
    let asking = below.filter(|below| below.state.waits_for_person());
    asking.map(|below| below.run_id.to_string()).collect()
}

/// Reports that the run was cut off, and that no process executes it.
///
/// # Errors
///
/// The errors of [`over`].
pub(crate) async fn cut_off(session: &Session, status: &RunStatus) -> Result<Exit, CliError> {
    note(&left(session, status).await);
    unfinished(session, status)
}

fn unfinished(session: &Session, status: &RunStatus) -> Result<Exit, CliError> {
    if session.output.is_json() {
        match session.output.counts(&status.output(None)) {
            Err(error) if !error.is_broken_pipe() => return Err(error),
            _ => {}
        }
    }
    Ok(Exit::Waits)
}

fn summary(output: &RunOutput) -> String {
    let run_id = &output.run_id;
    let turns = match output.turns {
        1 => "1 turn".to_owned(),
        turns => format!("{turns} turns"),
    };
    let cost = output
        .cost_usd
        .map(|cost| format!(", {}", describe::cost(cost)))
        .unwrap_or_default();
    let spent = format!("{turns}, {}{cost}", describe::tokens(&output.usage));
    match output.state {
        RunPhase::Completed => format!("run {run_id} completed: {spent}"),
        RunPhase::LimitReached => {
            let limit = limit(output.exit_reason);
            match &output.error {
                // It is unknown whether the limit was met.
                Some(error) => {
                    let why = shown::line(&error.message);
                    let what = match output.exit_reason {
                        Some(ExitReason::MaxTokens) => "a limit of tokens",
                        Some(ExitReason::MaxCost) => "a limit of cost",
                        _ => "a limit",
                    };
                    format!("error: run {run_id} ended at {what}: {why} ({spent})")
                }
                None => format!("error: run {run_id} ended at {limit} ({spent})"),
            }
        }
        RunPhase::Cancelled => {
            // Without a reason the message adds nothing to the state.
            let reason = output.error.as_ref().map(|error| error.message.as_str());
            let reason = reason
                .filter(|reason| *reason != "the run was cancelled")
                .map(|reason| format!(": {}", shown::line(reason)))
                .unwrap_or_default();
            format!("error: run {run_id} was cancelled{reason} ({spent})")
        }
        _ => {
            let why = output
                .error
                .as_ref()
                .map(|error| format!(": {}: {}", error.kind, shown::line(&error.message)))
                .unwrap_or_default();
            format!("error: run {run_id} failed{why} ({spent})")
        }
    }
}

fn limit(reason: Option<ExitReason>) -> &'static str {
    match reason {
        Some(ExitReason::MaxTurns) => {
            "its limit of turns: raise `turns` in the agent's limits and run it again"
        }
        Some(ExitReason::MaxToolCalls) => {
            "its limit of tool calls: raise `tool_calls` in the agent's limits and run it again"
        }
        Some(ExitReason::MaxTokens) => {
            "a limit of tokens: raise `tokens` in the agent's limits, or `max_tokens` if an answer was cut"
        }
        Some(ExitReason::MaxCost) => {
            "its limit of cost: raise `cost_usd` in the agent's limits and run it again"
        }
        Some(ExitReason::MaxDuration) => {
            "its limit of time: raise `duration` in the agent's limits and run it again"
        }
        Some(ExitReason::Deadline) => {
            "its deadline: raise `deadline` in the agent's limits and run it again"
        }
        _ => "a limit: see the agent's limits",
    }
}
