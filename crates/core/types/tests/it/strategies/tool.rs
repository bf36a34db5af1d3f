use neuron_types::{ToolAnnotations, ToolCall, ToolDefinition, ToolEffects, ToolOutput};
use proptest::{option, prelude::*};

use super::{
    few, json, message::content_item, millis, one_of, optional_json, request::cache_control, text,
};
use crate::samples::tool::EFFECTS;

pub(crate) fn effects() -> impl Strategy<Value = ToolEffects> {
    one_of(&EFFECTS)
}

prop_compose! {
    pub(crate) fn call()(id in text(), name in text(), input in json()) -> ToolCall {
        ToolCall { id, name, input }
    }
}

prop_compose! {
    pub(crate) fn annotations()(
        read_only_hint in any::<Option<bool>>(),
        destructive_hint in any::<Option<bool>>(),
        idempotent_hint in any::<Option<bool>>(),
        open_world_hint in any::<Option<bool>>(),
    ) -> ToolAnnotations {
        ToolAnnotations { read_only_hint, destructive_hint, idempotent_hint, open_world_hint }
    }
}

prop_compose! {
    pub(crate) fn definition()(
        name in text(),
        title in option::of(text()),
        description in text(),
        input_schema in json(),
        output_schema in optional_json(),
        annotations in option::of(annotations()),
        timeout in option::of(millis()),
        cache_control in option::of(cache_control()),
        strict in any::<Option<bool>>(),
        extra in optional_json(),
    ) -> ToolDefinition {
        ToolDefinition {
            name,
            title,
            description,
            input_schema,
            output_schema,
            annotations,
            timeout,
            cache_control,
            strict,
            extra,
        }
    }
}

prop_compose! {
    pub(crate) fn output()(
        content in few(content_item()),
        structured_content in optional_json(),
        is_error in any::<bool>(),
    ) -> ToolOutput {
        ToolOutput { content, structured_content, is_error }
    }
}
