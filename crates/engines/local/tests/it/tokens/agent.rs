use std::sync::Arc;

use futures::{Stream, StreamExt};
use neuron_config::ScriptModel;
use neuron_context::Strategy;
use neuron_local::{AgentEvent, LocalAgent};
use neuron_testing::{
    effects::TestTool,
    tokens::{Reader, Says, Streaming, stamped},
};
use neuron_tool::ToolRegistry;
use neuron_types::{FailureKind, RunPhase};

fn agent(model: &Streaming) -> LocalAgent<Strategy> {
    LocalAgent::new(
        model.clone(),
        ToolRegistry::new(),
        Strategy::keep_everything(),
    )
    .model("m")
}

/// Each item in a word or two.
async fn all(mut stream: impl Stream<Item = AgentEvent> + Unpin) -> Vec<String> {
    let mut items = Vec::new();
    while let Some(event) = stream.next().await {
        items.push(match event {
            AgentEvent::Token(token) => stamped(&token),
            AgentEvent::Retry(notice) => format!("retry after {}", notice.failure.kind),
            AgentEvent::Event(recorded) => {
                let value = serde_json::to_value(&recorded).unwrap();
                value["type"].as_str().unwrap().to_owned()
            }
            AgentEvent::Ended(output) => {
                let output = output.unwrap();
                assert_eq!(output.state, RunPhase::Completed);
                format!("ended: {}", output.output.unwrap())
            }
            other => format!("{other:?}"),
        });
    }
    assert!(stream.next().await.is_none());
    items
}

#[tokio::test(start_paused = true)]
async fn streams_tokens_events_and_retries_and_ends_with_the_output() {
    let model = Streaming::new([
        Says::Fails(&["He"], FailureKind::Network),
        Says::All(&["Good ", "day"]),
        Says::All(&["Bye"]),
    ]);
    let reader = Arc::new(Reader::default());
    let mut agent = agent(&model).sink(reader.clone());
    let items = all(agent.run_stream("hi")).await;
    assert_eq!(
        items,
        [
            "run_started",
            "turn_started",
            "1.1.0 He",
            "retry after network",
            "1.2.0 Good ",
            "1.2.1 day",
            "model_responded",
            "turn_ended",
            "run_ended",
            "ended: Good day"
        ]
    );
    assert_eq!(reader.told(), ["1.1.0 He", "1.2.0 Good ", "1.2.1 day"]);
    assert_eq!(agent.messages().len(), 2);
    assert_eq!(agent.run("bye").await.unwrap().output.unwrap(), "Bye");
    assert_eq!(agent.messages().len(), 4);
}

#[tokio::test]
async fn streams_the_turns_of_a_model_that_answers_in_one_piece() {
    let model = ScriptModel::parse(
        r#"{"turns": [
            {"text": "Look.", "tool_calls": [{"name": "echo", "input": {"text": "x"}, "id": "c1"}]},
            {"text": "Done."}]}"#,
    );
    let mut tools = ToolRegistry::new();
    tools.register_dyn(Arc::new(TestTool::echo()));
    let mut agent = LocalAgent::new(model.unwrap(), tools, Strategy::keep_everything());
    let items = all(agent.run_stream("go")).await;
    let tokens: Vec<_> = items
        .iter()
        .filter(|item| item.contains('.') && !item.starts_with("ended"))
        .collect();
    assert_eq!(
        tokens,
        [
            "1.1.0 Look.",
            "1.1.1 echo c1",
            r#"1.1.2 {"text":"x"}"#,
            "1.1.3 end of c1",
            "2.1.0 Done."
        ]
    );
    assert_eq!(items.last().unwrap(), "ended: Done.");
}

#[tokio::test]
async fn a_dropped_stream_drops_the_call_and_leaves_the_conversation() {
    let model = Streaming::new([Says::Hangs(&["Hi"]), Says::All(&["Hello"])]);
    let mut agent = agent(&model);
    let mut stream = agent.run_stream("hi");
    loop {
        if let Some(AgentEvent::Token(_)) = stream.next().await {
            break;
        }
    }
    assert_eq!(model.streams(), 1);
    drop(stream);
    assert_eq!(model.streams(), 0);
    assert!(agent.messages().is_empty());
    assert_eq!(
        all(agent.run_stream("hi")).await.last().unwrap(),
        "ended: Hello"
    );
}

#[tokio::test]
async fn the_stream_can_move_to_another_thread() {
    let model = Streaming::new([Says::All(&["Hello"])]);
    let mut agent = agent(&model);
    let items = tokio::spawn(async move { all(agent.run_stream("hi")).await });
    assert_eq!(items.await.unwrap().last().unwrap(), "ended: Hello");
}
