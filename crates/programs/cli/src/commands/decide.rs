//! `neuron approve`, `deny`, `answer`, `complete` and `decide`

use std::time::Duration;

use neuron_engine::{Became, RunHandle};
use neuron_types::{Decision, Refusal, RunId, RunStatus, Ticket, TicketKind, Verdict};
use serde_json::{Value, json};

use crate::{
    CliError, Exit,
    args::{AlwaysName, AnswerArgs, ApproveArgs, ByArgs, CompleteArgs, DecideArgs, DecisionArgs},
    decisions::decider::Decider,
    runs::follow::is_executing,
    runs::served,
    session::Session,
    terminal::output::note,
    terminal::shown,
};

pub(crate) async fn approve(session: &Session, args: ApproveArgs) -> Result<Exit, CliError> {
    let edited = args
        .args
        .as_deref()
        .map(|text| object("the value of --args", text));
    let edited = edited.transpose()?;
    let DecisionArgs {
        run,
        ticket,
        by,
        always,
    } = args.decision;
    decide(session, &run, ticket, by, |_| {
        Ok(Decision {
            verdict: Verdict::Approve,
            args: edited,
            always: always.map(AlwaysName::always),
            ..Decision::default()
        })
    })
    .await
}

pub(crate) async fn deny(session: &Session, args: DecisionArgs) -> Result<Exit, CliError> {
    let DecisionArgs {
        run,
        ticket,
        by,
        always,
    } = args;
    decide(session, &run, ticket, by, |_| {
        Ok(Decision {
            verdict: Verdict::Deny,
            always: always.map(AlwaysName::always),
            ..Decision::default()
        })
    })
    .await
}

pub(crate) async fn answer(session: &Session, args: AnswerArgs) -> Result<Exit, CliError> {
    let text = args.text;
    decide(session, &args.run, Some(args.ticket), args.by, |open| {
        let is_form = open.is_some_and(|open| open.kind == TicketKind::Form);
        let (text, answers) = if is_form {
            (None, Some(object("the answer to a form", &text)?))
        } else {
            (Some(text), None)
        };
        Ok(Decision {
            verdict: Verdict::Answer,
            text,
            args: answers,
            ..Decision::default()
        })
    })
    .await
}

pub(crate) async fn complete(session: &Session, args: CompleteArgs) -> Result<Exit, CliError> {
    let output = args
        .output
        .as_deref()
        .map(|text| json_of("the result", text));
    let output = output.transpose()?;
    let token = args.token;
    decide(session, &args.run, Some(args.ticket), args.by, |_| {
        Ok(Decision {
            verdict: Verdict::Complete,
            output,
            token,
            ..Decision::default()
        })
    })
    .await
}

pub(crate) async fn choose(session: &Session, args: DecideArgs) -> Result<Exit, CliError> {
    let choice = Some(args.choice);
    decide(session, &args.run, Some(args.ticket), args.by, |_| {
        Ok(Decision {
            verdict: Verdict::Choose,
            choice,
            ..Decision::default()
        })
    })
    .await
}

/// Makes a decision of what `decide` says of the open ticket.
async fn decide(
    session: &Session,
    run: &RunId,
    ticket: Option<String>,
    by: ByArgs,
    decide: impl FnOnce(Option<&Ticket>) -> Result<Decision, CliError>,
) -> Result<Exit, CliError> {
    let run = session.run(run).await?;
    let status = run.status().await?;
    let ticket = match ticket {
        Some(ticket) => ticket,
        None => only_ticket(&status)?,
    };
    let open = status.approvals.iter().find(|open| open.ticket == ticket);
    let within = by.within;
    let session = session.signing(&by.sign);
    let decider = Decider::of(&session, &run, &status)?;
    let decision = Decision {
        // Of a ticket that is not open the engine says what became of it, whatever the digest.
        digest: by
            .digest
            .or_else(|| open.map(|open| open.digest.clone()))
            .unwrap_or_default(),
        ticket,
        comment: by.comment,
        ..decide(open)?
    };
    // Of a ticket that is not open there is nothing to sign.
    let decision = match open {
        Some(_) => decider.decided(decision, &status, by.approver).await?,
        None => Decider::unsigned(decision, by.approver),
    };
    let became = match run.decide(&decision).await {
        Ok(()) => became(&session, &run, open, &decision, within).await?,
        Err(error) => match error.refusal() {
            Some(Refusal::NotTaken { reason, .. }) => Some(Became::Rejected {
                reason: reason.clone(),
            }),
            _ => return Err(error.into()),
        },
    };
    match became {
        Some(Became::Rejected { reason }) => reject(&session, &run, &decision, reason),
        became => {
            tell(&session, &run, &decision, open, became.is_some()).await?;
            Ok(Exit::Done)
        }
    }
}

/// Waits a moment for what the run makes of it. Where nobody goes on with the run it says so when somebody does.
async fn became(
    session: &Session,
    run: &RunHandle,
    open: Option<&Ticket>,
    decision: &Decision,
    within: Duration,
) -> Result<Option<Became>, CliError> {
    let Some(open) = open else {
        return Ok(None);
    };
    if !is_executing(run).await? && !session.has_worker().await {
        return Ok(None);
    }
    // The decision was sent: what keeps the engine from being asked now does not take it back.
    Ok(run
        .became_of(open, decision, within)
        .await
        .unwrap_or_default())
}

/// Says that the run did not take it.
fn reject(
    session: &Session,
    run: &RunHandle,
    decision: &Decision,
    reason: String,
) -> Result<Exit, CliError> {
    let run_id = run.id().clone();
    let ticket = decision.ticket.clone();
    if session.output.is_json() {
        session.output.value(&json!({
            "run_id": run_id,
            "ticket": ticket,
            "accepted": false,
            "reason": reason,
            "verdict": decision.verdict,
        }))?;
    }
    Err(CliError::NotTaken {
        run_id,
        ticket,
        reason,
    })
}

async fn tell(
    session: &Session,
    run: &RunHandle,
    decision: &Decision,
    open: Option<&Ticket>,
    is_taken: bool,
) -> Result<(), CliError> {
    let run_id = run.id();
    let executing = is_executing(run).await?;
    if session.output.is_json() {
        session.output.value(&json!({
            "run_id": run_id,
            "ticket": decision.ticket,
            "accepted": is_taken.then_some(true),
            "verdict": decision.verdict,
            "executing": executing,
        }))?;
    } else {
        let verdict = decision.verdict.past();
        let call = open
            .and_then(|open| {
                let tool = open.tool.as_deref()?;
                let edited = decision.args.as_ref();
                let edited = edited.filter(|_| decision.verdict == Verdict::Approve);
                let args = edited.unwrap_or_else(|| open.args_or_null());
                Some(format!(": {}", shown::call(tool, args)))
            })
            .unwrap_or_default();
        let ticket = shown::line(&decision.ticket);
        let said = if is_taken {
            format!("ticket {ticket} of run {run_id} is {verdict}{call}")
        } else {
            let verdict = decision.verdict.as_str();
            format!(
                "ticket {ticket} of run {run_id}: {verdict} is sent, and looked at when the run resumes{call}"
            )
        };
        session.output.text(&said)?;
    }
    if !executing && !session.has_worker().await {
        note(&served::to_do(session, run).await);
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

fn json_of(what: &'static str, text: &str) -> Result<Value, CliError> {
    serde_json::from_str(text).map_err(|source| CliError::NotJson { what, source })
}

/// Arguments or answers that a person put in.
fn object(what: &'static str, text: &str) -> Result<Value, CliError> {
    let args = json_of(what, text)?;
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
