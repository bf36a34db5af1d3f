//! One question, one tool, through Chat Completions or Responses.
//!
//! ```sh
//! OPENAI_API_KEY=… cargo run -p neuron-provider-openai --example ask_openai -- gpt-6.1-terra
//! OPENAI_BASE_URL=http://127.0.0.1:8080/v1 cargo run … -- --chat my-local-model
//! ```

use std::{env, error::Error};

use neuron_provider_openai::{DEFAULT_BASE_URL, OpenAiChat, OpenAiResponses};
use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, DynProvider, Message, RequestHead, Role,
    ToolDefinition, ToolResultBlock,
};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<_> = env::args().skip(1).collect();
    let chat = arguments.first().is_some_and(|first| first == "--chat");
    let model = arguments.pop().ok_or("name a model")?;
    let key = env::var("OPENAI_API_KEY").unwrap_or_default();
    let base_url = env::var("OPENAI_BASE_URL").unwrap_or_else(|_| DEFAULT_BASE_URL.to_owned());
    let provider: Box<dyn DynProvider> = if chat {
        let builder = OpenAiChat::builder().api_key(key).base_url(base_url);
        Box::new(builder.build()?)
    } else {
        let builder = OpenAiResponses::builder().api_key(key).base_url(base_url);
        Box::new(builder.build()?)
    };

    let mut request = CompletionRequest::new(
        RequestHead {
            model,
            tools: vec![ToolDefinition {
                name: "get_weather".into(),
                description: "Current weather for a city.".into(),
                input_schema: json!({
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                }),
                ..ToolDefinition::default()
            }],
            ..RequestHead::default()
        },
        vec![Message::user("What is the weather in Paris and in Oslo?")],
    );
    loop {
        let response = provider.complete_dyn(&request).await?;
        println!(
            "{:?}: {}",
            response.stop_reason,
            response.message.text().trim()
        );
        let results: Vec<_> = response.message.content.iter().filter_map(call).collect();
        request.messages.push(response.message);
        if results.is_empty() {
            return Ok(());
        }
        request.messages.push(Message {
            role: Role::User,
            content: results,
        });
    }
}

/// It is always 21 degrees.
fn call(block: &ContentBlock) -> Option<ContentBlock> {
    let ContentBlock::ToolUse {
        id, name, input, ..
    } = block
    else {
        return None;
    };
    println!("{name}({input})");
    Some(ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: id.clone(),
        name: name.clone(),
        content: vec![ContentItem::Text("21 C".into())],
        is_error: false,
    }))
}
