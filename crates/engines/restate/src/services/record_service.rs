//! The record of a run that has continued as new: an object that keeps what later segments show and hand on.
//!
//! A segment runs beside the workflow's `run`, and in Restate only `run` itself may write a workflow's state. So
//! later segments store the run's status and events here, with one-way calls that arrive in order. The state that
//! the next segment starts from is kept here too, and in no journal except those of the two segments.

use chrono::{DateTime, Utc};
use futures::{FutureExt, future::BoxFuture};
use restate_sdk::{
    discovery::{Handler, HandlerType, InputPayload, OutputPayload, ServiceType},
    endpoint::{ContextInternal, ServiceOptions},
    errors::TerminalError,
    serde::Json,
    service::ServiceDefinition,
};

use crate::{
    services::{
        dispatch::{self, Handlers, answer, handler, json_handler},
        options::short,
    },
    wire::{
        messages::EventsAfter, pages, service_names::ServiceNames, settings_error::SettingsError,
    },
};

/// The state key of the state that the next segment starts from.
const CARRIED: &str = "carried";

/// The state key of the time when the run started.
const RUN: &str = "run";

struct RecordService;

impl Handlers for RecordService {
    const KIND: ServiceType = ServiceType::VirtualObject;

    fn manifest() -> Vec<Handler> {
        let shared = Some(HandlerType::Shared);
        let begin = json_handler("begin", None, "Forgets what an earlier run has left.");
        let append = json_handler("append", None, "Adds a page of events.");
        let carry = handler("carry", None, "Keeps what the next segment starts from.");
        let carry = carry.map(|carry| Handler {
            input: Some(InputPayload::from_metadata::<Vec<u8>>()),
            ..carry
        });
        let carried = handler("carried", shared, "What the next segment starts from.");
        let carried = carried.map(|carried| Handler {
            output: Some(OutputPayload::from_metadata::<Vec<u8>>()),
            ..carried
        });
        let events = json_handler("events", shared, "The first events behind number `after`.");
        let others = [
            handler("status", shared, "Where the run stands."),
            handler("end", None, "Forgets what no segment needs any more."),
            json_handler(
                "forget",
                None,
                "Forgets everything of the run that started then.",
            ),
        ];
        let all = [begin, append, carry, carried, events]
            .into_iter()
            .chain(others);
        all.flatten().collect()
    }

    fn handle<'a>(&'a self, ctx: &'a ContextInternal, handler: &'a str) -> BoxFuture<'a, bool> {
        async move {
            match handler {
                "begin" => {
                    answer(ctx, |Json(started): Json<DateTime<Utc>>, _| async move {
                        if run(ctx).await? != Some(started) {
                            ctx.clear_all();
                            ctx.set(RUN, Json(started));
                        }
                        Ok(())
                    })
                    .await
                }
                "append" => {
                    answer(ctx, |Json(page), _| async {
                        pages::write(ctx, page);
                        Ok(())
                    })
                    .await
                }
                "carry" => {
                    answer(ctx, |carried: Vec<u8>, _| async move {
                        ctx.set(CARRIED, carried);
                        Ok(())
                    })
                    .await
                }
                "carried" => {
                    answer(ctx, |(), of| async move {
                        let carried = ctx.get::<Vec<u8>>(CARRIED).await?;
                        Ok(carried.ok_or_else(|| lost(&of.key))?)
                    })
                    .await
                }
                "status" => {
                    answer(ctx, |(), _| async {
                        Ok(Json(pages::keys(ctx).await?.status(ctx).await?))
                    })
                    .await
                }
                "events" => {
                    answer(ctx, |Json(wanted): Json<EventsAfter>, _| async move {
                        Ok(Json(
                            pages::keys(ctx).await?.events(ctx, wanted.after).await?,
                        ))
                    })
                    .await
                }
                "end" => {
                    answer(ctx, |(), _| async {
                        ctx.clear(CARRIED);
                        Ok(())
                    })
                    .await
                }
                "forget" => {
                    answer(ctx, |Json(started): Json<DateTime<Utc>>, _| async move {
                        // The record may belong to a later run of the same id by now.
                        if run(ctx).await? == Some(started) {
                            ctx.clear_all();
                        }
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

/// Returns when the run of this record started.
async fn run(ctx: &ContextInternal) -> Result<Option<DateTime<Utc>>, TerminalError> {
    let run = ctx.get::<Json<DateTime<Utc>>>(RUN).await?;
    Ok(run.map(Json::into_inner))
}

fn lost(run_id: &str) -> TerminalError {
    TerminalError::new(format!(
        "nothing is kept that the next segment of run {run_id} could start from"
    ))
}

pub(crate) fn definition(names: &ServiceNames) -> Result<ServiceDefinition, SettingsError> {
    let options = ServiceOptions::new()
        .ingress_private(true)
        .enable_lazy_state(true);
    dispatch::definition(names.record(), RecordService, short(options))
}
