use std::{io, sync::Arc};

use neuron_tool::{
    CallTool, Preview, Tool, ToolContext, ToolEffects, ToolError, ToolOutput, ToolRegistry,
    neuron_tool,
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

/// Sets the price.
#[neuron_tool(previews = price_preview, outcomes = price_outcome)]
async fn set_price(
    #[state] shop: &Arc<str>,
    cents: u32,
    ctx: &ToolContext,
) -> Result<String, ToolError> {
    Ok(format!("{shop}: {cents} as {}", ctx.idempotency_key))
}

async fn price_preview(
    shop: &Arc<str>,
    cents: u32,
    _: &ToolContext,
) -> Result<Option<Preview>, ToolError> {
    let text = Some(format!("{shop}: {cents}"));
    Ok(Some(Preview {
        text,
        ..Preview::default()
    }))
}

async fn price_outcome(
    _: &Arc<str>,
    cents: u32,
    ctx: &ToolContext,
) -> Result<Option<String>, ToolError> {
    Ok(Some(format!("{cents} as {}", ctx.idempotency_key)))
}

impl Account {
    /// Gives money.
    #[neuron_tool(previews = Self::would_give, outcomes = Self::has_given)]
    async fn give(&self, amount: i64) -> Result<i64, ToolError> {
        Ok(self.0 + amount)
    }

    async fn would_give(&self, amount: i64) -> Result<Option<Preview>, ToolError> {
        let text = Some(format!("{} and {amount}", self.0));
        Ok(Some(Preview {
            text,
            ..Preview::default()
        }))
    }

    async fn has_given(&self, amount: i64) -> Result<Option<i64>, ToolError> {
        Ok((amount > 0).then_some(self.0 + amount))
    }
}

/// Moves a file.
#[derive(serde::Deserialize, schemars::JsonSchema, Tool)]
#[tool(previews = move_preview)]
struct MoveFile {
    to: String,
}

impl CallTool for MoveFile {
    type Output = String;
    type Error = ToolError;

    async fn call(self, _: &ToolContext) -> Result<String, ToolError> {
        Ok(self.to)
    }
}

async fn move_preview(args: MoveFile, _: &ToolContext) -> Result<Option<Preview>, ToolError> {
    let text = Some(format!("to {}", args.to));
    Ok(Some(Preview {
        text,
        ..Preview::default()
    }))
}

#[tokio::test]
async fn functions_say_what_calls_would_do_and_what_became_of_them() {
    use neuron_tool::ToolDyn;

    let ctx = ToolContext {
        idempotency_key: "k1".into(),
        ..ToolContext::default()
    };
    let shown = async |tool: &dyn ToolDyn, input| {
        let preview = tool.preview_dyn(input, &ctx).await.unwrap();
        preview.and_then(|preview| preview.text)
    };
    let outcome = async |tool: &dyn ToolDyn, input| {
        let outcome = tool.outcome_dyn("k1", input, &ctx).await;
        outcome.unwrap()
    };

    let price = SetPriceTool::new("shop".into());
    let definition = Tool::definition(&price);
    assert!(definition.previews && definition.outcomes);
    let input = json!({"cents": 5});
    let text = shown(&price, input.clone()).await;
    assert_eq!(text.as_deref(), Some("shop: 5"));
    assert_eq!(
        outcome(&price, input).await,
        Some(ToolOutput::text("5 as k1"))
    );

    let give = Arc::new(Account(10)).give_tool();
    let text = shown(&give, json!({"amount": 2})).await;
    assert_eq!(text.as_deref(), Some("10 and 2"));
    assert_eq!(
        outcome(&give, json!({"amount": 2})).await,
        Some(ToolOutput::text("12"))
    );
    assert_eq!(outcome(&give, json!({"amount": 0})).await, None);

    let definition = Tool::definition(&MoveFileTool);
    assert!(definition.previews && !definition.outcomes);
    let text = shown(&MoveFileTool, json!({"to": "there"})).await;
    assert_eq!(text.as_deref(), Some("to there"));
    assert_eq!(outcome(&MoveFileTool, json!({"to": "there"})).await, None);
    let definition = Tool::definition(&AddUpTool);
    assert!(!definition.previews && !definition.outcomes);
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

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    Oldest,
    Newest,
}

/// Lists what happened.
#[derive(serde::Deserialize, schemars::JsonSchema, Tool)]
#[serde(rename_all = "camelCase")]
struct ListEvents {
    /// What the code says of it.
    #[tool(description = "Whose events")]
    account: String,
    #[tool(description = "How many at most", default = 20)]
    max_lines: Option<usize>,
    #[tool(default = "newest")]
    order: Order,
    #[tool(default = ["all", "none"])]
    #[serde(rename = "tags")]
    labels: Vec<String>,
    #[tool(default = -1.5)]
    above: f64,
    #[tool(description = "Anything", default = true)]
    extra: serde_json::Value,
}

impl CallTool for ListEvents {
    type Output = String;
    type Error = ToolError;

    async fn call(self, _: &ToolContext) -> Result<String, ToolError> {
        let numbers = (self.max_lines, self.above);
        Ok(format!(
            "{} {:?} {:?} {numbers:?} {}",
            self.account, self.order, self.labels, self.extra
        ))
    }
}

/// Greets.
#[neuron_tool]
async fn greet(
    /// Not read.
    #[tool(description = "Who", default = "World")]
    name: String,
    #[tool(default = 1)] times: u8,
) -> Result<String, ToolError> {
    Ok(vec![name; times.into()].join(" and "))
}

impl Account {
    /// Holds money back.
    #[neuron_tool]
    async fn hold(&self, #[tool(default = 3)] amount: i64) -> Result<i64, ToolError> {
        Ok(self.0 - amount)
    }
}

#[test]
fn what_is_said_about_a_field_is_in_the_schema() {
    let expected = json!({
        "type": "object",
        "properties": {
            "account": {"type": "string", "description": "Whose events"},
            "maxLines": {
                "type": ["integer", "null"],
                "minimum": 0,
                "description": "How many at most",
                "default": 20,
            },
            "order": {"type": "string", "enum": ["oldest", "newest"], "default": "newest"},
            "tags": {"type": "array", "items": {"type": "string"}, "default": ["all", "none"]},
            "above": {"type": "number", "default": -1.5},
            "extra": {"description": "Anything", "default": true},
        },
        "required": ["account"],
    });
    assert_eq!(ListEventsTool.definition().input_schema, expected);

    let expected = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who", "default": "World"},
            "times": {"type": "integer", "minimum": 0, "maximum": 255, "default": 1},
        },
    });
    assert_eq!(GreetTool.definition().input_schema, expected);
}

