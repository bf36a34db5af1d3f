use std::time::Duration;

use neuron::{
    AgentError,
    executor::{ModelPrice, Prices},
    prelude::*,
    tool::{BUILTIN_TOOLS, ToolOutput, tool_middleware_fn},
};
use neuron_config::ScriptModel;
use neuron_types::{StepId, ToolCall, ToolSearch};

const LIMIT: Duration = Duration::from_secs(30); // Only compared, never waited for.

/// Says hello to a person.
#[neuron_tool(read_only)]
async fn hello(name: String) -> Result<String, ToolError> {
    Ok(format!("Hello, {name}."))
}

fn model() -> Model {
    let script = ScriptModel::parse(r#"{"turns": [{"text": "Done."}]}"#).unwrap();
    Model::of(script, "script")
}

#[test]
fn an_agent_needs_a_model() {
    let error = Agent::builder("a").build().unwrap_err();
    assert!(matches!(error, AgentError::NoModel { .. }), "{error}");
}

#[test]
fn a_model_is_a_provider_and_a_name() {
    let error = Agent::builder("a").model("claude").build().unwrap_err();
    assert!(matches!(error, AgentError::ModelName { .. }), "{error}");
    let error = Agent::builder("a").model("nobody/m").build().unwrap_err();
    let error = error.to_string();
    let expected = r#"agent a: there is no provider "nobody" (known: anthropic, "#;
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_limit_of_cost_needs_the_price_of_each_model() {
    let limited = || {
        let limits = Limits::turns(3).cost_usd(2);
        Agent::builder("a").model(model()).limits(limits)
    };
    let error = limited().build().unwrap_err();
    assert!(matches!(error, AgentError::NoPrice { .. }), "{error}");
    let mut prices = Prices::default();
    prices.insert("own", "script", ModelPrice::new(1, 5));
    assert!(limited().prices(prices.clone()).build().is_ok());
    let error = limited().prices(prices).fallback(model()).build();
    let error = error.unwrap_err().to_string();
    assert!(error.contains("own-2/script"), "{error}");
}

#[test]
fn a_question_about_a_tool_that_is_not_there_is_an_error() {
    let builder = || {
        Agent::builder("a")
            .model(model())
            .tools(builtin::read_only())
    };
    let error = builder().ask("bash").build().unwrap_err();
    assert!(matches!(error, AgentError::UnknownTool { .. }), "{error}");
    let error = builder().ask("read_file(").build().unwrap_err();
    assert!(matches!(error, AgentError::Rule { .. }), "{error}");
    assert!(
        builder()
            .ask("*")
            .ask("read_file(path=*.key)")
            .build()
            .is_ok()
    );
}

/// Finds tools in the shed.
#[neuron_tool(read_only)]
async fn find_tools(query: String) -> Result<String, ToolError> {
    Ok(query)
}

#[test]
fn many_tools_are_searched_unless_that_is_turned_off_and_its_name_is_taken() {
    let agent = Agent::builder("a").model(model()).ask("find_tools");
    let agent = agent.build().unwrap();
    assert_eq!(agent.spec().tool_search, Some(ToolSearch::default()));
    let builder = || Agent::builder("a").model(model()).tool(FindToolsTool);
    let error = builder().build().unwrap_err();
    assert!(matches!(error, AgentError::ReservedTool { .. }), "{error}");
    let said = "agent a: the name find_tools is that of the tool with which a model finds others";
    assert!(error.to_string().starts_with(said), "{error}");
    let agent = builder().tool_search(None).ask("find_tools").build();
    assert_eq!(agent.unwrap().spec().tool_search, None);
    let search = ToolSearch {
        above: 7,
        provider: true,
        ..ToolSearch::default()
    };
    let agent = Agent::builder("a").model(model()).tool_search(search);
    assert_eq!(agent.build().unwrap().spec().tool_search, Some(search));
}

#[test]
fn the_definition_names_model_and_tools() {
    let agent = Agent::builder("a")
        .model("ollama/llama")
        .instructions("Be brief.")
        .tools(builtin::all())
        .build()
        .unwrap();
    assert_eq!(agent.spec().head.model, "llama");
    assert_eq!(agent.spec().head.provider.as_deref(), Some("ollama"));
    assert_eq!(agent.spec().head.tools.len(), BUILTIN_TOOLS.len());
}

#[test]
fn a_tool_says_how_its_calls_are_made() {
    let step = Step::timeout(LIMIT).task_queue("pci");
    let agent = Agent::builder("quick")
        .model(model())
        .tool(HelloTool.step(step))
        .build()
        .unwrap();
    let call = ToolCall {
        id: "call_1".into(),
        name: "hello".into(),
        input: serde_json::json!({"name": "Ada"}),
        ..ToolCall::default()
    };
    let options = agent.spec().tool_options(&call, StepId::new(1, 1));
    assert_eq!(options.start_to_close_timeout, LIMIT);
    assert_eq!(options.activity.task_queue.as_deref(), Some("pci"));
}

#[test]
fn further_models_are_listed_in_order() {
    let agent = Agent::builder("a")
        .model(model())
        .fallback("ollama/llama")
        .fallback(model())
        .build()
        .unwrap();
    let head = &agent.spec().head;
    assert_eq!(head.provider.as_deref(), Some("own"));
    assert_eq!(head.fallback_models, ["ollama/llama", "own-3/script"]);
    let error = Agent::builder("a")
        .model(model())
        .fallback("claude")
        .build();
    assert!(matches!(error, Err(AgentError::ModelName { .. })));
}

/// Says goodbye to a person.
#[neuron_tool(read_only)]
async fn goodbye(name: String) -> Result<String, ToolError> {
    Ok(format!("Goodbye, {name}."))
}

#[tokio::test]
async fn a_layer_for_a_tool_that_the_agent_lacks_is_an_error() {
    let layer = tool_middleware_fn(|call, ctx, next| next.run(call, ctx));
    let agent = Agent::builder("a")
        .model(model())
        .tool(GoodbyeTool)
        .tool_layer("greet", layer)
        .build();
    let error = agent.unwrap_err();
    assert!(matches!(error, AgentError::LayerWithoutTool { .. }));
    assert_eq!(
        error.to_string(),
        "agent a has a layer for greet, and has no such tool (known: goodbye)"
    );
}

#[tokio::test]
async fn a_layer_is_around_one_tool() {
    let script = ScriptModel::parse(
        r#"{"turns": [
            {"tool_calls": [
                {"name": "hello", "input": {"name": "Ada"}}, {"name": "goodbye", "input": {"name": "Ada"}}
            ]},
            {"text": "Done."}
        ]}"#,
    );
    let layer =
        tool_middleware_fn(|_, _, _| Box::pin(async { Ok(ToolOutput::text("from the layer")) }));
    let agent = Agent::builder("a")
        .model(Model::of(script.unwrap(), "script"))
        // The tool is added after its layer.
        .tool_layer("hello", layer)
        .tool(HelloTool)
        .tool(GoodbyeTool)
        .build()
        .unwrap();
    let local = Local::memory();
    let mut steps = agent.on(&local).steps("r1", "Greet.").await.unwrap();
    while let Some(step) = steps.next().await {
        step.unwrap();
    }
    let said = serde_json::to_string(steps.messages()).unwrap();
    assert!(
        said.contains("from the layer") && said.contains("Goodbye, Ada."),
        "{said}"
    );
    assert!(!said.contains("Hello, Ada."), "{said}");
}
