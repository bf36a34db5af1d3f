//! What the fuzz target checks of what a server sends, beside that reading it does not panic.

#![allow(
    deprecated,
    reason = "the protocol is about to replace sampling and roots, and servers use them still"
)]

use std::{collections::BTreeSet, fmt::Debug};

use neuron_types::{ContentItem, FormRequest, Resumed, ToolOutput};
use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage, ServerRequest, ServerResult};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    handler::sampling,
    transport::{
        awaited::Awaited,
        http::is_answer,
        incoming::{Incoming, read},
    },
    wire::{
        carried::Carried,
        content, definition,
        harmless::{is_control, shown},
        input,
        mend::Asked,
        secrets::Secrets,
    },
};

/// The longest names of tools that providers take.
const MAX_NAME: usize = 64;

/// Checks a line that a server printed, or the data of an event that it sent.
///
/// What answers something reaches the request that waits for it, and is the kind of answer that was asked for. Tools
/// have names that providers take, each another. What people and models read hides nothing, and what is kept with a run
/// is read again.
///
/// # Panics
///
/// It does not.
pub fn check_frame(input: &[u8]) {
    let said = String::from_utf8_lossy(input);
    assert!(!shown(&said, 200).chars().any(is_control));
    let is_answer = is_answer(&said);
    for asked in [
        Asked::Tools,
        Asked::Resources,
        Asked::Templates,
        Asked::Prompts,
        Asked::Call,
        Asked::Resource,
        Asked::Prompt,
        Asked::Initialize,
        Asked::Other,
    ] {
        let awaited = Awaited::default();
        (0..100).for_each(|id| awaited.awaits(id, asked));
        let message = match read(input, &awaited, &Secrets::default()) {
            Incoming::Message(message) | Incoming::Mended(message) => message,
            Incoming::Noise => continue,
        };
        let answers = matches!(
            *message,
            ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)
        );
        assert!(answers || !is_answer, "{message:?}");
        let again = serde_json::to_vec(&message).unwrap_or_default();
        let again = read(&again, &awaited, &Secrets::default());
        assert!(!matches!(again, Incoming::Noise), "{message:?}");
        if let ServerJsonRpcMessage::Response(response) = &*message
            && awaited.find(&response.id).is_some()
        {
            let is_unknown = matches!(response.result, ServerResult::CustomResult(_));
            assert!(
                is_unknown || asked.is_answered_by(&response.result),
                "{message:?}"
            );
        }
        check_message(*message);
    }
}

fn check_message(message: ServerJsonRpcMessage) {
    match message {
        JsonRpcMessage::Response(response) => check_result(response.result),
        JsonRpcMessage::Request(request) => {
            if let ServerRequest::CreateMessageRequest(asked) = request.request {
                let request = sampling::request("server", asked.params).request;
                check_kept(&request);
            }
        }
        _ => {}
    }
}

fn check_result(result: ServerResult) {
    match result {
        ServerResult::ListToolsResult(list) => {
            check_tools(None, list.tools.clone());
            check_tools(Some("server"), list.tools);
        }
        ServerResult::CallToolResult(result) => {
            let output = content::output(result);
            let is_told = !output.content.is_empty() || output.structured_content.is_none();
            assert!(is_told, "{output:?}");
            check_kept(&output);
            check_sent(&output);
        }
        ServerResult::GetPromptResult(prompt) => {
            for message in prompt.messages {
                check_kept(&content::item(message.content));
            }
        }
        ServerResult::InputRequiredResult(required) => {
            if let Ok(asked) = input::sort(required) {
                asked.forms.iter().for_each(check_form);
                let sampling = asked.sampling.into_iter();
                for (_, request) in sampling {
                    check_kept(&sampling::request("server", request).request);
                }
                let forms = asked.forms;
                let carried = Carried::new(1, asked.state, &forms, Default::default());
                check_kept(&carried);
                let responses = carried.responses(&Resumed::default());
                assert!(forms.iter().all(|form| responses.contains_key(&form.key)));
            }
        }
        _ => {}
    }
}

fn check_tools(prefix: Option<&str>, tools: Vec<rmcp::model::Tool>) {
    let count = tools.len();
    let sorted = definition::sort(prefix, tools);
    assert_eq!(sorted.usable.len() + sorted.left_out.len(), count);
    let mut names = BTreeSet::new();
    for (own, definition) in sorted.usable {
        let is_taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let name = &definition.name;
        assert!(!own.is_empty() && !name.is_empty() && name.len() <= MAX_NAME);
        assert!(name.chars().all(is_taken), "{name:?}");
        assert!(names.insert(name.clone()), "{name:?} is there twice");
        let lines = definition.description.split(['\n', '\t']);
        assert!(
            !lines.flat_map(str::chars).any(is_control),
            "{definition:?}"
        );
        let title = definition.title.as_deref().unwrap_or_default();
        assert!(!title.chars().any(is_control), "{title:?}");
        check_kept(&definition);
    }
    for left_out in sorted.left_out {
        let text = left_out.name + &left_out.reason;
        assert!(!text.chars().any(is_control), "{text:?}");
    }
}

fn check_form(form: &FormRequest) {
    let lines = form.message.split(['\n', '\t']);
    assert!(!lines.flat_map(str::chars).any(is_control), "{form:?}");
    let url = form.url.as_deref().unwrap_or_default();
    assert!(
        !form.key.chars().chain(url.chars()).any(is_control),
        "{form:?}"
    );
    check_kept(form);
}

/// Checks that what is sent on as a server of ours sends it says the same, where it is text.
fn check_sent(output: &ToolOutput) {
    let is_text = |item: &ContentItem| matches!(item, ContentItem::Text(_));
    if output.content.iter().all(is_text) {
        let sent = content::result(output.clone());
        assert_eq!(content::output(sent), *output);
    }
}

fn check_kept<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let written = serde_json::to_vec(value);
    let read = written.and_then(|written| serde_json::from_slice::<T>(&written));
    assert_eq!(read.ok().as_ref(), Some(value));
}
