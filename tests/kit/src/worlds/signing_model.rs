//! Models of providers that sign what they think.

use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, FailureKind, Message, Provider,
    ProviderError,
};
use serde_json::{Value, json};

use super::line::Line;

/// A model as [`ScriptedModel`](crate::ScriptedModel) whose provider adds reasoning with its signature, and other parts
/// that it alone reads, to every answer. It rejects a request with such a part of another provider.
#[derive(Debug, Clone)]
pub(crate) struct SigningModel {
    /// The name of the provider.
    pub(crate) name: &'static str,
    pub(crate) line: Line,
}

/// The names of the providers with such models.
pub(crate) const SIGNING: [&str; 2] = ["signing", "other-signing"];

impl SigningModel {
    fn signature(&self) -> String {
        format!("signed by {}", self.name)
    }

    /// Returns what only this provider reads.
    fn own(&self) -> Value {
        json!({"type": "note", "by": self.name})
    }

    /// Returns the part of a request that this provider does not accept.
    fn foreign<'a>(&self, request: &'a CompletionRequest) -> Option<&'a ContentBlock> {
        let mut blocks = request.messages.iter().flat_map(|message| &message.content);
        let own = self.own();
        let signature = self.signature();
        blocks.find(|block| match block {
            ContentBlock::Thinking { signature: by, .. } => by.as_ref() != Some(&signature),
            ContentBlock::RedactedThinking { data } => *data != signature,
            ContentBlock::Other(block) => *block != own,
            ContentBlock::ToolUse { extra, .. } => extra.as_ref().is_some_and(|it| *it != own),
            _ => false,
        })
    }

    fn sign(&self, answer: &mut Message) {
        let mut content = vec![
            ContentBlock::Thinking {
                thinking: "What is there to do?".to_owned(),
                signature: Some(self.signature()),
                field: None,
            },
            ContentBlock::RedactedThinking {
                data: self.signature(),
            },
            ContentBlock::Other(self.own()),
        ];
        content.append(&mut answer.content);
        for block in &mut content {
            if let ContentBlock::ToolUse { extra, .. } = block {
                *extra = Some(self.own());
            }
        }
        answer.content = content;
    }
}

impl Provider for SigningModel {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        if let Some(block) = self.foreign(request) {
            let message = format!("{} does not read {block:?}", self.name);
            return Err(ProviderError::new(FailureKind::InvalidRequest, message));
        }
        let mut response = self.line.ask_model(request).await?;
        self.sign(&mut response.message);
        Ok(response)
    }
}
