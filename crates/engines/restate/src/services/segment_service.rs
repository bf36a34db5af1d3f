//! The service that continues runs that have continued as new.
//!
//! Restate calls the newest deployment of a service. So each deployment that has a name has its own service for this: a
//! run continues where it began, with the directory and the build that it has there, for as long as that deployment is
//! served.

use futures::{FutureExt, future::BoxFuture};
use restate_sdk::{
    discovery::{Handler, ServiceType},
    endpoint::{ContextInternal, HandlerOptions, ServiceOptions},
    service::ServiceDefinition,
};

use crate::{
    services::{
        dispatch::{self, Handlers, answer, handler},
        options::restarts,
        segments::Segments,
    },
    wire::settings_error::SettingsError,
};

struct SegmentService(Segments);

impl Handlers for SegmentService {
    const KIND: ServiceType = ServiceType::VirtualObject;

    fn manifest() -> Vec<Handler> {
        let segment = handler("segment", None, "Goes on with a run that continues as new.");
        segment.into_iter().collect()
    }

    fn handle<'a>(&'a self, ctx: &'a ContextInternal, handler: &'a str) -> BoxFuture<'a, bool> {
        async move {
            match handler {
                "segment" => {
                    answer(ctx, |(), of| {
                        let is_again = self.0.worker.retried.has(&of.invocation_id);
                        self.0.go_on(ctx, of, is_again)
                    })
                    .await
                }
                _ => false,
            }
        }
        .boxed()
    }
}

pub(crate) fn definition(segments: Segments) -> Result<ServiceDefinition, SettingsError> {
    let settings = &segments.settings;
    let segment = HandlerOptions::new()
        .inactivity_timeout(settings.inactivity)
        .abort_timeout(settings.abort)
        .journal_retention(settings.retention);
    let options = ServiceOptions::new()
        .enable_lazy_state(true)
        .ingress_private(true)
        .handler("segment", segment);
    let name = segments.names.segments(settings.deployment.as_deref());
    dispatch::definition(&name, SegmentService(segments), restarts(options))
}
