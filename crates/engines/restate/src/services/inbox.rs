//! The inbox of a run: an object that numbers its signals.
//!
//! Handlers that run beside a workflow cannot write its state, and a promise takes one value. So each run has
//! an object of its own, whose exclusive handler gives every signal the next number and has it delivered as
//! the workflow promise of that number, in one journal: a number that was given is delivered, whatever
//! crashes. The same handler takes one decision a ticket, or as many as the ticket needs.
//!
//! A run that has taken signals closes its inbox at its end. One that came in the run's last moment, and that it did
//! not take, leaves its number here. It does not count for a later run of the same id, which starts at another time.

use chrono::{DateTime, Utc};
use futures::{FutureExt, future::BoxFuture};
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
        messages::{Delivery, PutRequest},
        service_names::ServiceNames,
        settings_error::SettingsError,
    },
};

/// The state key of what was numbered.
const NUMBERED: &str = "numbered";

/// The signals of a run that have a number.
#[derive(Debug, Serialize, Deserialize)]
struct Numbered {
    /// When the run started.
    run: DateTime<Utc>,
    count: u64,
}

struct Inbox {
    names: ServiceNames,
}

impl Handlers for Inbox {
    const KIND: ServiceType = ServiceType::VirtualObject;

    fn manifest() -> Vec<Handler> {
        let put = json_handler("put", None, "Passes a signal on to the run.");
        let close = handler("close", None, "Forgets everything: the run is over.");
        put.into_iter().chain(close).collect()
    }

    fn handle<'a>(&'a self, ctx: &'a ContextInternal, handler: &'a str) -> BoxFuture<'a, bool> {
        async move {
            match handler {
                "put" => answer(ctx, |Json(put), metadata| self.put(ctx, metadata.key, put)).await,
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
    async fn put(
        &self,
        ctx: &ContextInternal,
        run_id: String,
        put: PutRequest,
    ) -> HandlerResult<()> {
        let PutRequest {
            run,
            signal,
            ticket,
            answered,
            missing,
        } = put;
        let count = numbered(ctx, run).await?;
        if let Some(ticket) = ticket {
            let key = format!("sent-{ticket}");
            let sent = ctx.get::<u32>(&key).await?.unwrap_or_default();
            // Those that the run has looked at are on their way no more.
            if sent.saturating_sub(answered) >= missing {
                let run_id = RunId::new(run_id).map_err(TerminalError::from_error)?;
                let refusal = Refusal::AlreadyDecided { run_id, ticket };
                return Err(TerminalError::from(Refused::from(refusal)).into());
            }
            ctx.set(&key, sent.saturating_add(1));
        }
        let seq = count + 1;
        ctx.set(NUMBERED, Json(Numbered { run, count: seq }));
        let target = RequestTarget::workflow(self.names.agent(), run_id, "deliver");
        let delivery = ctx.request::<_, ()>(target, Json(Delivery { seq, signal }));
        drop(delivery.send());
        Ok(())
    }
}

/// How many signals of the run that started then have a number. Forgets what another left.
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
    let options = ServiceOptions::new().ingress_private(true);
    let inbox = Inbox {
        names: names.clone(),
    };
    dispatch::definition(names.inbox(), inbox, short(options))
}
