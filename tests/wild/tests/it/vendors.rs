//! Servers that check requests as the vendors do: ids, pairs of calls and results, and what only another vendor reads.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use neuron_provider_anthropic::Anthropic;
use neuron_provider_ollama::Ollama;
use neuron_provider_openai::{OpenAiChat, OpenAiResponses};
use neuron_types::DynProvider;
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers::method};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vendor {
    Chat,
    Responses,
    Anthropic,
    Ollama,
}

pub(crate) const VENDORS: [Vendor; 4] = [
    Vendor::Chat,
    Vendor::Responses,
    Vendor::Anthropic,
    Vendor::Ollama,
];

/// What one reasons, by which it knows its own reasoning again.
const THOUGHT: &str = "Let me look.";
const SEAL: &str = "c2VhbGVk";

/// The progress of a conversation, and what servers rejected.
#[derive(Debug, Default)]
pub(crate) struct Course {
    pub(crate) answers: usize,
    pub(crate) refusals: Vec<String>,
}

pub(crate) struct Served {
    vendor: Vendor,
    server: MockServer,
}

struct Server {
    vendor: Vendor,
    /// It answers where this many answers came before, modulo two.
    turn: usize,
    last: usize,
    course: Arc<Mutex<Course>>,
}

impl Served {
    /// A server that gives every other answer, beginning with the first or with the second. The answer `last` has no calls.
    pub(crate) async fn start(
        vendor: Vendor,
        turn: usize,
        last: usize,
        course: &Arc<Mutex<Course>>,
    ) -> Self {
        let server = MockServer::start().await;
        let responder = Server {
            vendor,
            turn,
            last,
            course: Arc::clone(course),
        };
        Mock::given(method("POST"))
            .respond_with(responder)
            .mount(&server)
            .await;
        Self { vendor, server }
    }

    pub(crate) fn client(&self) -> Arc<dyn DynProvider> {
        client(self.vendor, &self.server.uri())
    }
}

/// A client of a server that speaks as this vendor does.
pub(crate) fn client(vendor: Vendor, url: &str) -> Arc<dyn DynProvider> {
    match vendor {
        Vendor::Chat => Arc::new(OpenAiChat::builder().base_url(url).build().unwrap()),
        Vendor::Responses => Arc::new(OpenAiResponses::builder().base_url(url).build().unwrap()),
        Vendor::Anthropic => Arc::new(Anthropic::builder().base_url(url).build().unwrap()),
        Vendor::Ollama => {
            let builder = Ollama::builder().base_url(url).check_models(false);
            Arc::new(builder.build().unwrap())
        }
    }
}

impl Respond for Server {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut course = self.course.lock().unwrap();
        if course.answers % 2 != self.turn {
            return ResponseTemplate::new(503);
        }
        let body: Value = request.body_json().unwrap();
        if let Err(reason) = self.vendor.check(&body) {
            course
                .refusals
                .push(format!("{:?}: {reason}: {body}", self.vendor));
            return ResponseTemplate::new(400).set_body_json(json!({"error": {"message": reason}}));
        }
        let answer = self
            .vendor
            .answer(course.answers, course.answers == self.last);
        course.answers += 1;
        ResponseTemplate::new(200).set_body_json(answer)
    }
}

impl Vendor {
    /// An answer without calls.
    pub(crate) fn last_answer(self) -> Value {
        self.answer(0, true)
    }

    /// The id that a vendor gives a call, in characters that other vendors reject where its own rules allow them.
    fn id(self, answer: usize, call: usize) -> String {
        match self {
            // Kimi's: the same in each answer.
            Self::Chat => format!("functions.look:{call}"),
            Self::Responses => format!("call_{}_{answer}_{call}", "x".repeat(70)),
            // A gateway's, which begins anew in each answer.
            Self::Anthropic => format!("toolu_{call}"),
            Self::Ollama => String::new(),
        }
    }

