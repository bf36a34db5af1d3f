//! The record of a run that has rolled over: an object that keeps what later segments show and hand on.
//!
//! A segment runs beside the workflow's `run`, and Restate lets nobody else write a workflow's state. So
//! later segments have the run's status and events written here, as one-way calls that arrive in order. What
//! the next segment starts from is kept here too, and in no journal but those of the two.

use std::time::Duration;

use futures::{FutureExt, future::BoxFuture};
use neuron_types::{RecordedEvent, RunStatus};
use restate_sdk::{
    context::RequestTarget,
    discovery::{Handler, HandlerType, InputPayload, OutputPayload, ServiceType},
    endpoint::{ContextInternal, ServiceOptions},
    errors::TerminalError,
    serde::Json,
    service::ServiceDefinition,
};
use serde::{Deserialize, Serialize};

use crate::{
    ServiceNames, SettingsError,
    dispatch::{self, Handlers, answer, handler, json_handler},
    endpoint::short,
    events,
    wire::{EventsAfter, STATUS},
};

/// The state key of what the next segment starts from.
const CARRIED: &str = "carried";

/// How much longer than its run a record is kept: the server looks for runs to forget every hour.
const LONGER: Duration = Duration::from_secs(2 * 60 * 60);

/// News of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct News {
    pub(crate) status: RunStatus,
    pub(crate) events: Vec<RecordedEvent>,
}

struct RecordService;

impl Handlers for RecordService {
    const KIND: ServiceType = ServiceType::VirtualObject;

    fn manifest() -> Vec<Handler> {
        let shared = Some(HandlerType::Shared);
        let append = json_handler("append", None, "Adds events, and takes the status in.");
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
            handler("forget", None, "Forgets everything."),
        ];
        let all = [append, carry, carried, events].into_iter().chain(others);
        all.flatten().collect()
    }

    fn handle<'a>(&'a self, ctx: &'a ContextInternal, handler: &'a str) -> BoxFuture<'a, bool> {
        async move {
            match handler {
                "append" => {
                    answer(ctx, |Json(news), _| async {
                        append(ctx, news);
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
                        let status = ctx.get::<Json<RunStatus>>(STATUS).await?;
                        Ok(Json(status.map(Json::into_inner)))
                    })
                    .await
                }
                "events" => {
                    answer(ctx, |Json(wanted): Json<EventsAfter>, _| async move {
                        Ok(Json(events::read(ctx, wanted.after).await?))
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

fn append(ctx: &ContextInternal, news: News) {
    events::write(ctx, news.events);
    ctx.set(STATUS, Json(news.status));
}

fn lost(run_id: &str) -> TerminalError {
    TerminalError::new(format!(
        "nothing is kept that the next segment of run {run_id} could start from"
    ))
}

/// The record of one run, from where it is called.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    name: String,
    run_id: String,
}

impl Record {
    pub(crate) fn new(names: &ServiceNames, run_id: &str) -> Self {
        Self {
            name: names.record().to_owned(),
            run_id: run_id.to_owned(),
        }
    }

    fn target(&self, handler: &str) -> RequestTarget {
        RequestTarget::object(&*self.name, &*self.run_id, handler)
    }

    /// Has news added some time soon.
    pub(crate) fn append(&self, ctx: &ContextInternal, news: News) {
        drop(
            ctx.request::<_, ()>(self.target("append"), Json(news))
                .send(),
        );
    }

    /// Has news added, and waits until it is, and all that was sent before.
    pub(crate) async fn append_all(
        &self,
        ctx: &ContextInternal,
        news: News,
    ) -> Result<(), TerminalError> {
        let request = ctx.request::<_, ()>(self.target("append"), Json(news));
        request.call().await
    }

    /// Keeps what the next segment starts from, in the place of what this one started from.
    pub(crate) async fn carry(
        &self,
        ctx: &ContextInternal,
        carried: Vec<u8>,
    ) -> Result<(), TerminalError> {
        let request = ctx.request::<_, ()>(self.target("carry"), carried);
        request.call().await
    }

    pub(crate) async fn carried(&self, ctx: &ContextInternal) -> Result<Vec<u8>, TerminalError> {
        let request = ctx.request::<_, Vec<u8>>(self.target("carried"), ());
        request.call().await
    }

    /// The status, unless nothing was added yet.
    pub(crate) async fn status(
        &self,
        ctx: &ContextInternal,
    ) -> Result<Option<RunStatus>, TerminalError> {
        let request = ctx.request::<_, Json<Option<RunStatus>>>(self.target("status"), ());
        Ok(request.call().await?.into_inner())
    }

    /// A page of the events behind this number.
    pub(crate) async fn events(
        &self,
        ctx: &ContextInternal,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, TerminalError> {
        let wanted = Json(EventsAfter { after });
        let request = ctx.request::<_, Json<Vec<RecordedEvent>>>(self.target("events"), wanted);
        Ok(request.call().await?.into_inner())
    }

    /// Forgets what no segment needs any more at once, and everything some time after the run was kept for
    /// so long.
    pub(crate) fn end(&self, ctx: &ContextInternal, retention: Duration) {
        drop(ctx.request::<_, ()>(self.target("end"), ()).send());
        let forget = ctx.request::<_, ()>(self.target("forget"), ());
        drop(forget.send_after(retention.saturating_add(LONGER)));
    }
}

pub(crate) fn definition(names: &ServiceNames) -> Result<ServiceDefinition, SettingsError> {
    let options = ServiceOptions::new()
        .ingress_private(true)
        .enable_lazy_state(true);
    dispatch::definition(names.record(), RecordService, short(options))
}
