use neuron_types::{
    CacheControl, CacheTtl, CompletionRequest, ContextEdit, ContextManagement, ReasoningEffort,
    RequestHead, ResponseFormat, SystemBlock, SystemPrompt, ThinkingConfig, ToolChoice,
};
use proptest::{option, prelude::*};

use super::{
    few, finite_f32, json, message::message, one_of, optional_json, text, tool::definition,
};
use crate::samples::request::{CACHE_TTLS, REASONING_EFFORTS};

pub(crate) fn cache_ttl() -> impl Strategy<Value = CacheTtl> {
    one_of(&CACHE_TTLS)
}

pub(crate) fn cache_control() -> impl Strategy<Value = CacheControl> {
    option::of(cache_ttl()).prop_map(|ttl| CacheControl { ttl })
}

prop_compose! {
    pub(crate) fn system_block()(
        text in text(),
        cache_control in option::of(cache_control()),
    ) -> SystemBlock {
        SystemBlock { text, cache_control }
    }
}

pub(crate) fn system_prompt() -> impl Strategy<Value = SystemPrompt> {
    prop_oneof![
        text().prop_map(SystemPrompt::Text),
        few(system_block()).prop_map(SystemPrompt::Blocks),
    ]
}

pub(crate) fn tool_choice() -> impl Strategy<Value = ToolChoice> {
    prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Required),
        text().prop_map(|name| ToolChoice::Specific { name }),
    ]
}

pub(crate) fn response_format() -> impl Strategy<Value = ResponseFormat> {
    prop_oneof![
        Just(ResponseFormat::Text),
        Just(ResponseFormat::JsonObject),
        (text(), json(), any::<bool>()).prop_map(|(name, schema, strict)| {
            ResponseFormat::JsonSchema {
                name,
                schema,
                strict,
            }
        }),
    ]
}

pub(crate) fn thinking_config() -> impl Strategy<Value = ThinkingConfig> {
    prop_oneof![
        any::<u64>().prop_map(|budget_tokens| ThinkingConfig::Enabled { budget_tokens }),
        Just(ThinkingConfig::Disabled),
        Just(ThinkingConfig::Adaptive),
        Just(ThinkingConfig::BetweenTools),
    ]
}

pub(crate) fn reasoning_effort() -> impl Strategy<Value = ReasoningEffort> {
    one_of(&REASONING_EFFORTS)
}

pub(crate) fn context_edit() -> impl Strategy<Value = ContextEdit> {
    let tokens = || option::of(any::<u64>());
    prop_oneof![
        (text(), tokens(), option::of(text())).prop_map(|(strategy, at_tokens, instructions)| {
            ContextEdit::Compact {
                strategy,
                at_tokens,
                instructions,
            }
        }),
        (tokens(), tokens())
            .prop_map(|(at_tokens, keep)| ContextEdit::ClearToolResults { at_tokens, keep }),
        tokens().prop_map(|keep| ContextEdit::ClearThinking { keep }),
        json().prop_map(ContextEdit::Native),
    ]
}

pub(crate) fn context_management() -> impl Strategy<Value = ContextManagement> {
    few(context_edit()).prop_map(|edits| ContextManagement { edits })
}

prop_compose! {
    fn sampling()(
        max_tokens in option::of(any::<u64>()),
        temperature in option::of(finite_f32()),
        top_p in option::of(finite_f32()),
        stop_sequences in few(text()),
        tool_choice in option::of(tool_choice()),
        parallel_tool_calls in option::of(any::<bool>()),
        response_format in option::of(response_format()),
        thinking in option::of(thinking_config()),
        reasoning_effort in option::of(reasoning_effort()),
    ) -> RequestHead {
        RequestHead { max_tokens, temperature, top_p, stop_sequences, tool_choice, parallel_tool_calls, response_format, thinking, reasoning_effort, ..RequestHead::default() }
    }
}

prop_compose! {
    pub(crate) fn request_head()(
        provider in option::of(text()),
        model in text(),
        fallback_models in few(text()),
        system in option::of(system_prompt()),
        [tools, searched_tools] in [few(definition()), few(definition())],
        context_management in option::of(context_management()),
        extra in optional_json(),
        sampling in sampling(),
    ) -> RequestHead {
        RequestHead { provider, model, fallback_models, system, tools, searched_tools, context_management, extra, ..sampling }
    }
}

prop_compose! {
    pub(crate) fn completion_request()(
        head in request_head(),
        messages in few(message()),
    ) -> CompletionRequest {
        CompletionRequest::new(head, messages)
    }
}
