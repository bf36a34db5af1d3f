//! This side as a server sees it: what it offers, and where a server's notices go.

#![allow(
    deprecated,
    reason = "the protocol is about to replace sampling and roots, and servers use them still"
)]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use neuron_types::ProgressReporter;
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
        ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode,
        FormElicitationCapability, Implementation, ListRootsResult, ProgressNotificationParam,
        ProgressToken, RootsCapabilities, SamplingCapability, UrlElicitationCapability,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;

use crate::{
    ElicitationAnswer, ElicitationForm, ElicitationRequest, McpClientHandler, McpError,
    handler::questions::Questions, handler::roots, handler::sampling, wire::harmless::shown,
};

/// How much of a server's progress message is passed on.
const MAX_MESSAGE_CHARS: usize = 500;

/// The client's handler for one connection.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) server: Arc<str>,
    pub(crate) handler: Arc<dyn McpClientHandler>,
    pub(crate) progress: Routes,
    pub(crate) questions: Questions,
}

/// The reporters of progress, by the request whose progress they report.
#[derive(Clone, Default)]
pub(crate) struct Routes(Arc<Mutex<HashMap<ProgressToken, Arc<dyn ProgressReporter>>>>);

impl Routes {
    pub(crate) fn open(&self, token: ProgressToken, reporter: Arc<dyn ProgressReporter>) {
        self.lock().insert(token, reporter);
    }

    pub(crate) fn close(&self, token: &ProgressToken) {
        self.lock().remove(token);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, Arc<dyn ProgressReporter>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for Side {
    fn get_info(&self) -> ClientConfig {
        let mut offered = ClientCapabilities::default();
        if self.handler.offers_sampling() {
            offered.sampling = Some(SamplingCapability::default());
        }
        if self.handler.offers_elicitation() {
            offered.elicitation = Some(
                ElicitationCapability::new()
                    .with_form(FormElicitationCapability::new())
                    .with_url(UrlElicitationCapability::default()),
            );
        }
        if !self.handler.roots().is_empty() {
            offered.roots = Some(RootsCapabilities::default());
        }
        ClientConfig::new(
            offered,
            Implementation::new("neuron", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let request = sampling::request(&self.server, params);
        let answer = async {
            let response = self.handler.handle_sampling_request(request).await?;
            sampling::answer(response)
        };
        self.unless_over(&context, answer).await
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(roots::answer(&*self.handler))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let (message, form) = match request {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => {
                let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                (message, ElicitationForm::Fields(schema))
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                (message, ElicitationForm::Visit(url))
            }
            _ => return Err(refusal(&McpError::NotOffered("this kind of elicitation"))),
        };
        let request = ElicitationRequest {
            server: self.server.as_ref().to_owned(),
            message,
            form,
        };
        let has_fields = matches!(request.form, ElicitationForm::Fields(_));
        let answer = self.handler.handle_elicitation_request(request);
        Ok(match self.unless_over(&context, answer).await? {
            // What a person says elsewhere is not this side's to know.
            ElicitationAnswer::Accept(_) if !has_fields => {
                ElicitResult::new(ElicitationAction::Accept)
            }
            ElicitationAnswer::Accept(fields) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(fields))
            }
            ElicitationAnswer::Decline => ElicitResult::new(ElicitationAction::Decline),
            ElicitationAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let reporter = self.progress.lock().get(&params.progress_token).cloned();
        if let Some(reporter) = reporter {
            let message = params
                .message
                .map(|message| shown(&message, MAX_MESSAGE_CHARS));
            reporter.report(params.progress, params.total, message.as_deref());
        }
    }
}

impl Side {
    /// Returns the answer to what the server asks, unless the server takes that back or the answer is no longer needed.
    async fn unless_over<T>(
        &self,
        context: &RequestContext<RoleClient>,
        answer: impl Future<Output = Result<T, McpError>>,
    ) -> Result<T, ErrorData> {
        let over = self.questions.ask().map_err(|error| refusal(&error))?;
        tokio::select! {
            answer = answer => answer.map_err(|error| refusal(&error)),
            () = context.ct.cancelled() => Err(refusal(&McpError::Cancelled)),
            () = over.cancelled() => Err(refusal(&McpError::Cancelled)),
        }
    }
}

fn refusal(error: &McpError) -> ErrorData {
    let code = match error {
        McpError::NotOffered(_) => ErrorCode::METHOD_NOT_FOUND,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    ErrorData::new(code, error.to_string(), None)
}
