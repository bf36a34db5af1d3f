//! The preview of a call before a person decides about it.

use neuron_types::{ContentBlock, ContentItem, RunEvent, Verdict};
use serde_json::json;

use crate::{Host, Record, Stage, World, agent, decision};

/// An edit that a person is asked about: its ticket shows what it would change. An approved edit changes nothing if the
/// file has changed since then, and the model reads that.
pub async fn an_edit_holds_for_the_file_that_was_shown<H: Host>(host: &H) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    std::fs::write(&file, "one\ntwo\n").unwrap();
    let stage = Stage::open(host, "preview").await;
    let path = file.display().to_string();
    let edit = json!({"path": path, "old_string": "two", "new_string": "three"});
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "edit_file", "input": edit},
            {"name": "look", "input": {"text": "beside"}},
        ]},
        {"tool_calls": [{"name": "edit_file", "input": edit}]},
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.head_mut().tools.push(World::edit_tool());
    agent.approvals.approve = vec!["edit_file".into()];
    let run = stage.submit("run", &script, agent).await;
    let shown = run.waits_for(1).await.remove(0);
    let diff = shown.diff.clone().unwrap();
    assert!(
        diff.contains("@@ -1,2 +1,2 @@\n one\n-two\n+three\n"),
        "{diff}"
    );
    assert!(shown.fingerprint.is_some());
    std::fs::write(&file, "zero\none\ntwo\n").unwrap();
    run.decide(&decision(&shown, Verdict::Approve)).await;
    let asks_again = |event: &neuron_types::RecordedEvent| matches!(&event.event, RunEvent::ApprovalRequested { ticket, .. } if ticket.ticket == "t2-1");
    run.shows("another ticket", |events| events.iter().any(asks_again))
        .await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "zero\none\ntwo\n");
    let again = run.waits_for(1).await.remove(0);
    assert_eq!(again.ticket, "t2-1");
    assert_ne!(
        (&again.diff, &again.fingerprint),
        (&shown.diff, &shown.fingerprint)
    );
    run.decide(&decision(&again, Verdict::Approve)).await;
    let record = run.ends().await;
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "zero\none\nthree\n"
    );
    let results = results(&record);
    assert_eq!(results.len(), 3, "{results:?}");
    assert!(
        results[0].contains("changed since the call was approved"),
        "{results:?}"
    );
    assert!(
        results[2].starts_with("replaced 1 occurrence"),
        "{results:?}"
    );
    // The loop's own calls are not calls of the run.
    for event in &record.events {
        if let RunEvent::ToolCalled { tool, .. } | RunEvent::ToolFinished { tool, .. } = event {
            assert!(!tool.contains('/'), "{event:?}");
        }
    }
}

/// Returns the results of its calls that the model read, as texts.
pub(super) fn results(record: &Record) -> Vec<String> {
    let blocks = record
        .conversation
        .iter()
        .flat_map(|message| &message.content);
    let results = blocks.filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(&result.content),
        _ => None,
    });
    let text = |content: &Vec<ContentItem>| {
        let texts = content.iter().filter_map(|item| match item {
            ContentItem::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<String>()
    };
    results.map(text).collect()
}
