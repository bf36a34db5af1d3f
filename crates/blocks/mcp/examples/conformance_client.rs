//! A client for the protocol's own conformance tests: calls every tool of the server at the address that it is given. Its
//! person takes the default of every field.

use std::{env, error::Error};

use neuron_mcp::{
    ElicitationAnswer, ElicitationForm, ElicitationRequest, McpClient, McpClientHandler, McpError,
    McpServerSpec,
};
use neuron_types::{ToolContext, ToolDyn as _, WasmBoxedFuture};
use serde_json::{Map, Value, json};

struct Person;

impl McpClientHandler for Person {
    fn offers_elicitation(&self) -> bool {
        true
    }

    fn handle_elicitation_request(
        &self,
        request: ElicitationRequest,
    ) -> WasmBoxedFuture<'_, Result<ElicitationAnswer, McpError>> {
        Box::pin(async move {
            Ok(match &request.form {
                ElicitationForm::Fields(schema) => {
                    ElicitationAnswer::Accept(each_field(schema, |field| field.get("default")))
                }
                _ => ElicitationAnswer::Decline,
            })
        })
    }
}

/// The fields of a schema for which there is a value.
fn each_field<'a>(
    schema: &'a Value,
    value: impl Fn(&'a Value) -> Option<&'a Value>,
) -> Map<String, Value> {
    let fields = schema.get("properties").and_then(Value::as_object);
    let fields = fields.into_iter().flatten();
    let filled = fields.filter_map(|(name, field)| Some((name.clone(), value(field)?.clone())));
    filled.collect()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().nth(1).ok_or("it takes a server's address")?;
    let client = McpClient::connect(McpServerSpec::http("conformance", url), Person).await?;
    let number = json!(3);
    for tool in client.discover(None).await?.tools {
        let schema = tool.definition().input_schema;
        let input = each_field(&schema, |_| Some(&number));
        let output = tool
            .call_dyn(Value::Object(input), &ToolContext::default())
            .await?;
        if output.is_error {
            return Err(format!("{} failed: {output:?}", tool.name()).into());
        }
    }
    client.close().await;
    Ok(())
}
