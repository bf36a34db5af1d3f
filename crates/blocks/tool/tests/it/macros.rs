use std::{io, sync::Arc};

use neuron_tool::{
    Tool, ToolContext, ToolEffects, ToolError, ToolOutput, ToolRegistry, neuron_tool,
};
use serde_json::json;

/// Adds two numbers.
///
/// Both are whole.
#[neuron_tool(idempotent, destructive = false, title = "Sum")]
async fn add_up(
    /// The first.
    left: i64,
    #[serde(default)] right: i64,
) -> Result<i64, ToolError> {
    Ok(left + right)
}

/// Reads what is configured.
#[neuron_tool]
async fn configured(#[state] state: &Arc<str>, ctx: &ToolContext) -> io::Result<String> {
    Ok(format!("{state} in {}", ctx.run_id))
}

struct Account(i64);

impl Account {
    /// Takes money.
    #[neuron_tool(name = "take-money")]
    async fn take(&self, amount: i64, ctx: &ToolContext) -> Result<i64, ToolError> {
        if amount > self.0 {
            let key = &ctx.idempotency_key;
            return Err(ToolError::ModelRetry(format!("{} are left {key}", self.0)));
        }
        Ok(self.0 - amount)
    }
}

#[test]
fn comments_and_options_become_the_definition() {
    let definition = AddUpTool.definition();
    assert_eq!(definition.effects(), ToolEffects::Idempotent);
    let expected = json!({
        "name": "add_up",
        "title": "Sum",
        "description": "Adds two numbers.\n\nBoth are whole.",
        "input_schema": {
            "type": "object",
            "properties": {
                "left": {"type": "integer", "description": "The first."},
                "right": {"type": "integer", "default": 0},
            },
            "required": ["left"],
        },
        "annotations": {"destructive_hint": false, "idempotent_hint": true},
    });
    assert_eq!(serde_json::to_value(definition).unwrap(), expected);
}

#[test]
fn a_tool_that_promises_nothing_is_a_write() {
    let tool = ConfiguredTool::new("x".into());
    assert_eq!(tool.definition().effects(), ToolEffects::Write);
}

#[tokio::test]
async fn functions_and_methods_are_called_with_arguments_context_and_state() {
    let mut registry = ToolRegistry::new();
    registry.register(AddUpTool);
    registry.register(ConfiguredTool::new("tests".into()));
    registry.register(Arc::new(Account(10)).take_tool());
    let ctx = ToolContext {
        run_id: "r1".into(),
        idempotency_key: "k1".into(),
        ..ToolContext::default()
    };
    let call = async |name, input| registry.execute(name, input, &ctx).await;
    let text = |text: &str| ToolOutput::text(text);
    assert_eq!(call("add_up", json!({"left": 2})).await.unwrap(), text("2"));
    assert_eq!(
        call("configured", json!({})).await.unwrap(),
        text("tests in r1")
    );
    assert_eq!(
        call("take-money", json!({"amount": 4})).await.unwrap(),
        text("6")
    );
    let refused = call("take-money", json!({"amount": 11})).await.unwrap_err();
    assert!(matches!(refused, ToolError::ModelRetry(hint) if hint == "10 are left k1"));
    let wrong = call("add_up", json!({"right": "x"})).await.unwrap_err();
    assert!(matches!(wrong, ToolError::ModelRetry(_)), "{wrong}");
    assert_eq!(add_up(1, 2).await.unwrap(), 3);
}
