//! A model of a test that answers according to the last message.

use futures::{FutureExt as _, future::BoxFuture};
use neuron::{
    Agent, AgentBuilder, Model,
    types::{
        CompletionRequest, CompletionResponse, ContentBlock, FailureKind, Message, Provider,
        ProviderError, Role,
    },
};

/// The answer, or why it is missing.
pub(crate) type Said = Result<String, String>;

/// A model that answers according to the last message.
pub(crate) struct Mind(Box<dyn Fn(String) -> BoxFuture<'static, Said> + Send + Sync>);

impl Mind {
    pub(crate) fn new<F: Future<Output = Said> + Send + 'static>(
        says: impl Fn(String) -> F + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(move |told| says(told).boxed()))
    }
}

impl Provider for Mind {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let told = request.messages.last().unwrap().text();
        let text = (self.0)(told).await;
        let text = text.map_err(|why| ProviderError::new(FailureKind::InvalidRequest, why))?;
        Ok(CompletionResponse {
            message: Message {
                role: Role::Assistant,
                content: vec![ContentBlock::Text(text)],
            },
            ..CompletionResponse::default()
        })
    }
}

/// Returns an agent of this model.
pub(crate) fn agent(name: &str, mind: Mind) -> AgentBuilder {
    Agent::builder(name).model(Model::of(mind, "mind"))
}

/// Returns an agent that answers with this function.
pub(crate) fn says(name: &str, says: impl Fn(&str) -> String + Send + Sync + 'static) -> Agent {
    let mind = Mind::new(move |told| futures::future::ready(Ok(says(&told))));
    agent(name, mind).build().unwrap()
}
