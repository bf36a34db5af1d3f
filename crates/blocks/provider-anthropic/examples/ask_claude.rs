//! One question, one tool.
//!
//! ```sh
//! ANTHROPIC_API_KEY=… cargo run -p neuron-provider-anthropic --example ask_claude -- claude-opus-5-5
//! ```

use std::{env, error::Error};

use neuron_provider_anthropic::{Anthropic, DEFAULT_BASE_URL};
use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, Message, Provider, RequestHead, Role,
    ToolDefinition, ToolResultBlock,
};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = env::args().nth(1).ok_or("name a model")?;
    let base_url = env::var("ANTHROPIC_BASE_URL").unwrap_or_else(|_| DEFAULT_BASE_URL.to_owned());
    let claude = Anthropic::builder()
        .api_key(env::var("ANTHROPIC_API_KEY").unwrap_or_default())
        .base_url(base_url)
        .build()?;

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
        let response = claude.complete(&request).await?;
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
