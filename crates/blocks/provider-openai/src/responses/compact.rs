use neuron_provider_http::lenient;
use neuron_types::{
    CompletionRequest, ContentBlock, FailureKind, Message, ProviderError, Role, TokenUsage,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    OpenAiResponses, failure,
    responses::answer::{Seen, Usage, take_item},
    responses::request::{Body, Purpose},
};

/// A conversation that the API made smaller.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Compacted {
    /// Takes the place of exactly the messages that were sent. What was said since follows it. It must not be
    /// changed.
    pub messages: Vec<Message>,
    /// What making it used.
    pub usage: TokenUsage,
}

#[derive(Debug, Deserialize)]
struct Compaction {
    output: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Usage,
}

impl OpenAiResponses {
    /// Asks the API to compact the conversation, without an answer to it: what was said by the user stays, and an
    /// opaque item stands for the rest.
    ///
    /// `request` is the one that would be sent next, with the same instructions as ever; every call in it must
    /// have its result.
    ///
    /// # Errors
    ///
    /// As [`Provider::complete`](neuron_types::Provider::complete). An answer without a compaction is a failure
    /// with the code `compaction_failed`: the conversation stays as it was.
    pub async fn compact(&self, request: &CompletionRequest) -> Result<Compacted, ProviderError> {
        let body = Body::new(request, &self.settings, Purpose::Compaction)?;
        let http = self.http.at(&["responses", "compact"]);
        let reply = http.post(&body, &[]).await?;
        let compacted = http.answer(&reply, failure::read, Compaction::read)?;
        compacted.ok_or_else(|| {
            ProviderError::new(
                FailureKind::Unavailable,
                "openai answered without a compaction: keep the conversation and try again",
            )
            .with_code("compaction_failed")
        })
    }
}

impl Compaction {
    /// Returns `None` if it is no compaction at all; nothing in it if no compaction was made.
    fn read(self) -> Option<Option<Compacted>> {
        let mut messages: Vec<Message> = Vec::new();
        let mut seen = Seen::default();
        for item in self.output? {
            let role = role(&item);
            let mut content = Vec::new();
            if role == Role::Assistant {
                take_item(item, &mut content, &mut seen);
            } else {
                content.push(ContentBlock::Other(item));
            }
            match messages.last_mut().filter(|last| last.role == role) {
                Some(last) => last.content.append(&mut content),
                None => messages.push(Message { role, content }),
            }
        }
        Some(seen.compaction.then(|| Compacted {
            messages,
            usage: self.usage.into(),
        }))
    }
}

fn role(item: &Value) -> Role {
    match item.get("role").and_then(Value::as_str) {
        Some("user") => Role::User,
        Some("system" | "developer") => Role::System,
        _ => Role::Assistant,
    }
}