    fn answer(self, number: usize, is_last: bool) -> Value {
        let calls: Vec<usize> = if is_last { vec![] } else { vec![0, 1] };
        let ids: Vec<String> = calls.iter().map(|call| self.id(number, *call)).collect();
        let text = if is_last { "Done." } else { "" };
        match self {
            Self::Chat => {
                let calls: Vec<Value> = ids
                    .iter()
                    .map(|id| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}}))
                    .collect();
                let reason = if is_last { "stop" } else { "tool_calls" };
                json!({"choices": [{"finish_reason": reason, "message":
                    {"role": "assistant", "content": text, "reasoning_content": THOUGHT, "tool_calls": calls}}]})
            }
            Self::Responses => {
                let mut output = vec![
                    json!({"type": "reasoning", "id": "rs_1", "encrypted_content": SEAL, "summary": []}),
                ];
                for (call, id) in ids.iter().enumerate() {
                    output.push(json!({"type": "function_call", "id": format!("fc_{number}_{call}"), "call_id": id,
                        "name": "look", "arguments": "{\"at\":1}", "status": "completed"}));
                }
                if is_last {
                    output.push(json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                        "content": [{"type": "output_text", "text": text, "annotations": []}]}));
                }
                json!({"id": "resp_1", "status": "completed", "output": output})
            }
            Self::Anthropic => {
                let mut content =
                    vec![json!({"type": "thinking", "thinking": THOUGHT, "signature": SEAL})];
                for id in &ids {
                    content.push(
                        json!({"type": "tool_use", "id": id, "name": "look", "input": {"at": 1}}),
                    );
                }
                if is_last {
                    content.push(json!({"type": "text", "text": text}));
                }
                let reason = if is_last { "end_turn" } else { "tool_use" };
                json!({"type": "message", "role": "assistant", "content": content, "stop_reason": reason})
            }
            Self::Ollama => {
                let calls: Vec<Value> = ids
                    .iter()
                    .map(|_| json!({"function": {"name": "look", "arguments": {"at": 1}}}))
                    .collect();
                json!({"message": {"role": "assistant", "content": text, "thinking": THOUGHT, "tool_calls": calls},
                    "done": true, "done_reason": "stop"})
            }
        }
    }

    fn check(self, body: &Value) -> Result<(), String> {
        let ids = &mut Ids::default();
        match self {
            Self::Chat => each(&body["messages"], |message| check_chat(message, ids))?,
            Self::Responses => each(&body["input"], |item| check_item(item, ids))?,
            Self::Anthropic => {
                let mut before = String::new();
                each(&body["messages"], |message| {
                    let role = text(message, "role")?;
                    expect(role != before, "two messages in a row have one role")?;
                    before = role;
                    check_anthropic(message, ids)
                })?;
            }
            Self::Ollama => each(&body["messages"], |message| check_ollama(message, ids))?,
        }
        ids.expect_answered()
    }
}

/// The calls of a conversation, and those that lack a result.
#[derive(Default)]
struct Ids {
    known: BTreeSet<String>,
    open: BTreeSet<String>,
}

impl Ids {
    fn call(&mut self, id: String, most: usize) -> Result<(), String> {
        let is_own = id.starts_with("functions.look:") || id.contains("xxx");
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_plain = (1..=most).contains(&id.len()) && id.bytes().all(fits);
        expect(is_plain || is_own, &format!("the id {id:?} is refused"))?;
        expect(
            self.known.insert(id.clone()),
            &format!("the id {id:?} is there twice"),
        )?;
        self.open.insert(id);
        Ok(())
    }

    fn result(&mut self, id: &str) -> Result<(), String> {
        expect(
            self.open.remove(id),
            &format!("no call waits for a result {id:?}"),
        )
    }

    fn expect_answered(&self) -> Result<(), String> {
        expect(self.open.is_empty(), "a call has no result")
    }
}

fn check_chat(message: &Value, ids: &mut Ids) -> Result<(), String> {
    match text(message, "role")?.as_str() {
        "tool" => {
            ids.result(&text(message, "tool_call_id")?)?;
            expect(message["content"].is_string(), "a result is no text")
        }
        role @ ("user" | "system" | "developer") => {
            ids.expect_answered()?;
            if message["content"].is_string() {
                return Ok(());
            }
            expect(role == "user", "parts of the system")?;
            each(&message["content"], |part| {
                match text(part, "type")?.as_str() {
                    "text" => Ok(()),
                    "image_url" => {
                        let url = text(&part["image_url"], "url")?;
                        expect(
                            url.starts_with("data:image/png;base64,"),
                            "a picture without its type",
                        )
                    }
                    other => Err(format!("a part of the type {other}")),
                }
            })
        }
        "assistant" => {
            ids.expect_answered()?;
            only(
                message,
                &["role", "content", "tool_calls", "reasoning_content"],
            )?;
            let thought = &message["reasoning_content"];
            expect(thought.is_null() || thought == THOUGHT, "foreign reasoning")?;
            expect(
                message["content"].is_string() || message["content"].is_null(),
                "odd content",
            )?;
            each(&message["tool_calls"], |call| {
                only(call, &["id", "type", "function"])?;
                let arguments = text(&call["function"], "arguments")?;
                expect(
                    serde_json::from_str::<Value>(&arguments).is_ok(),
                    "arguments are no JSON",
                )?;
                ids.call(text(call, "id")?, 40)
            })
        }
        role => Err(format!("the role {role}")),
    }
}

