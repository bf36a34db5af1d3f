//! `neuron approve` and `neuron deny`

use neuron_engine::RunHandle;
use neuron_types::{ApprovalTicket, Decision, RunStatus, Verdict};
use serde_json::{Value, json};

use crate::{
    CliError, Exit,
    args::{ApproveArgs, DecisionArgs},
    runs::follow::is_executing,
    session::Session,
    terminal::output::note,
    terminal::shown,
    whoami::whoami,
};

pub(crate) async fn approve(session: &Session, args: ApproveArgs) -> Result<Exit, CliError> {
    let edited = args.args.as_deref().map(object).transpose()?;
    decide(session, args.decision, Verdict::Approve, edited).await
}

pub(crate) async fn deny(session: &Session, args: DecisionArgs) -> Result<Exit, CliError> {
    decide(session, args, Verdict::Deny, None).await
}

async fn decide(
    session: &Session,
    args: DecisionArgs,
    verdict: Verdict,
    edited: Option<Value>,
) -> Result<Exit, CliError> {
    let run = session.run(&args.run).await?;
    let status = run.status().await?;
    let ticket = match args.ticket {
        Some(ticket) => ticket,
        None => only_ticket(&status)?,
    };
    let open = status.approvals.iter().find(|open| open.ticket == ticket);
    let decision = Decision {
        // Of a ticket that is not open the engine says what became of it, whatever the digest.
        digest: args
            .digest
            .or_else(|| open.map(|open| open.digest.clone()))
            .unwrap_or_default(),
        ticket,
        verdict,
        args: edited,
        comment: args.comment,
        approver: Some(args.approver.unwrap_or_else(whoami)),
        remember: args.remember,
    };
    run.decide(&decision).await?;
    tell(session, &run, &decision, open).await?;
    Ok(Exit::Done)
}

async fn tell(
    session: &Session,
    run: &RunHandle,
    decision: &Decision,
    open: Option<&ApprovalTicket>,
) -> Result<(), CliError> {
    let run_id = run.id();
    let executing = is_executing(run).await?;
    if session.output.is_json() {
        session.output.value(&json!({
            "run_id": run_id,
            "ticket": decision.ticket,
            "accepted": true,
            "verdict": decision.verdict,
            "executing": executing,
        }))?;
    } else {
        let verdict = match decision.verdict {
            Verdict::Approve => "approved",
            Verdict::Deny => "denied",
        };
        let call = open
            .map(|open| {
                let args = decision.args.as_ref().unwrap_or(&open.args);
                format!(": {}", shown::call(&open.tool, args))
            })
            .unwrap_or_default();
        let ticket = shown::line(&decision.ticket);
        session.output.text(&format!(
            "ticket {ticket} of run {run_id} is {verdict}{call}"
        ))?;
    }
    if !executing {
        note(&format!(
            "go on with it: {}",
            session.resume_command(run_id)
        ));
    }
    Ok(())
}

/// The ticket that is meant where none is named.
fn only_ticket(status: &RunStatus) -> Result<String, CliError> {
    let run_id = status.run_id.clone();
    match status.approvals.as_slice() {
        [] => Err(CliError::NoOpenTicket { run_id }),
        [only] => Ok(only.ticket.clone()),
        several => Err(CliError::SeveralTickets {
            run_id,
            tickets: several.iter().map(|open| open.ticket.clone()).collect(),
        }),
    }
}

/// Arguments that a person put in.
fn object(text: &str) -> Result<Value, CliError> {
    let args = serde_json::from_str(text).map_err(|source| CliError::NotJson {
        what: "the value of --args",
        source,
    })?;
    let found = match &args {
        Value::Object(_) => return Ok(args),
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
    };
    Err(CliError::NotAnObject { found })
}
