use std::{convert::Infallible, sync::Arc};

use neuron_tool::{
    BUILTIN_TOOLS, BuiltinOptions, Tool, ToolCall, ToolContext, ToolDefinition, ToolDyn, ToolError,
    ToolOutput, ToolRegistry, builtin_tools,
};
use serde_json::json;

/// Answers with its arguments and its label.
struct Echo(&'static str);

impl Tool for Echo {
    const NAME: &'static str = "echo";
    type Args = serde_json::Value;
    type Output = String;
    type Error = Infallible;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: Self::NAME.into(),
            description: self.0.into(),
            ..ToolDefinition::default()
        }
    }

    async fn call(
        &self,
        args: serde_json::Value,
        _ctx: &ToolContext,
    ) -> Result<String, Infallible> {
        Ok(format!("{}: {args}", self.0))
    }
}

#[tokio::test]
async fn an_unknown_tool_is_not_found() {
    let registry = ToolRegistry::new();
    let error = registry
        .execute("nothing", json!({}), &ToolContext::default())
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::NotFound(name) if name == "nothing"));
}

#[tokio::test]
async fn calls_by_name_and_as_the_model_wrote_them_are_the_same() {
    let mut registry = ToolRegistry::new();
    registry.register(Echo("one"));
    let ctx = ToolContext::default();
    let call = ToolCall {
        id: "1".into(),
        name: "echo".into(),
        input: json!({"a": 1}),
        ..ToolCall::default()
    };
    let expected = ToolOutput::text(r#"one: {"a":1}"#);
    assert_eq!(registry.execute_call(&call, &ctx).await.unwrap(), expected);
    assert_eq!(
        registry.execute("echo", call.input, &ctx).await.unwrap(),
        expected
    );
}

#[test]
fn lists_tools_by_name_whatever_the_order_of_registration() {
    let tools = builtin_tools(&BuiltinOptions::default());
    let forwards: ToolRegistry = tools.iter().cloned().collect();
    let mut backwards = ToolRegistry::new();
    backwards.extend(tools.into_iter().rev());
    assert_eq!(forwards.definitions(), backwards.definitions());
    assert!(backwards.names().eq(BUILTIN_TOOLS.iter().copied()));
}

#[test]
fn a_tool_replaces_the_one_of_its_name() {
    let mut registry = ToolRegistry::new();
    registry.register(Echo("one"));
    registry.register(Echo("two"));
    assert_eq!(registry.names().count(), 1);
    assert_eq!(
        registry.get("echo").unwrap().definition().description,
        "two"
    );
    assert!(registry.get("other").is_none());
}

#[test]
fn a_clone_changes_alone_and_shares_its_tools() {
    let mut registry = ToolRegistry::new();
    let tool: Arc<dyn ToolDyn> = Arc::new(Echo("one"));
    registry.register_dyn(Arc::clone(&tool));
    let mut clone = registry.clone();
    assert!(Arc::ptr_eq(&clone.get("echo").unwrap(), &tool));
    clone.register(Echo("two"));
    assert!(Arc::ptr_eq(&registry.get("echo").unwrap(), &tool));
}
