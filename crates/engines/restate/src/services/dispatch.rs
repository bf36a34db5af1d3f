//! From a request of the server to a handler.
//!
//! The SDK's macros write this code too. They fix a service's name when it is compiled, and lend handlers a
//! context whose steps must outlive it. Here the prefix is a setting, and the door only borrows its requests for
//! one call; so handlers get the context that the macros start from.

use std::{collections::HashMap, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use restate_sdk::{
    discovery::{Handler, HandlerName, HandlerType, InputPayload, OutputPayload, ServiceName},
    discovery::{Service as Manifest, ServiceType},
    endpoint::{ContextInternal, Error, InputMetadata, ServiceOptions},
    errors::HandlerResult,
    serde::{Deserialize, Json, Serialize},
    service::{Service, ServiceDefinition, macro_support::service_definition},
};

use super::request_body::RequestBody;
use crate::wire::settings_error::SettingsError;

/// The handlers of a service.
pub(crate) trait Handlers: Send + Sync + 'static {
    /// The kind of service.
    const KIND: ServiceType;

    /// Returns its handlers, as they are announced to the server.
    fn manifest() -> Vec<Handler>;

    /// Answers a request with [`answer`]; returns `false` if there is no such handler.
    fn handle<'a>(&'a self, ctx: &'a ContextInternal, handler: &'a str) -> BoxFuture<'a, bool>;
}

/// Reads the input, calls the handler, and writes the result.
pub(crate) async fn answer<'a, I, O, F>(
    ctx: &'a ContextInternal,
    handler: impl FnOnce(I, InputMetadata) -> F,
) -> bool
where
    I: Deserialize,
    O: Serialize,
    F: Future<Output = HandlerResult<O>> + 'a,
{
    let (RequestBody(input), metadata) = ctx.input::<RequestBody<I>>().await;
    let result = handler(input, metadata).await;
    ctx.handle_handler_result(result);
    ctx.end();
    true
}

struct Dispatcher<S>(Arc<S>);

impl<S: Handlers> Service for Dispatcher<S> {
    type Future = BoxFuture<'static, Result<(), Error>>;

    fn handle(&self, ctx: ContextInternal) -> Self::Future {
        let service = Arc::clone(&self.0);
        async move {
            if service.handle(&ctx, ctx.handler_name()).await {
                return Ok(());
            }
            let (service, handler) = (ctx.service_name(), ctx.handler_name());
            Err(Error::unknown_handler(service, handler))
        }
        .boxed()
    }
}

/// Returns the definition of a service under this name.
pub(crate) fn definition<S: Handlers>(
    name: &str,
    service: S,
    options: ServiceOptions,
) -> Result<ServiceDefinition, SettingsError> {
    let prefix = || SettingsError::Prefix(name.to_owned());
    let manifest = Manifest {
        name: ServiceName::try_from(name).map_err(|_| prefix())?,
        ty: S::KIND,
        handlers: S::manifest(),
        documentation: None,
        metadata: HashMap::new(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    };
    let definition = service_definition(Dispatcher(Arc::new(service)), manifest);
    Ok(definition.options(options))
}

/// Describes a handler that takes JSON and answers JSON. Returns `None` if Restate does not accept the name.
pub(crate) fn json_handler(
    name: &str,
    kind: Option<HandlerType>,
    documentation: &str,
) -> Option<Handler> {
    let handler = handler(name, kind, documentation)?;
    Some(Handler {
        input: Some(InputPayload::from_metadata::<Json<()>>()),
        output: Some(OutputPayload::from_metadata::<Json<()>>()),
        ..handler
    })
}

/// Describes a handler that takes nothing and answers JSON.
pub(crate) fn handler(
    name: &str,
    kind: Option<HandlerType>,
    documentation: &str,
) -> Option<Handler> {
    Some(Handler {
        name: HandlerName::try_from(name).ok()?,
        ty: kind,
        input: Some(InputPayload::empty()),
        output: Some(OutputPayload::from_metadata::<Json<()>>()),
        documentation: Some(documentation.to_owned()),
        metadata: HashMap::new(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        workflow_completion_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    })
}
