//! Estimating how many tokens a request takes, without the model's tokenizer.

use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, DocumentSource, Message, SystemPrompt,
    TokenCalibration, ToolDefinition, json_bytes,
};
use serde_json::Value;

/// What a picture counts: about what the large providers charge for one of full size.
const IMAGE_TOKENS: u64 = 1_600;
/// What a document counts whose text is not in the message: a PDF or an address. Three pages or so.
const DOCUMENT_TOKENS: u64 = 6_000;
/// What a message takes beside its content: its role and its delimiters.
const MESSAGE_TOKENS: u64 = 4;
/// What a tool call, a tool result or a tool's definition takes beside its own text: the id and the keys.
const FRAME_TOKENS: u64 = 8;

/// Estimates tokens from the length of the text.
///
/// The same input always gives the same estimate, in time linear in the number of blocks. A text counts by
/// its UTF-8 bytes: in ASCII a byte is a character, and in scripts where a character has two or three bytes
/// it also takes more tokens. A picture counts 1,600 tokens. A document counts its text where that is in
/// the message, else 6,000 tokens.
///
/// It is an estimate: models differ by a third and more. What a provider reported is better where it
/// is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenCounter {
    chars_per_token: f64,
}

impl Default for TokenCounter {
    fn default() -> Self {
        Self {
            chars_per_token: 4.0,
        }
    }
}

impl TokenCounter {
    /// Sets how many characters a token has. Default is 4.0, which also replaces a number that is not
    /// finite or not above zero.
    #[must_use]
    pub fn new(chars_per_token: f64) -> Self {
        if chars_per_token.is_finite() && chars_per_token > 0.0 {
            Self { chars_per_token }
        } else {
            Self::default()
        }
    }

    /// A counter for a model that reported this. Both numbers are those of a run's
    /// [`calibration`](neuron_types::ContextRecord::calibration), or sums of your own:
    /// [`estimate_request`](Self::estimate_request) of this counter, and the input tokens that came back.
    ///
    /// The loop itself needs none: it corrects the estimates of a run by what the provider reports in it.
    ///
    /// ```
    /// use neuron_context::TokenCounter;
    /// use neuron_types::TokenCalibration;
    ///
    /// let counter = TokenCounter::default();
    /// let text = "Ein Satz, der mehr Tokens hat, als die Schätzung sagt. ".repeat(100);
    /// let mut calibration = TokenCalibration::default();
    /// calibration.observe(counter.estimate_text(&text), 1_890);
    /// assert_eq!(counter.calibrated(calibration).estimate_text(&text), 1_890);
    /// ```
    #[must_use]
    pub fn calibrated(self, calibration: TokenCalibration) -> Self {
        // In parts per million, so that the rules of `apply` hold here too.
        const WHOLE: u64 = 1_000_000;
        let factor = calibration.apply(WHOLE) as f64 / WHOLE as f64;
        Self::new(self.chars_per_token / factor)
    }

    /// Estimates a text. An empty one has no tokens, any other at least one.
    #[must_use]
    pub fn estimate_text(&self, text: &str) -> u64 {
        self.of_length(text.len())
    }

    /// Estimates one message.
    #[must_use]
    pub fn estimate_message(&self, message: &Message) -> u64 {
        message
            .content
            .iter()
            .fold(MESSAGE_TOKENS, |sum, block| sum + self.block(block))
    }

    /// Estimates these messages: the sum of [`estimate_message`](Self::estimate_message).
    #[must_use]
    pub fn estimate_messages(&self, messages: &[Message]) -> u64 {
        messages
            .iter()
            .map(|message| self.estimate_message(message))
            .sum()
    }

    /// Estimates what these tools take in a request.
    #[must_use]
    pub fn estimate_tools(&self, tools: &[ToolDefinition]) -> u64 {
        tools
            .iter()
            .map(|tool| {
                FRAME_TOKENS
                    + self.estimate_text(&tool.name)
                    + self.estimate_text(&tool.description)
                    + self.json(&tool.input_schema)
            })
            .sum()
    }

    /// Estimates a whole request: its instructions, its tools and its messages.
    #[must_use]
    pub fn estimate_request(&self, request: &CompletionRequest) -> u64 {
        let system = match &request.system {
            None => 0,
            Some(SystemPrompt::Text(text)) => self.estimate_text(text),
            Some(SystemPrompt::Blocks(blocks)) => blocks
                .iter()
                .map(|block| self.estimate_text(&block.text))
                .sum(),
        };
        system + self.estimate_tools(&request.tools) + self.estimate_messages(&request.messages)
    }

    /// Estimates the content of a tool's result.
    pub(crate) fn items(&self, items: &[ContentItem]) -> u64 {
        items
            .iter()
            .map(|item| match item {
                ContentItem::Text(text) => self.estimate_text(text),
                _ => IMAGE_TOKENS,
            })
            .sum()
    }

    fn block(&self, block: &ContentBlock) -> u64 {
        match block {
            ContentBlock::Text(text) | ContentBlock::Compaction { content: text } => {
                self.estimate_text(text)
            }
            ContentBlock::Thinking {
                thinking,
                signature,
                ..
            } => {
                let signature = signature.as_deref().unwrap_or_default();
                self.of_length(thinking.len().saturating_add(signature.len()))
            }
            ContentBlock::RedactedThinking { data } => self.estimate_text(data),
            ContentBlock::ToolUse { name, input, .. } => {
                FRAME_TOKENS + self.estimate_text(name) + self.json(input)
            }
            ContentBlock::ToolResult(result) => FRAME_TOKENS + self.items(&result.content),
            ContentBlock::Image { .. } => IMAGE_TOKENS,
            ContentBlock::Document { source } => match source {
                DocumentSource::PlainText { data } => self.estimate_text(data),
                DocumentSource::Base64Pdf { .. } | DocumentSource::Url { .. } => DOCUMENT_TOKENS,
            },
            ContentBlock::Other(value) => self.json(value),
            _ => FRAME_TOKENS,
        }
    }

    fn json(&self, value: &Value) -> u64 {
        // A JSON value can always be written.
        self.of_length(json_bytes(value).unwrap_or_default())
    }

    fn of_length(&self, length: usize) -> u64 {
        (length as f64 / self.chars_per_token).ceil() as u64
    }
}