#[tokio::test]
async fn a_default_is_used_where_a_call_leaves_the_argument_out() {
    let mut registry = ToolRegistry::new();
    registry.register(ListEventsTool);
    registry.register(GreetTool);
    registry.register(Arc::new(Account(10)).hold_tool());
    let validator = neuron_tool::builtin::SchemaValidator::new(&registry);
    registry.add_middleware(validator);
    let ctx = ToolContext::default();
    let call = async |name, input| registry.execute(name, input, &ctx).await;
    let text = |text: &str| ToolOutput::text(text);

    let events = call("list_events", json!({"account": "a"})).await.unwrap();
    assert_eq!(
        events,
        text("a Newest [\"all\", \"none\"] (Some(20), -1.5) true")
    );
    let given = json!({
        "account": "a", "maxLines": null, "order": "oldest", "tags": [], "above": 2, "extra": null,
    });
    assert_eq!(
        call("list_events", given).await.unwrap(),
        text("a Oldest [] (None, 2.0) null")
    );
    let missing = call("list_events", json!({})).await;
    assert!(matches!(missing, Err(ToolError::ModelRetry(_))));

    assert_eq!(call("greet", json!({})).await.unwrap(), text("World"));
    let twice = call("greet", json!({"name": "Ada", "times": 2})).await;
    assert_eq!(twice.unwrap(), text("Ada and Ada"));
    assert_eq!(call("hold", json!({})).await.unwrap(), text("7"));
    assert_eq!(call("hold", json!({"amount": 4})).await.unwrap(), text("6"));
    assert_eq!(greet("You".into(), 1).await.unwrap(), "You");
}
