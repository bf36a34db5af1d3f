//! The trait that connects a model.

use std::{future::Future, sync::Arc};

use crate::{
    CompletionRequest, CompletionResponse, ProviderError, RunOrigin, StreamHandle, WasmBoxedFuture,
    WasmCompatSend, WasmCompatSync,
};

/// A model behind an API.
///
/// # Contract
///
/// 1. One call makes one attempt. Retrying belongs to the door, which reads
///    [`ProviderError::kind`] and [`ProviderError::retry_after`].
/// 2. Dropping the future closes the connection. The provider may still charge for the answer.
/// 3. The answer's blocks come back as received and in order, so that they can be replayed.
///
/// The request is borrowed, because a conversation of a thousand turns must not be copied for each call.
#[diagnostic::on_unimplemented(
    note = "to store providers of different types, use `Arc<dyn DynProvider>`: every `Provider` is one"
)]
pub trait Provider: WasmCompatSend + WasmCompatSync {
    /// Asks the model and waits for the whole answer.
    ///
    /// # Errors
    ///
    /// Whatever went wrong with this attempt, classified by [`ProviderError::kind`].
    fn complete(
        &self,
        request: &CompletionRequest,
    ) -> impl Future<Output = Result<CompletionResponse, ProviderError>> + WasmCompatSend;

    /// Asks the model and hands out its answer as it comes.
    ///
    /// A provider that cannot stream answers in one piece: that is the default.
    ///
    /// # Errors
    ///
    /// What went wrong before the first event. Later failures are [`StreamEvent::Error`](crate::StreamEvent::Error).
    fn complete_stream(
        &self,
        request: &CompletionRequest,
    ) -> impl Future<Output = Result<StreamHandle, ProviderError>> + WasmCompatSend {
        async move { self.complete(request).await.map(StreamHandle::from) }
    }

    /// Returns this provider for requests of one run, if it says to its server which run they are of. The executor asks for
    /// it before each request. One that wraps another passes this on.
    ///
    /// Default is `None`: the server is sent nothing of the run.
    fn of_run(&self, origin: RunOrigin<'_>) -> Option<Arc<dyn DynProvider>> {
        let _ = origin;
        None
    }
}

/// [`Provider`] behind `dyn`, for registries. Implemented for every provider.
pub trait DynProvider: WasmCompatSend + WasmCompatSync {
    /// See [`Provider::complete`].
    fn complete_dyn<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> WasmBoxedFuture<'a, Result<CompletionResponse, ProviderError>>;

    /// See [`Provider::complete_stream`].
    fn complete_stream_dyn<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> WasmBoxedFuture<'a, Result<StreamHandle, ProviderError>>;

    /// See [`Provider::of_run`].
    fn of_run_dyn(&self, origin: RunOrigin<'_>) -> Option<Arc<dyn DynProvider>>;
}

impl<P: Provider> DynProvider for P {
    fn complete_dyn<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> WasmBoxedFuture<'a, Result<CompletionResponse, ProviderError>> {
        Box::pin(self.complete(request))
    }

    fn complete_stream_dyn<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> WasmBoxedFuture<'a, Result<StreamHandle, ProviderError>> {
        Box::pin(self.complete_stream(request))
    }

    fn of_run_dyn(&self, origin: RunOrigin<'_>) -> Option<Arc<dyn DynProvider>> {
        self.of_run(origin)
    }
}
