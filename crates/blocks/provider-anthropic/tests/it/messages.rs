//! Messages: how its server writes, and the suite.

use neuron_provider_anthropic::{Anthropic, AnthropicBuilder};
use neuron_wires::Api;
use serde_json::{Value, json};

use crate::{wire, wire_stream};

pub(crate) struct Messages;

impl Api for Messages {
    neuron_wires::built_by!(AnthropicBuilder, Anthropic);

    const NAME: &'static str = "anthropic";
    const MODEL: &'static str = "claude-opus-5-5";
    const PATH: &'static str = "/v1/messages";
    const HOST: &'static str = "https://api.anthropic.com";
    const REQUEST_ID: &'static str = "request-id";
    const KEY_HEADER: (&'static str, &'static str) = ("x-api-key", "");
    const KEY_VARIABLE: &'static str = "ANTHROPIC_API_KEY";
    const KEYED: &'static [Option<&'static str>] = &[None];
    const KEYLESS: &'static [Option<&'static str>] = &[Some("http://127.0.0.1:9")];
    const NOTHING: &'static str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    const MARKER: &'static str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    const UNTOLD: &'static [&'static str] = &["refusal"];
    const ERRORS: &'static str = "
400 invalid_request_error -                            InvalidRequest final
401 authentication_error  -                            Authentication final
402 billing_error         -                            Quota          final
403 permission_error      -                            Permission     final
404 not_found_error       -                            ModelNotFound  final
408 -                     -                            Timeout        again
409 conflict_error        -                            Unavailable    again
413 request_too_large     -                            ContextLength  final
422 invalid_request_error -                            InvalidRequest final
429 rate_limit_error      -                            RateLimited    again
500 api_error             -                            Unavailable    again
502 -                     -                            Unavailable    again
503 -                     -                            Overloaded     again
504 timeout_error         -                            Timeout        again
529 overloaded_error      -                            Overloaded     again
500 overloaded_error      -                            Overloaded     again
418 from_the_future       -                            InvalidRequest final
400 invalid_request_error -                            ContextLength  final | prompt is too long: 210000 tokens > 200000 maximum
429 rate_limit_error      enforced_spend_limit_reached Quota          final
429 rate_limit_error      contract_spend_limit_reached Quota          final
400 rate_limit_error      enforced_spend_limit_reached Quota          final
400 invalid_request_error compaction_unavailable       Unavailable    again
";
    const STREAM_ERRORS: &'static str = "
overloaded_error      - Overloaded     again
api_error             - Unavailable    again
timeout_error         - Timeout        again
rate_limit_error      - RateLimited    again
from_the_future       - Unavailable    again
invalid_request_error - InvalidRequest final
billing_error         - Quota          final
";

    fn answer(text: &str) -> Value {
        let call = json!({"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}});
        wire::message(json!([{"type": "text", "text": text}, call]), "tool_use")
    }

    fn answers() -> Vec<(&'static str, Value)> {
        [wire::answers(), wire::odd_answers()].concat()
    }

    fn events(answer: &Value, piece: usize) -> Vec<String> {
        wire_stream::events(answer, piece)
    }

    fn is_all(event: &str) -> bool {
        event.starts_with("event: message_delta")
    }

    fn error(kind: &str, code: &str, message: &str) -> Value {
        let mut error = json!({"type": kind, "message": message});
        if !code.is_empty() {
            error["details"] = json!({"error_code": code});
        }
        json!({"type": "error", "request_id": "req_body", "error": error})
    }

    fn code<'a>(kind: &'a str, code: &'a str) -> Option<&'a str> {
        Some(if code.is_empty() { kind } else { code })
    }

    fn error_event(error: &Value) -> String {
        format!("event: error\ndata: {error}\n\n")
    }

    fn answer_of(content: &Value) -> Value {
        json!({"content": content, "stop_reason": "end_turn"})
    }

    fn sent_back(request: &Value) -> Value {
        let mut messages = request["messages"].as_array().unwrap().iter();
        let answer = messages.find(|message| message["role"] == "assistant");
        answer.map_or(json!([]), |message| message["content"].clone())
    }

    fn contents() -> Vec<(Value, &'static str, usize)> {
        let content = json!([
            {"type":"compaction","content":null,"encrypted_content":"opaque"},
            {"type":"compaction","content":"so far","signature":"s","tool_changes":[]},
            {"type":"compaction","content":"so far"},
            {"type":"thinking","thinking":"","signature":"EqQB+/=="},
            {"type":"text","text":"Cited.","citations":[{"type":"char_location","cited_text":"c"}]},
            {"type":"redacted_thinking","data":"b64=="},
            {"type":"thinking","thinking":"hm","signature":"s2","from_the_future":true},
            {"type":"text","text":"Plain."},
            {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"},"caller":null},
            {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","encrypted_content":"e"}]},
            {"type":"tool_use","id":"toolu_1","name":"n","input":{"pi":2.6457513110645907,"n":null},"caller":{"type":"direct"}},
            {"type":"tool_use","id":"toolu_2","name":"n","input":{}},
            {"type":"from_the_future","anything":[1,2.5,null,{"a":"b"}]},
        ]);
        vec![(content, "Cited.Plain.", 2)]
    }
}

neuron_wires::suite!(Messages);