fn check_item(item: &Value, ids: &mut Ids) -> Result<(), String> {
    match text(item, "type")?.as_str() {
        "function_call" => {
            only(
                item,
                &["type", "id", "call_id", "name", "arguments", "status"],
            )?;
            ids.call(text(item, "call_id")?, 64)
        }
        "function_call_output" => ids.result(&text(item, "call_id")?),
        "reasoning" => expect(item["encrypted_content"] == SEAL, "foreign reasoning"),
        "message" => match item["content"].as_array() {
            None => text(item, "content").map(drop),
            Some(parts) => parts.iter().try_for_each(|part| {
                let kind = text(part, "type")?;
                let known = ["input_text", "input_image", "output_text"];
                expect(
                    known.contains(&kind.as_str()),
                    &format!("a part of the type {kind}"),
                )
            }),
        },
        kind => Err(format!("an item of the type {kind}")),
    }
}

fn check_anthropic(message: &Value, ids: &mut Ids) -> Result<(), String> {
    let is_user = message["role"] == "user";
    let mut began = false;
    each(&message["content"], |block| {
        let kind = text(block, "type")?;
        if kind != "tool_result" && is_user {
            began = true;
            ids.expect_answered()?;
        }
        match kind.as_str() {
            "tool_result" => {
                expect(is_user && !began, "a result behind something else")?;
                ids.result(&text(block, "tool_use_id")?)?;
                each(&block["content"], |item| {
                    let kind = text(item, "type")?;
                    expect(
                        kind == "text" || kind == "image",
                        &format!("a {kind} in a result"),
                    )
                })
            }
            "tool_use" => {
                only(block, &["type", "id", "name", "input", "cache_control"])?;
                expect(block["input"].is_object(), "arguments are no object")?;
                ids.call(text(block, "id")?, 64)
            }
            "thinking" => expect(block["signature"] == SEAL, "foreign thinking"),
            "text" => expect(!text(block, "text")?.trim().is_empty(), "blank text"),
            "image" => Ok(()),
            kind => Err(format!("a block of the type {kind}")),
        }
    })?;
    expect(
        !is_user || ids.open.is_empty(),
        "a call has no result in the next message",
    )
}

fn check_ollama(message: &Value, ids: &mut Ids) -> Result<(), String> {
    match text(message, "role")?.as_str() {
        "tool" => {
            text(message, "tool_name")?;
            ids.result(&text(message, "tool_call_id")?)
        }
        "user" => each(&message["images"], |image| {
            let data = image.as_str().unwrap_or_default();
            expect(
                !data.is_empty() && !data.starts_with("data:"),
                "a picture that is no base64",
            )
        }),
        "assistant" => {
            only(message, &["role", "content", "thinking", "tool_calls"])?;
            each(&message["tool_calls"], |call| {
                expect(
                    call["function"]["arguments"].is_object(),
                    "arguments are no object",
                )?;
                ids.call(text(call, "id")?, usize::MAX)
            })
        }
        _ => Ok(()),
    }
}

fn each(list: &Value, mut check: impl FnMut(&Value) -> Result<(), String>) -> Result<(), String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().try_for_each(&mut check)
}

fn text(value: &Value, name: &str) -> Result<String, String> {
    let text = value[name].as_str().map(str::to_owned);
    text.ok_or_else(|| format!("{name} is no text in {value}"))
}

fn only(value: &Value, names: &[&str]) -> Result<(), String> {
    let mut fields = value.as_object().into_iter().flatten();
    let other = fields.find(|(name, _)| !names.contains(&name.as_str()));
    other.map_or(Ok(()), |(name, _)| {
        Err(format!("the field {name} is not permitted"))
    })
}

fn expect(holds: bool, reason: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(reason.to_owned())
    }
}
