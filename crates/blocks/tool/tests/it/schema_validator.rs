use std::{convert::Infallible, sync::Arc};

use neuron_tool::{
    Tool, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolRegistry, builtin::SchemaValidator,
};
use serde_json::{Value, json};

use crate::workspace::Workspace;

/// Takes whatever gets past its schema.
struct Lenient(Value);

impl Tool for Lenient {
    const NAME: &'static str = "lenient";
    type Args = Value;
    type Output = String;
    type Error = Infallible;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: Self::NAME.into(),
            input_schema: self.0.clone(),
            ..ToolDefinition::default()
        }
    }

    async fn call(&self, _args: Value, _ctx: &ToolContext) -> Result<String, Infallible> {
        Ok("called".into())
    }
}

fn registry(schema: Value) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    let tool: Arc<dyn ToolDyn> = Arc::new(Lenient(schema));
    registry.register_dyn(tool);
    let validator = SchemaValidator::new(&registry);
    registry.add_middleware(validator);
    registry
}

async fn call(registry: &ToolRegistry, input: Value) -> Result<(), String> {
    match registry
        .execute("lenient", input, &ToolContext::default())
        .await
    {
        Ok(_) => Ok(()),
        Err(ToolError::ModelRetry(hint)) => Err(hint),
        Err(other) => panic!("expected a hint, got {other:?}"),
    }
}

#[tokio::test]
async fn names_the_place_and_the_problem() {
    let registry = registry(json!({
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "integer"}}, "name": {}},
        "required": ["name"],
    }));
    assert_eq!(
        call(&registry, json!({"name": 1, "items": [1, 2]})).await,
        Ok(())
    );
    let hint = call(&registry, json!({"items": [1, "two"]}))
        .await
        .unwrap_err();
    assert!(hint.contains("schema of lenient"), "{hint}");
    assert!(
        hint.contains(r#"at /items/1: "two" is not of type "integer""#),
        "{hint}"
    );
    assert!(
        hint.contains(r#"at the top level: "name" is a required property"#),
        "{hint}"
    );
}

#[tokio::test]
async fn stays_short_however_much_is_wrong() {
    let registry = registry(json!({"items": {"type": "integer"}}));
    let input = vec![json!("x".repeat(10_000)); 100];
    let hint = call(&registry, json!(input)).await.unwrap_err();
    assert!(hint.len() < 2_000, "{hint}");
    assert!(hint.ends_with("; and more"), "{hint}");
}

#[tokio::test]
async fn a_schema_that_cannot_be_compiled_is_reported_and_not_enforced() {
    for schema in [
        json!({"type": 7}),
        json!({"$ref": "https://example.com/schema"}),
    ] {
        let registry = registry(schema);
        let validator = SchemaValidator::new(&registry);
        let tools: Vec<&str> = validator.unchecked().map(|(tool, _)| tool).collect();
        assert_eq!(tools, ["lenient"]);
        assert_eq!(call(&registry, json!({})).await, Ok(()));
    }
}

#[tokio::test]
async fn the_builtin_tools_have_schemas_that_say_what_they_accept() {
    let mut place = Workspace::new();
    let validator = SchemaValidator::new(&place.registry);
    assert_eq!(validator.unchecked().count(), 0);
    place.registry.add_middleware(validator);
    place.write("a", "text\n");
    assert_eq!(
        place
            .ok("read_file", json!({"path": "a", "start_line": 1}))
            .await,
        "text\n"
    );
    for input in [
        json!({}),
        json!({"path": 1}),
        json!({"path": "a", "start_line": 0}),
        json!({"path": "a", "lines": 3}),
    ] {
        let hint = place.hint("read_file", input).await;
        assert!(hint.contains("schema of read_file"), "{hint}");
    }
}
