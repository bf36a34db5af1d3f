use std::collections::BTreeMap;

use neuron_types::{
    ArgumentKind, FormRequest, Pending, Resumed, ToolAnnotations, ToolCall, ToolDefinition,
    ToolEffects, ToolOutput,
};
use proptest::{collection, option, prelude::*};

use super::{
    approval::approval, few, json, message::content_item, millis, one_of, optional_json,
    request::cache_control, response::guarded, text,
};
use crate::samples::tool::EFFECTS;

pub(crate) fn effects() -> impl Strategy<Value = ToolEffects> {
    one_of(&EFFECTS)
}

prop_compose! {
    fn resumed()(
        answers in few((text(), json())),
        declined in any::<bool>(),
        state in optional_json(),
    ) -> Resumed {
        Resumed { answers: answers.into_iter().collect::<BTreeMap<_, _>>(), declined, state }
    }
}

prop_compose! {
    fn form_request()(
        [key, message] in [text(), text()],
        schema in optional_json(),
        url in option::of(text()),
    ) -> FormRequest {
        FormRequest { key, message, schema, url }
    }
}

pub(crate) fn pending() -> impl Strategy<Value = Pending> {
    prop_oneof![
        (text(), option::of(text()), optional_json()).prop_map(|(token_sha256, text, schema)| {
            Pending::External {
                token_sha256,
                text,
                schema,
            }
        }),
        (few(form_request()), optional_json())
            .prop_map(|(requests, state)| Pending::Form { requests, state }),
    ]
}

prop_compose! {
    pub(crate) fn call()(
        id in text(),
        name in text(),
        input in json(),
        resumed in option::of(resumed()),
        preview in option::of(text()),
        approval in option::of(approval().boxed().prop_map(Box::new)),
        hooked in any::<bool>(),
    ) -> ToolCall {
        ToolCall { id, name, input, resumed, preview, approval, hooked }
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
        arguments in collection::btree_map(text(), one_of(&ArgumentKind::ALL), 0..3),
        cache_control in option::of(cache_control()),
        (strict, deferred, previews, outcomes) in any::<(Option<bool>, bool, bool, bool)>(),
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
            arguments,
            cache_control,
            strict,
            deferred,
            previews,
            outcomes,
            extra,
        }
    }
}

prop_compose! {
    pub(crate) fn output()(
        content in few(content_item()),
        structured_content in optional_json(),
        is_error in any::<bool>(),
        pending in option::of(pending()),
        guarded in option::of(guarded().boxed()),
        loaded in few(text()),
    ) -> ToolOutput {
        let guarded = guarded.map(Box::new);
        ToolOutput { content, structured_content, is_error, pending, guarded, loaded: loaded.into() }
    }
}
