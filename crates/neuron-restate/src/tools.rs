//! The tool service: tool calls that run beside each other, each an invocation of its own.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture, lock::Mutex};
use neuron_types::{DurableError, ToolOutput};
use restate_sdk::{
    discovery::{Handler, ServiceType},
    endpoint::{ContextInternal, ServiceOptions},
    errors::{HandlerResult, TerminalError},
    serde::Json,
    service::ServiceDefinition,
};

use crate::{
    SettingsError,
    cancellation::Cancellation,
    dispatch::{self, Handlers, answer, json_handler},
    endpoint::restarts,
    executors::Acting,
    meter::Meter,
    steps::Steps,
    telling::Telling,
    wire::{Attempted, Stop, ToolRequest},
};

/// A tool that says nothing for longer is asked to suspend, and its cancellation is not noticed any more.
const INACTIVITY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long it may go on after that.
const ABORT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a call looks out for its cancellation.
const WATCH: Duration = Duration::from_secs(23 * 60 * 60);

struct ToolService {
    acting: Acting,
}

impl Handlers for ToolService {
    const KIND: ServiceType = ServiceType::Service;

    fn manifest() -> Vec<Handler> {
        let call = json_handler("call", None, "Makes one tool call, with its attempts.");
        call.into_iter().collect()
    }

    fn handle<'a>(&'a self, ctx: &'a ContextInternal, handler: &'a str) -> BoxFuture<'a, bool> {
        async move {
            match handler {
                "call" => answer(ctx, |Json(request), _| self.call(ctx, request)).await,
                _ => false,
            }
        }
        .boxed()
    }
}

impl ToolService {
    async fn call(
        &self,
        ctx: &ContextInternal,
        request: ToolRequest,
    ) -> HandlerResult<Json<Attempted<ToolOutput>>> {
        // Nobody sends this signal: cancelling the invocation ends every wait.
        let stop = Box::pin(ctx.signal::<Json<Stop>>("stop"));
        let steps = Steps {
            ctx,
            acting: &self.acting,
            run_id: &request.run_id,
            agent: &request.agent,
            watch: WATCH,
            cancellation: Mutex::new(Cancellation::new(stop)),
            meter: Meter::default(),
            telling: Telling::new(Arc::clone(&self.acting.sink)),
        };
        let performed = steps
            .perform(&request.call, &request.options, &request.events)
            .await;
        match performed {
            Ok((at, result)) => Ok(Json(Attempted {
                at,
                result,
                stop: None,
            })),
            Err(DurableError::Cancelled { .. }) => {
                Err(TerminalError::new_with_code(409, "cancelled").into())
            }
            Err(error) => Err(TerminalError::new(error.to_string()).into()),
        }
    }
}

pub(crate) fn definition(name: &str, acting: Acting) -> Result<ServiceDefinition, SettingsError> {
    let options = ServiceOptions::new()
        .ingress_private(true)
        .inactivity_timeout(INACTIVITY)
        .abort_timeout(ABORT);
    dispatch::definition(name, ToolService { acting }, restarts(options))
}
