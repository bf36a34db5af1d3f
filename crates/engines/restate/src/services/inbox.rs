//! The inbox of a run: an object that numbers its signals.
//!
//! Handlers that run beside a workflow cannot write its state, and a signal to an invocation of it takes one value. So
//! each run has its own object, whose exclusive handler gives every signal the next number and sends it to the run's
//! invocation under that number, in one journal: a number that was given is sent, whatever crashes. The same handler
//! accepts one decision per ticket, or as many as the ticket needs.
//!
//! A run that continues as new moves to another invocation, which attaches itself here: what the one before has not
//! received is sent to it again. So every signal is kept until it is known to be received.
//!
//! A run that has received signals closes its inbox at its end. A signal that arrived in the run's last moment, and
//! that it did not receive, stays here. It does not count for a later run of the same id, which starts at another time.

use chrono::{DateTime, Utc};
use futures::{FutureExt, future::BoxFuture};
use neuron_engine::CancelBody;
use neuron_types::{Refusal, RunId};
use restate_sdk::{
    discovery::{Handler, ServiceType},
    endpoint::{ContextInternal, ServiceOptions},
    errors::{HandlerResult, TerminalError},
    serde::Json,
    service::ServiceDefinition,
};
use serde::{Deserialize, Serialize};

use crate::{
    services::{
        dispatch::{self, Handlers, answer, handler, json_handler},
        options::short,
        refusal::Refused,
    },
    wire::{
        messages::{
            AT, Addressee, Attach, CANCELLED, CancelRequest, PutRequest, Signal, signal_key,
        },
        service_names::ServiceNames,
        settings_error::SettingsError,
    },
};

/// The state key of the numbers of signals.
const NUMBERED: &str = "numbered";

/// The state key of how many signals are not kept any more.
const FORGOTTEN: &str = "forgotten";

/// The signals of a run that have a number.
#[derive(Debug, Serialize, Deserialize)]
struct Numbered {
    /// When the run started.
    run: DateTime<Utc>,
    count: u64,
}

struct Inbox;

impl Handlers for Inbox {
    const KIND: ServiceType = ServiceType::VirtualObject;

    fn manifest() -> Vec<Handler> {
        let put = json_handler("put", None, "Passes a signal on to the run.");
        let cancel = json_handler("cancel", None, "Says to the run that it is cancelled.");
        let attach = json_handler(
            "attach",
            None,
            "Sends to this invocation from now on, and what was not taken again.",
        );
        let close = handler("close", None, "Forgets everything: the run is over.");
        [put, cancel, attach, close].into_iter().flatten().collect()
    }

    fn handle<'a>(&'a self, ctx: &'a ContextInternal, handler: &'a str) -> BoxFuture<'a, bool> {
        async move {
            match handler {
                "put" => answer(ctx, |Json(request), of| put(ctx, of.key, request)).await,
                "cancel" => answer(ctx, |Json(request), _| cancel(ctx, request)).await,
                "attach" => answer(ctx, |Json(request), _| attach(ctx, request)).await,
                "close" => {
                    answer(ctx, |(), _| async {
                        ctx.clear_all();
                        Ok(())
                    })
                    .await
                }
                _ => false,
            }
        }
        .boxed()
    }
}

async fn put(ctx: &ContextInternal, run_id: String, put: PutRequest) -> HandlerResult<()> {
    let PutRequest {
        to,
        signal,
        ticket,
        most,
    } = put;
    let count = numbered(ctx, to.run).await?;
    if let Some(ticket) = ticket {
        let key = format!("sent-{ticket}");
        let sent = ctx.get::<u32>(&key).await?.unwrap_or_default();
        if sent >= most {
            let run_id = RunId::new(run_id).map_err(TerminalError::from_error)?;
            let refusal = Refusal::AlreadyDecided { run_id, ticket };
            return Err(TerminalError::from(Refused::from(refusal)).into());
        }
        ctx.set(&key, sent.saturating_add(1));
    }
    let seq = count + 1;
    let run = to.run;
    ctx.set(NUMBERED, Json(Numbered { run, count: seq }));
    ctx.set(&kept(seq), Json(&signal));
    let at = attached(ctx, to).await?;
    ctx.resolve_signal(&at, &signal_key(seq), Json(signal));
    Ok(())
}

async fn cancel(ctx: &ContextInternal, request: CancelRequest) -> HandlerResult<()> {
    let CancelRequest { to, body } = request;
    let count = numbered(ctx, to.run).await?;
    let run = to.run;
    ctx.set(NUMBERED, Json(Numbered { run, count }));
    ctx.set(CANCELLED, Json(&body));
    let at = attached(ctx, to).await?;
    ctx.resolve_signal(&at, CANCELLED, Json(body));
    Ok(())
}

async fn attach(ctx: &ContextInternal, request: Attach) -> HandlerResult<()> {
    let Attach { to, taken } = request;
    let count = numbered(ctx, to.run).await?;
    let forgotten = ctx.get::<u64>(FORGOTTEN).await?.unwrap_or_default();
    for seq in forgotten + 1..=taken {
        ctx.clear(&kept(seq));
    }
    ctx.set(FORGOTTEN, taken.max(forgotten));
    for seq in taken + 1..=count {
        if let Some(Json(signal)) = ctx.get::<Json<Signal>>(&kept(seq)).await? {
            ctx.resolve_signal(&to.at, &signal_key(seq), Json(signal));
        }
    }
    if let Some(Json(body)) = ctx.get::<Json<CancelBody>>(CANCELLED).await? {
        ctx.resolve_signal(&to.at, CANCELLED, Json(body));
    }
    let run = to.run;
    ctx.set(NUMBERED, Json(Numbered { run, count }));
    ctx.set(AT, to.at);
    Ok(())
}

/// Returns the invocation that executes the run.
async fn attached(ctx: &ContextInternal, to: Addressee) -> Result<String, TerminalError> {
    Ok(ctx.get::<String>(AT).await?.unwrap_or(to.at))
}

/// Returns the state key of a signal that may not be received yet.
fn kept(seq: u64) -> String {
    format!("kept-{seq}")
}

/// Returns how many signals of the run that started at this time have a number. Forgets what another run left.
async fn numbered(ctx: &ContextInternal, run: DateTime<Utc>) -> Result<u64, TerminalError> {
    match ctx.get::<Json<Numbered>>(NUMBERED).await? {
        Some(Json(numbered)) if numbered.run == run => Ok(numbered.count),
        Some(_) => {
            ctx.clear_all();
            Ok(0)
        }
        None => Ok(0),
    }
}

pub(crate) fn definition(names: &ServiceNames) -> Result<ServiceDefinition, SettingsError> {
    // The kept signals are not sent along with every call.
    let options = ServiceOptions::new()
        .ingress_private(true)
        .enable_lazy_state(true);
    dispatch::definition(names.inbox(), Inbox, short(options))
}
