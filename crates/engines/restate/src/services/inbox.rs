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
//! A run that starts others attaches itself before it does. Its children send their signals here without a detour by the
//! run's own handlers, which would look up what stands here already. Only their ends do not take this way: each goes to
//! the run's first invocation, under a name of its own.
//!
//! A run that has received signals closes its inbox at its end. A signal that arrived in the run's last moment, and
//! that it did not receive, stays here. It does not count for a later run of the same id, which starts at another time.

use chrono::{DateTime, Utc};
use futures::{FutureExt, future::BoxFuture};
use neuron_engine::CancelBody;
use neuron_types::{Refusal, RunId};
use restate_sdk::{
    context::RequestTarget,
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
            Addressee, Attach, CANCELLED, CancelRequest, NamedSignal, PutRequest, Signal,
            signal_key,
        },
        service_names::ServiceNames,
        settings_error::SettingsError,
    },
};

/// The state key of what is known of the run.
const KNOWN: &str = "numbered";

/// The state key of how many signals are not kept any more.
const FORGOTTEN: &str = "forgotten";

/// The run and its signals that have a number.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    /// When the run started.
    run: DateTime<Utc>,
    count: u64,
    /// The invocation that executes the run, if one has attached itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

impl Known {
    /// Returns what is known of this run. Forgets what another run left.
    async fn of(ctx: &ContextInternal, run: DateTime<Utc>) -> Result<Self, TerminalError> {
        let known = ctx.get::<Json<Self>>(KNOWN).await?;
        Ok(match known {
            Some(Json(known)) if known.run == run => known,
            other => {
                if other.is_some() {
                    ctx.clear_all();
                }
                Self {
                    run,
                    count: 0,
                    at: None,
                }
            }
        })
    }

    /// Gives the signal the next number, and sends it to this invocation.
    fn send(&mut self, ctx: &ContextInternal, at: &str, signal: Signal) {
        self.count += 1;
        ctx.set(KNOWN, Json(&*self));
        ctx.set(&kept(self.count), Json(&signal));
        ctx.resolve_signal(at, &signal_key(self.count), Json(signal));
    }

    /// Returns the invocation that executes the run.
    fn at(&self, to: Addressee) -> String {
        self.at.clone().unwrap_or(to.at)
    }
}

struct Inbox {
    names: ServiceNames,
}

impl Handlers for Inbox {
    const KIND: ServiceType = ServiceType::VirtualObject;

    fn manifest() -> Vec<Handler> {
        let put = json_handler("put", None, "Passes a signal on to the run.");
        let signal = json_handler("signal", None, "Passes a signal of another run on.");
        let cancel = json_handler("cancel", None, "Notifies the run that it is cancelled.");
        let attach = json_handler(
            "attach",
            None,
            "Sends to this invocation from now on, and again what the one before did not receive.",
        );
        let close = handler("close", None, "Forgets everything: the run is over.");
        let all = [put, signal, cancel, attach, close];
        all.into_iter().flatten().collect()
    }

    fn handle<'a>(&'a self, ctx: &'a ContextInternal, handler: &'a str) -> BoxFuture<'a, bool> {
        async move {
            match handler {
                "put" => answer(ctx, |Json(request), of| put(ctx, of.key, request)).await,
                "signal" => answer(ctx, |Json(signal), of| self.signal(ctx, of.key, signal)).await,
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

impl Inbox {
    /// Passes on a signal of another run. A run that has not attached itself may not have begun, or may be over: its own
    /// handler finds out.
    async fn signal(
        &self,
        ctx: &ContextInternal,
        run_id: String,
        signal: Signal,
    ) -> HandlerResult<()> {
        if let Some(Json(mut known)) = ctx.get::<Json<Known>>(KNOWN).await?
            && let Some(at) = known.at.clone()
        {
            known.send(ctx, &at, signal);
            return Ok(());
        }
        let target = RequestTarget::workflow(self.names.agent(), run_id, "signal");
        let signal = NamedSignal::of_run(signal.name, signal.payload);
        drop(ctx.request::<_, ()>(target, Json(signal)).send());
        Ok(())
    }
}

async fn put(ctx: &ContextInternal, run_id: String, put: PutRequest) -> HandlerResult<()> {
    let PutRequest {
        to,
        signal,
        ticket,
        most,
    } = put;
    let mut known = Known::of(ctx, to.run).await?;
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
    let at = known.at(to);
    known.send(ctx, &at, signal);
    Ok(())
}

async fn cancel(ctx: &ContextInternal, request: CancelRequest) -> HandlerResult<()> {
    let CancelRequest { to, body } = request;
    let known = Known::of(ctx, to.run).await?;
    ctx.set(KNOWN, Json(&known));
    ctx.set(CANCELLED, Json(&body));
    ctx.resolve_signal(&known.at(to), CANCELLED, Json(body));
    Ok(())
}

async fn attach(ctx: &ContextInternal, request: Attach) -> HandlerResult<()> {
    let Attach { to, taken } = request;
    let mut known = Known::of(ctx, to.run).await?;
    // What arrived before the first invocation attached itself was sent to that invocation.
    if let Some(taken) = taken {
        let forgotten = ctx.get::<u64>(FORGOTTEN).await?.unwrap_or_default();
        for seq in forgotten + 1..=taken {
            ctx.clear(&kept(seq));
        }
        ctx.set(FORGOTTEN, taken.max(forgotten));
        for seq in taken + 1..=known.count {
            if let Some(Json(signal)) = ctx.get::<Json<Signal>>(&kept(seq)).await? {
                ctx.resolve_signal(&to.at, &signal_key(seq), Json(signal));
            }
        }
        if let Some(Json(body)) = ctx.get::<Json<CancelBody>>(CANCELLED).await? {
            ctx.resolve_signal(&to.at, CANCELLED, Json(body));
        }
        known.at = None;
    }
    known.at.get_or_insert(to.at);
    ctx.set(KNOWN, Json(known));
    Ok(())
}

/// Returns the state key of a signal that may not be received yet.
fn kept(seq: u64) -> String {
    format!("kept-{seq}")
}

pub(crate) fn definition(names: &ServiceNames) -> Result<ServiceDefinition, SettingsError> {
    // The kept signals are not sent along with every call.
    let options = ServiceOptions::new()
        .ingress_private(true)
        .enable_lazy_state(true);
    let inbox = Inbox {
        names: names.clone(),
    };
    dispatch::definition(names.inbox(), inbox, short(options))
}
