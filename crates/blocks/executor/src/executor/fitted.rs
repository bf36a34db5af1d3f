//! A request as one model of a list is sent it.

use std::borrow::Cow;

use neuron_types::{CompletionRequest, ContentBlock, Message, Role, ThinkingConfig};

/// A model of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed<'a> {
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
}

impl<'a> Listed<'a> {
    /// Parses `provider/model`. `None` if it names no provider.
    pub(crate) fn parse(name: &'a str) -> Option<Self> {
        let (provider, model) = name.split_once('/')?;
        Some(Self { provider, model })
    }

    /// Returns `provider/model`.
    pub(crate) fn name(self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

/// Returns the request for one model of its list, whose first is `own`. Nothing is copied for the first while no other
/// has answered.
///
/// Left out is what only another provider reads: of the messages that it answered its reasoning and its native blocks, of
/// the head the thinking, context management and further fields, which are those of the first model's provider.
pub(crate) fn fitted<'a>(
    request: &'a CompletionRequest,
    own: Listed<'_>,
    to: Listed<'_>,
) -> Cow<'a, CompletionRequest> {
    let is_adapted = holds_foreign(request, to.provider);
    if own == to && !is_adapted {
        return Cow::Borrowed(request);
    }
    let mut fitted = request.clone();
    if is_adapted {
        let messages = request.messages.iter();
        let messages: Vec<Message> = messages
            .filter_map(|message| match is_foreign(message, to.provider) {
                true => neutral(message),
                false => Some(message.clone()),
            })
            .collect();
        fitted.messages = messages.into();
    }
    let head = fitted.head_mut();
    head.fallback_models.clear();
    head.provider = Some(to.provider.to_owned());
    to.model.clone_into(&mut head.model);
    if to.provider != own.provider {
        head.thinking = None;
        head.context_management = None;
        head.extra = None;
    }
    let has_budget = matches!(head.thinking, Some(ThinkingConfig::Enabled { .. }));
    if has_budget && answers_foreign(request, to.provider) {
        // A model that thinks with a budget has to have begun the turn with its own thinking.
        head.thinking = None;
    }
    Cow::Owned(fitted)
}

/// Returns what [`fitted`] leaves out of the request for another provider than the first model's, each a sentence.
pub(crate) fn left_out(
    request: &CompletionRequest,
    own: Listed<'_>,
    to: Listed<'_>,
) -> Vec<String> {
    let head = &request.head;
    let is_other = to.provider != own.provider;
    let settings = [
        ("thinking", head.thinking.is_some()),
        ("context_management", head.context_management.is_some()),
        ("extra", head.extra.is_some()),
    ];
    let settings = settings
        .into_iter()
        .filter(|(_, is_set)| *is_set && is_other);
    settings
        .map(|(name, _)| {
            format!(
                "the setting `{name}` is left out for {}: it is for {} alone",
                to.name(),
                own.provider
            )
        })
        .collect()
}

/// Returns whether one of several models answered in this conversation, whichever that was.
pub(crate) fn was_answered_by_several(request: &CompletionRequest) -> bool {
    let answers = request.messages.iter();
    let mut answers = answers.filter(|message| message.role == Role::Assistant);
    answers.any(|message| message.answered_by().is_some())
}

/// Returns whether a model of another provider answered in this conversation.
pub(crate) fn holds_foreign(request: &CompletionRequest, provider: &str) -> bool {
    let mut messages = request.messages.iter();
    messages.any(|message| is_foreign(message, provider))
}

/// Returns whether a model of another provider asked for what is being answered.
fn answers_foreign(request: &CompletionRequest, provider: &str) -> bool {
    let is_prompt = |message: &&Message| {
        let mut content = message.content.iter();
        message.role == Role::User
            && !content.any(|block| matches!(block, ContentBlock::ToolResult(_)))
    };
    let messages = request.messages.iter().rev();
    let mut turn = messages.take_while(|message| !is_prompt(message));
    turn.any(|message| is_foreign(message, provider))
}

fn is_foreign(message: &Message, provider: &str) -> bool {
    let author = message.answered_by().and_then(Listed::parse);
    author.is_some_and(|author| author.provider != provider)
}

/// Returns what every provider can read of a message; `None` if that is nothing.
fn neutral(message: &Message) -> Option<Message> {
    let content = message.content.iter().filter_map(|block| match block {
        ContentBlock::Thinking { .. }
        | ContentBlock::RedactedThinking { .. }
        | ContentBlock::AnsweredBy { .. }
        | ContentBlock::Other(_) => None,
        ContentBlock::ToolUse {
            id, name, input, ..
        } => Some(ContentBlock::tool_use(id, name, input.clone())),
        ContentBlock::Compaction { content } => Some(ContentBlock::Text(content.clone())),
        block => Some(block.clone()),
    });
    let content: Vec<ContentBlock> = content.collect();
    (!content.is_empty()).then_some(Message {
        role: message.role,
        content,
    })
}

