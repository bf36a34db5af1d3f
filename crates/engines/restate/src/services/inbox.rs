//! The inbox of a run: an object that numbers its signals.
//!
//! Handlers that run beside a workflow cannot write its state, and a promise takes one value. So each run has
//! an object of its own, whose exclusive handler gives every signal the next number and has it delivered as
//! the workflow promise of that number, in one journal: a number that was given is delivered, whatever
//! crashes. The same handler takes one decision a ticket.

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

const COUNT: &str = "count";

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
        if let Some(ticket) = put.ticket {
            let key = format!("decided-{ticket}");
            if ctx.get::<bool>(&key).await?.is_some() {
                let run_id = RunId::new(run_id).map_err(TerminalError::from_error)?;
                let refusal = Refusal::AlreadyDecided { run_id, ticket };
                return Err(TerminalError::from(Refused::from(refusal)).into());
            }
            ctx.set(&key, true);
        }
        let seq = ctx.get::<u64>(COUNT).await?.unwrap_or(0) + 1;
        ctx.set(COUNT, seq);
        let signal = put.signal;
        let target = RequestTarget::workflow(self.names.agent(), run_id, "deliver");
        let delivery = ctx.request::<_, ()>(target, Json(Delivery { seq, signal }));
        drop(delivery.send());
        Ok(())
    }
}

pub(crate) fn definition(names: &ServiceNames) -> Result<ServiceDefinition, SettingsError> {
    let options = ServiceOptions::new().ingress_private(true);
    let inbox = Inbox {
        names: names.clone(),
    };
    dispatch::definition(names.inbox(), inbox, short(options))
}
