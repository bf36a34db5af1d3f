//! Agents of noted models and tools, on any door of this process, and their results without an engine.

use std::{sync::Arc, time::Duration};

use neuron_executor::{EventSink, Executor};
use neuron_local::LocalDurableContext;
use neuron_tool::ToolRegistry;
use neuron_types::{
    ASK_PERSON, AgentSpec, AskPerson, Message, RequestHead, RunEvent, RunId, RunInput, RunOutput,
    SubAgent,
};
use serde_json::{Value, json};

use crate::{NotedModel, NotedTool, hosts::local_host::Events};

/// The timeout of steps: longer than any test waits for the end of a run.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60); // Nothing ends by it.

/// Returns an agent that calls the model with these tools, and the executor of its calls. The timeouts of its steps are
/// so long that no door treats them as quick ones.
#[must_use]
pub fn noted_agent(model: &NotedModel, tools: &[NotedTool]) -> (AgentSpec, Executor) {
    let mut registry = ToolRegistry::new();
    for tool in tools {
        registry.register_dyn(Arc::new(tool.clone()));
    }
    let spec = AgentSpec {
        head: RequestHead {
            provider: Some("script".into()),
            model: "script".into(),
            tools: registry.definitions(),
            ..RequestHead::default()
        }
        .into(),
        model_timeout: A_DAY,
        tool_timeout: A_DAY,
        parallel_writes: true,
        ..AgentSpec::default()
    };
    let executor = Executor::builder()
        .provider("script", model.clone())
        .tools(registry)
        .build();
    (spec, executor)
}

/// Returns an agent that starts another, which asks a person. Each checks after a second or two whether the other still
/// exists.
#[must_use]
pub fn parked_tree() -> (AgentSpec, Executor) {
    let turns = |tool: &str, input: Value| {
        let call = json!({"name": tool, "input": input});
        NotedModel::new(&json!({"turns": [{"tool_calls": [call]}, {"text": "Done."}]}))
    };
    let starts = turns("agent_helper", json!({"prompt": "Help."}));
    let asks = turns(ASK_PERSON, json!({"question": "May I?"}));
    let (mut lead, _) = noted_agent(&starts, &[]);
    let mut helper = AgentSpec {
        name: "helper".into(),
        ..lead.clone()
    };
    helper.head_mut().provider = Some("asking".into());
    lead.lease = Duration::from_secs(2); // Each waits for a word of the other.
    lead.subagents = vec![SubAgent::new("helper")];
    let starter = SubAgent::new("helper").definition();
    for tools in [&mut lead.head_mut().tools, &mut helper.head_mut().tools] {
        tools.push(AskPerson::definition());
    }
    lead.head_mut().tools.push(starter);
    let executor = Executor::builder()
        .provider("script", starts)
        .provider("asking", asks)
        .build();
    (lead, executor.with_definitions([helper]))
}

/// Returns the input of a run of this agent.
#[must_use]
pub fn input_of(agent: &AgentSpec) -> RunInput {
    RunInput::new(agent.clone(), Message::user("Go."))
}

/// Returns the output and the events of a run `local` of this agent, without an engine.
///
/// # Panics
///
/// If the run cannot continue.
pub async fn run_locally(spec: &AgentSpec, executor: &Executor) -> (RunOutput, Vec<RunEvent>) {
    let sink = Arc::new(Events::default());
    let door = LocalDurableContext::new(executor.clone(), RunId::new("local").unwrap())
        .with_sink(Arc::clone(&sink) as Arc<dyn EventSink>);
    let output = neuron_workflows::agent(&door, input_of(spec))
        .await
        .unwrap();
    let events = sink.all().into_iter().map(|event| event.event);
    (output, events.collect())
}