#[cfg(test)]
mod tests {
    use neuron_types::RequestHead;
    use serde_json::json;

    use super::*;

    const CLAUDE: Listed<'_> = Listed {
        provider: "anthropic",
        model: "claude",
    };
    const GPT: Listed<'_> = Listed {
        provider: "openai",
        model: "gpt",
    };

    fn answer(by: Listed<'_>, mut content: Vec<ContentBlock>) -> Message {
        content.push(ContentBlock::AnsweredBy { model: by.name() });
        Message::answer(content)
    }

    fn request(messages: Vec<Message>) -> CompletionRequest {
        let head = RequestHead {
            provider: Some("anthropic".into()),
            model: "claude".into(),
            fallback_models: vec!["openai/gpt".into()],
            thinking: Some(ThinkingConfig::Enabled {
                budget_tokens: 2_000,
            }),
            extra: Some(json!({"service_tier": "auto"})),
            max_tokens: Some(100),
            ..RequestHead::default()
        };
        CompletionRequest::new(head, messages)
    }

    #[test]
    fn the_first_model_is_sent_the_request_itself_while_no_other_answered() {
        let own = answer(CLAUDE, vec![ContentBlock::Text("Hello.".into())]);
        let request = request(vec![Message::user("Hi"), own]);
        let sent = fitted(&request, CLAUDE, CLAUDE);
        assert!(matches!(sent, Cow::Borrowed(_)));
    }

    #[test]
    fn another_provider_is_sent_neither_what_the_first_alone_reads_nor_its_settings() {
        let own = answer(
            CLAUDE,
            vec![
                ContentBlock::Thinking {
                    field: None,
                    thinking: "Hm.".into(),
                    signature: Some("EqQ".into()),
                },
                ContentBlock::ToolUse {
                    own_id: None,
                    id: "toolu_1".into(),
                    name: "look".into(),
                    input: json!({}),
                    extra: Some(json!({"caller": {"type": "direct"}})),
                },
                ContentBlock::Other(json!({"type": "server_tool_use"})),
            ],
        );
        let only_thoughts = answer(
            CLAUDE,
            vec![ContentBlock::RedactedThinking { data: "x".into() }],
        );
        let request = request(vec![Message::user("Hi"), own, only_thoughts]);
        let sent = fitted(&request, CLAUDE, GPT);
        let head = &sent.head;
        assert_eq!(
            (head.provider.as_deref(), head.model.as_str()),
            (Some("openai"), "gpt")
        );
        assert!(head.fallback_models.is_empty());
        assert_eq!((&head.thinking, &head.extra), (&None, &None));
        assert_eq!(head.max_tokens, Some(100));
        assert_eq!(sent.messages.len(), 2);
        assert_eq!(
            sent.messages[1].content,
            [ContentBlock::tool_use("toolu_1", "look", json!({}))]
        );
    }

    #[test]
    fn the_settings_that_another_provider_is_not_sent_are_named() {
        let request = request(vec![Message::user("Hi")]);
        assert_eq!(left_out(&request, CLAUDE, CLAUDE), Vec::<String>::new());
        assert_eq!(
            left_out(&request, CLAUDE, GPT),
            [
                "the setting `thinking` is left out for openai/gpt: it is for anthropic alone",
                "the setting `extra` is left out for openai/gpt: it is for anthropic alone",
            ]
        );
    }

    #[test]
    fn the_first_model_goes_on_without_a_budget_until_the_others_turn_is_over() {
        let call = ContentBlock::tool_use("call_1", "look", json!({}));
        let theirs = answer(GPT, vec![call]);
        let mut messages = vec![Message::user("Hi"), theirs];
        let in_between = fitted(&request(messages.clone()), CLAUDE, CLAUDE).into_owned();
        assert_eq!(in_between.thinking, None);
        assert!(in_between.extra.is_some());
        messages.push(Message::user("And now?"));
        let after = fitted(&request(messages), CLAUDE, CLAUDE).into_owned();
        assert!(after.thinking.is_some());
        assert_eq!(after.messages[1].answered_by(), None);
    }

    #[test]
    fn a_summary_is_text_to_another_provider() {
        let summary = ContentBlock::Compaction {
            content: "So far: nothing.".into(),
        };
        let request = request(vec![answer(CLAUDE, vec![summary])]);
        let sent = fitted(&request, CLAUDE, GPT);
        assert_eq!(sent.messages[0].text(), "So far: nothing.");
    }
}
