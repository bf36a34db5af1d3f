//! Ollama's chat: how its server writes, and the suite.

use crate::fake_api::{answer, delta};
use neuron_provider_ollama::{Ollama, OllamaBuilder};
use neuron_wires::{Api, pieces};
use serde_json::{Value, json};

pub(crate) struct Chat;

impl Api for Chat {
    neuron_wires::built_by!(OllamaBuilder, Ollama);

    const NAME: &'static str = "ollama";
    const MODEL: &'static str = "qwen3";
    const PATH: &'static str = "/api/chat";
    const HOST: &'static str = "http://localhost:11434";
    const STREAM: &'static str = "application/x-ndjson";
    const KEY_VARIABLE: &'static str = "OLLAMA_API_KEY";
    const KEYED: &'static [Option<&'static str>] = &[Some("https://ollama.com")];
    const KEYLESS: &'static [Option<&'static str>] = &[None];
    const NOTHING: &'static str = "{\"done\":false}\n";
    const ERRORS: &'static str = r#"
400 - - InvalidRequest final | "x" does not support tools
400 - - InvalidRequest final | "x" does not support thinking
400 - - ContextLength  final | the input length exceeds the context length
500 - - ContextLength  final | input exceeds the context window
401 - - Authentication final | unauthorized
403 - - Permission     final | this model requires a subscription
404 - - ModelNotFound  final | model 'x' not found
404 - - ModelNotFound  final | model "x" not found, try pulling it first
413 - - ContextLength  final | request body too large
429 - - RateLimited    again | too many concurrent requests
499 - - Unavailable    again | client closed request
500 - - Unavailable    again | llama runner process has terminated
500 - - ModelLoading   again | llm server loading model
503 - - ModelLoading   again | llm server loading model
502 - - Unavailable    again | upstream is not reachable
503 - - Overloaded     again | server busy, please try again.  maximum pending requests exceeded
504 - - Timeout        again | gateway timeout
529 - - Overloaded     again | overloaded
"#;
    const STREAM_ERRORS: &'static str = "
- - Unavailable   again | an error was encountered while running the model: EOF
- - Overloaded    again | server busy, please try again.  maximum pending requests exceeded
- - ModelLoading  again | llm server loading model
- - ContextLength final | the input length exceeds the context length
- - RateLimited   again | too many requests
- - Unavailable   again
";

    fn answer(text: &str) -> Value {
        let call =
            json!({"id": "call_1", "function": {"index": 0, "name": "now", "arguments": {}}});
        answer(&json!({"role": "assistant", "content": text, "tool_calls": [call]}))
    }

    fn answers() -> Vec<(&'static str, Value)> {
        let [(fields, ..)] = &Self::contents()[..] else {
            panic!("one content");
        };
        let call = |id: &str, city: &str| json!({"id": id, "function": {"index": 0, "name": "get_weather", "arguments": {"city": city}}});
        let calls = [call("call_1", "Paris"), call("call_2", "Oslo")];
        let mut cut = answer(&json!({"content": "Half"}));
        cut["done_reason"] = json!("length");
        vec![
            ("text", answer(&json!({"content": "The user wants ä€𝄞."}))),
            (
                "all of it",
                answer(
                    &json!({"role": "assistant", "content": "Let me look.", "thinking": "The user wants ä€𝄞.", "tool_calls": calls}),
                ),
            ),
            (
                "a call without arguments",
                answer(&json!({"tool_calls": [{"id": "call_1", "function": {"name": "now"}}]})),
            ),
            ("fields from the future", answer(fields)),
            ("cut", cut),
        ]
    }

    fn events(answer: &Value, piece: usize) -> Vec<String> {
        let mut message = answer["message"].clone();
        let fields = message.as_object_mut().unwrap();
        let mut deltas = Vec::new();
        for field in ["thinking", "content"] {
            let text = fields.remove(field).unwrap_or_default();
            let texts = pieces(text.as_str().unwrap_or_default(), piece).into_iter();
            deltas.extend(texts.map(|text| delta(json!({field: text}))));
        }
        let calls = fields.remove("tool_calls").unwrap_or_default();
        let calls = calls.as_array().into_iter().flatten();
        deltas.extend(calls.map(|call| delta(json!({"tool_calls": [call]}))));
        let mut last = answer.clone();
        message["content"] = json!("");
        last["message"] = message;
        deltas.push(last);
        deltas.iter().map(|delta| format!("{delta}\n")).collect()
    }

    fn is_all(event: &str) -> bool {
        event.contains("\"done\":true")
    }

    fn error(_kind: &str, _code: &str, message: &str) -> Value {
        json!({"error": message})
    }

    fn code<'a>(_kind: &'a str, _code: &'a str) -> Option<&'a str> {
        None
    }

    fn error_event(error: &Value) -> String {
        format!("{error}\n")
    }

    fn answer_of(content: &Value) -> Value {
        answer(content)
    }

    fn sent_back(request: &Value) -> Value {
        request["messages"][1].clone()
    }

    fn contents() -> Vec<(Value, &'static str, usize)> {
        let said = json!({
            "role": "assistant",
            "content": "Two cities.",
            "thinking": "need the tool",
            "tool_calls": [
                {"id": "call_1", "type": "function", "x": {"y": null},
                    "function": {"index": 0, "name": "get_weather", "arguments": {"city": "Paris", "n": 1.50}, "z": [1]}},
                {"id": "call_2", "function": {"index": 1, "name": "now", "arguments": {}}},
            ],
            "images": ["iVBORw0KGgo="],
            "from_the_future": {"signature": "EqQB+/="},
        });
        vec![(said, "Two cities.", 2)]
    }
}

neuron_wires::suite!(Chat);
