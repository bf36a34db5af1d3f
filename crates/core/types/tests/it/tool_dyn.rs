//! What a typed tool becomes behind `dyn`.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc};

use crate::times::SECOND;
use neuron_types::{
    ContentItem, ImageSource, Tool, ToolContext, ToolDefinition, ToolDyn, ToolError, ToolOutput,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Generates a tool that does one thing with its arguments.
macro_rules! tool {
    ($tool:ident($args:ident: $args_type:ty, $ctx:ident) -> Result<$output:ty, $error:ty> $body:block) => {
        struct $tool;

        impl Tool for $tool {
            const NAME: &'static str = stringify!($tool);
            type Args = $args_type;
            type Output = $output;
            type Error = $error;

            fn definition(&self) -> ToolDefinition {
                ToolDefinition {
                    name: Self::NAME.into(),
                    description: "A tool.".into(),
                    ..ToolDefinition::default()
                }
            }

            async fn call(
                &self,
                $args: Self::Args,
                $ctx: &ToolContext,
            ) -> Result<Self::Output, Self::Error> $body
        }
    };
}

#[derive(Deserialize, JsonSchema)]
struct Pair {
    left: i64,
    right: i64,
}

#[derive(Serialize)]
struct Sum {
    sum: i64,
}

#[derive(Debug, thiserror::Error)]
#[error("the disk is full")]
struct DiskFull {
    #[source]
    cause: std::io::Error,
}

tool!(Add(args: Pair, _ctx) -> Result<Sum, Infallible> {
    Ok(Sum { sum: args.left + args.right })
});

tool!(Key(_args: Value, ctx) -> Result<String, Infallible> {
    Ok(ctx.idempotency_key.clone())
});

tool!(Nothing(_args: Value, _ctx) -> Result<(), Infallible> {
    Ok(())
});

tool!(Plot(_args: Value, _ctx) -> Result<ToolOutput, Infallible> {
    Ok(plot())
});

tool!(PointMap(_args: Value, _ctx) -> Result<BTreeMap<(u8, u8), u8>, Infallible> {
    Ok(BTreeMap::from([((1, 2), 3)]))
});

tool!(Save(_args: Value, _ctx) -> Result<String, DiskFull> {
    Err(DiskFull { cause: std::io::Error::other("no space left") })
});

tool!(Refuse(args: String, _ctx) -> Result<String, ToolError> {
    Err(match args.as_str() {
        "invalid" => ToolError::InvalidInput("never".into()),
        "denied" => ToolError::PermissionDenied("not you".into()),
        "cancelled" => ToolError::Cancelled,
        "retry" => ToolError::ModelRetry("use a relative path".into()),
        "timeout" => ToolError::Timeout(5 * SECOND),
        _ => ToolError::Unavailable {
            message: "the index is being built".into(),
            retry_after: Some(2 * SECOND),
            source: None,
        },
    })
});

fn plot() -> ToolOutput {
    ToolOutput {
        content: vec![ContentItem::Image {
            source: ImageSource::Url {
                url: "https://example.com/plot.png".into(),
            },
        }],
        structured_content: Some(json!({"points": 3})),
        guarded: None,
        loaded: Box::default(),
        is_error: true,
        pending: None,
    }
}

async fn call(tool: impl ToolDyn + 'static, input: Value) -> Result<ToolOutput, ToolError> {
    let tool: Arc<dyn ToolDyn> = Arc::new(tool);
    tool.call_dyn(input, &ToolContext::default()).await
}

#[tokio::test]
async fn a_typed_result_becomes_text_and_structured_content() {
    let output = call(Add, json!({"left": 2, "right": 3})).await.unwrap();
    assert_eq!(output, ToolOutput::from_value(json!({"sum": 5})));
    assert_eq!(output.structured_content, Some(json!({"sum": 5})));
}

#[tokio::test]
async fn a_result_of_nothing_becomes_an_empty_text() {
    assert_eq!(
        call(Nothing, json!({})).await.unwrap(),
        ToolOutput::text("")
    );
}

#[tokio::test]
async fn a_tool_output_is_handed_on_as_it_is() {
    assert_eq!(call(Plot, json!({})).await.unwrap(), plot());
}

#[tokio::test]
async fn the_tool_sees_the_context_of_the_call() {
    let ctx = ToolContext {
        idempotency_key: "r1:2:1".into(),
        ..ToolContext::default()
    };
    let tool: &dyn ToolDyn = &Key;
    assert_eq!(
        tool.call_dyn(Value::Null, &ctx).await.unwrap(),
        ToolOutput::text("r1:2:1")
    );
}

#[test]
fn name_and_definition_are_the_tools_own() {
    let tool: &dyn ToolDyn = &Add;
    assert_eq!(tool.name(), "Add");
    assert_eq!(tool.definition(), Tool::definition(&Add));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_a_hint_to_the_model_that_names_the_fault() {
    for (input, fault) in [
        (json!({"left": 2}), "right"),
        (json!({"left": "two", "right": 3}), "two"),
        (json!("not an object"), "not an object"),
        (Value::Null, "null"),
    ] {
        match call(Add, input).await.unwrap_err() {
            ToolError::ModelRetry(hint) => {
                assert!(
                    hint.starts_with("the arguments do not fit the schema: "),
                    "{hint}"
                );
                assert!(hint.contains(fault), "{hint}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_tool_error_keeps_its_variant() {
    let refuse = |why: &'static str| call(Refuse, json!(why));
    assert!(
        matches!(refuse("invalid").await, Err(ToolError::InvalidInput(text)) if text == "never")
    );
    assert!(
        matches!(refuse("denied").await, Err(ToolError::PermissionDenied(text)) if text == "not you")
    );
    assert!(matches!(
        refuse("cancelled").await,
        Err(ToolError::Cancelled)
    ));
    assert!(
        matches!(refuse("retry").await, Err(ToolError::ModelRetry(text)) if text == "use a relative path")
    );
    assert!(matches!(refuse("timeout").await, Err(ToolError::Timeout(time)) if time == 5 * SECOND));
    assert!(matches!(
        refuse("unavailable").await,
        Err(ToolError::Unavailable { retry_after: Some(delay), .. }) if delay == 2 * SECOND
    ));
}

#[tokio::test]
async fn any_other_error_is_a_failed_execution_that_keeps_its_causes() {
    let error = call(Save, json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "execution failed: the disk is full");
    let ToolError::ExecutionFailed(source) = error else {
        panic!("{error:?}");
    };
    assert!(source.is::<DiskFull>());
    assert_eq!(source.source().unwrap().to_string(), "no space left");
}

#[tokio::test]
async fn a_result_that_json_cannot_hold_is_a_failed_execution() {
    assert!(matches!(
        call(PointMap, json!({})).await,
        Err(ToolError::ExecutionFailed(_))
    ));
}
