//! `neuron approve`, `deny`, `answer`, `complete` and `decide`

use std::time::Duration;

use neuron_engine::{Became, RunHandle};
use neuron_types::{Decision, Refusal, RunId, Ticket, TicketKind, Verdict};
use serde_json::{Value, json};

use crate::{
    CliError, Exit,
    args::{AlwaysName, AnswerArgs, ApproveArgs, ByArgs, CompleteArgs, DecideArgs, DecisionArgs},
    decisions::decider::Decider,
    runs::served,
    runs::target::{Target, Verb},
    session::Session,
    terminal::output::note,
    terminal::shown,
};

const APPROVE: Verb = Verb {
    name: "approve",
    rest: "",
};
const DENY: Verb = Verb {
    name: "deny",
    rest: "",
};
const ANSWER: Verb = Verb {
    name: "answer",
    rest: " TEXT",
};
const COMPLETE: Verb = Verb {
    name: "complete",
    rest: " JSON",
};
const CHOOSE: Verb = Verb {
    name: "decide",
    rest: " CHOICE",
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
    decide(session, APPROVE, &run, ticket, by, |_| {
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
    decide(session, DENY, &run, ticket, by, |_| {
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
    decide(
        session,
        ANSWER,
        &args.run,
        Some(args.ticket),
        args.by,
        |open| {
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
        },
    )
    .await
}

pub(crate) async fn complete(session: &Session, args: CompleteArgs) -> Result<Exit, CliError> {
    let output = args
        .output
        .as_deref()
        .map(|text| json_of("the result", text));
    let output = output.transpose()?;
    let token = args.token;
    decide(
        session,
        COMPLETE,
        &args.run,
        Some(args.ticket),
        args.by,
        |_| {
            Ok(Decision {
                verdict: Verdict::Complete,
                output,
                token,
                ..Decision::default()
            })
        },
    )
    .await
}

pub(crate) async fn choose(session: &Session, args: DecideArgs) -> Result<Exit, CliError> {
    let choice = Some(args.choice);
    decide(
        session,
        CHOOSE,
        &args.run,
        Some(args.ticket),
        args.by,
        |_| {
            Ok(Decision {
                verdict: Verdict::Choose,
                choice,
                ..Decision::default()
            })
        },
    )
    .await
}

/// Makes a decision from what `decide` returns for the open ticket.
async fn decide(
    session: &Session,
    verb: Verb,
    run: &RunId,
    ticket: Option<String>,
    by: ByArgs,
    decide: impl FnOnce(Option<&Ticket>) -> Result<Decision, CliError>,
) -> Result<Exit, CliError> {
    let run = session.run(run).await?;
    let target = Target::of(session, run, ticket, verb).await?;
    let open = target.open();
    let within = by.within;
    let session = session.signing(&by.sign);
    let decider = Decider::of(&session, &target.run, &target.status)?;
    let decision = Decision {
        // If a ticket is not open, the engine reports how it was closed, whatever the digest.
        digest: by
            .digest
            .or_else(|| open.map(|open| open.digest.clone()))
            .unwrap_or_default(),
        ticket: target.ticket.clone(),
        comment: by.comment,
        ..decide(open)?
    };
    // If a ticket is not open, there is nothing to sign.
    let decision = match open {
        Some(_) => {
            decider
                .decided(decision, &target.status, by.approver)
                .await?
        }
        None => Decider::unsigned(decision, by.approver),
    };
    let became = match target.run.decide(&decision).await {
        Ok(()) => became(&session, &target, &decision, within).await?,
        Err(error) => match error.refusal() {
            Some(Refusal::NotTaken { reason, .. }) => Some(Became::Rejected {
                reason: reason.clone(),
            }),
            _ => return Err(target.refused(&session, error, verb).await),
        },
    };
    match became {
        Some(Became::Rejected { reason }) => reject(&session, &target.run, &decision, reason),
        became => {
            tell(&session, &target, &decision, became.is_some()).await?;
            Ok(Exit::Done)
        }
    }
}

/// Waits a moment for the run's reaction to the decision. If the run is not executed, it reacts when it is resumed.
async fn became(
    session: &Session,
    target: &Target,
    decision: &Decision,
    within: Duration,
) -> Result<Option<Became>, CliError> {
    let Some(open) = target.open() else {
        return Ok(None);
    };
    if !target.is_executing().await? && !session.has_worker().await {
        return Ok(None);
    }
    // The decision was sent: an error in asking the engine now does not take it back.
    Ok(target
        .run
        .became_of(open, decision, within)
        .await
        .unwrap_or_default())
}

/// Reports that the run rejected the decision.
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
    target: &Target,
    decision: &Decision,
    is_taken: bool,
) -> Result<(), CliError> {
    let run_id = target.run.id();
    let executing = target.is_executing().await?;
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
        let call = target
            .open()
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
                "ticket {ticket} of run {run_id}: {verdict} is sent, and the run applies it when it resumes{call}"
            )
        };
        session.output.text(&said)?;
    }
    if !executing && !session.has_worker().await {
        note(&served::to_do(session, target.resumed()).await);
    }
    Ok(())
}

fn json_of(what: &'static str, text: &str) -> Result<Value, CliError> {
    serde_json::from_str(text).map_err(|source| CliError::NotJson { what, source })
}

/// Parses arguments or answers that a person entered.
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
