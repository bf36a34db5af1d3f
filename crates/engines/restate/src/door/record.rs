//! Calls of a run's record.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{RecordedEvent, RunStatus};
use restate_sdk::{
    context::RequestTarget, endpoint::ContextInternal, errors::TerminalError, serde::Json,
};

use crate::wire::{messages::EventsAfter, pages::Page, service_names::ServiceNames};

/// How much longer a record is kept than its run: the server looks for runs to forget every hour.
const LONGER: Duration = Duration::from_secs(2 * 60 * 60);

/// The record of one run, for its callers.
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

    /// Sends a page to be added some time soon.
    pub(crate) fn append(&self, ctx: &ContextInternal, page: Page) {
        drop(
            ctx.request::<_, ()>(self.target("append"), Json(page))
                .send(),
        );
    }

    /// Sends a page to be added, and waits until it is, and all that was sent before.
    pub(crate) async fn append_all(
        &self,
        ctx: &ContextInternal,
        page: Page,
    ) -> Result<(), TerminalError> {
        let request = ctx.request::<_, ()>(self.target("append"), Json(page));
        request.call().await
    }

    /// Begins the record of a run that started at this time. The record of an earlier run of the same id is dropped.
    pub(crate) fn begin(&self, ctx: &ContextInternal, started_at: DateTime<Utc>) {
        let begin = ctx.request::<_, ()>(self.target("begin"), Json(started_at));
        drop(begin.send());
    }

    /// Stores the state that the next segment starts from, in place of the state that this one started from.
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

    /// Returns the status, unless nothing was added yet.
    pub(crate) async fn status(
        &self,
        ctx: &ContextInternal,
    ) -> Result<Option<RunStatus>, TerminalError> {
        let request = ctx.request::<_, Json<Option<RunStatus>>>(self.target("status"), ());
        Ok(request.call().await?.into_inner())
    }

    /// Returns a page of the events behind this number.
    pub(crate) async fn events(
        &self,
        ctx: &ContextInternal,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, TerminalError> {
        let wanted = Json(EventsAfter { after });
        let request = ctx.request::<_, Json<Vec<RecordedEvent>>>(self.target("events"), wanted);
        Ok(request.call().await?.into_inner())
    }

    /// Forgets at once what no segment needs any more, and everything else some time after Restate has forgotten the
    /// run, which started at this time.
    pub(crate) fn end(
        &self,
        ctx: &ContextInternal,
        retention: Duration,
        started_at: DateTime<Utc>,
    ) {
        drop(ctx.request::<_, ()>(self.target("end"), ()).send());
        let forget = ctx.request::<_, ()>(self.target("forget"), Json(started_at));
        drop(forget.send_after(retention.saturating_add(LONGER)));
    }
}
