//! The order of calls of one turn.

use neuron_types::{AgentSpec, ExitReason};
use serde_json::json;

use super::previews::results;
use crate::{Host, Stage, World, agent};

/// Reads are in flight together, writes one after another, and a step that is asked for after a write sees the write's
/// effect.
pub async fn writes_of_one_turn_are_made_in_their_order<H: Host>(host: &H) {
    let stage = Stage::open(host, "ordered").await;
    let ordered = AgentSpec {
        parallel_writes: false,
        ..agent()
    };
    let names = ["look", "write", "put", "look", "look", "write"];
    let calls = names.map(|name| json!({"name": name, "input": {"text": name}}));
    let script = json!({"turns": [{"tool_calls": calls}, {"text": "Done."}]});
    let hold = |position| (position, stage.world.hold("run", 1, position));
    let groups = [vec![1], vec![2], vec![3], vec![4, 5], vec![6]];
    let groups = groups.map(|group| group.into_iter().map(hold).collect::<Vec<_>>());
    let run = stage.submit("run", &script, ordered.clone()).await;
    for mut group in groups {
        let mut last = 0;
        for (position, gate) in &mut group {
            gate.reached().await;
            last = *position;
        }
        // All of the group are in flight, and nothing after it.
        for behind in last + 1..=6 {
            assert!(stage.world.attempts_at("run", 1, behind).is_empty());
        }
        for (_, gate) in group {
            gate.release();
        }
    }
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(record.attempts.len(), 2 + names.len());
    let begun = |position| record.attempts_at(1, position)[0].started;
    let ended = |position| record.attempts_at(1, position)[0].end();
    for (before, after) in [(1, 2), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)] {
        assert!(
            ended(before) <= begun(after),
            "call {after} begins before call {before} has ended: {:#?}",
            record.attempts
        );
    }
    assert_eq!(results(&record), names);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    std::fs::write(&file, "one\n").unwrap();
    let path = file.display().to_string();
    let edit = |from: &str, to: &str| {
        let input = json!({"path": path, "old_string": from, "new_string": to});
        json!({"name": "edit_file", "input": input})
    };
    let read = json!({"name": "read_file", "input": {"path": path}});
    let calls = [
        read.clone(),
        edit("one", "two"),
        edit("two", "three"),
        read.clone(),
    ];
    let script = json!({"turns": [{"tool_calls": calls}, {"text": "Done."}]});
    let mut editing = ordered;
    let tools = &mut editing.head_mut().tools;
    tools.extend([World::edit_tool(), World::read_tool()]);
    let record = stage.submit("edits", &script, editing).await.ends().await;
    let texts = results(&record);
    for (result, said) in [
        (0, "one"),
        (1, "replaced 1"),
        (2, "replaced 1"),
        (3, "three"),
    ] {
        assert!(texts[result].contains(said), "{texts:?}");
    }
}

/// Calls beyond the limit of a turn are answered, and not made.
pub async fn a_turn_makes_so_many_calls_and_no_more<H: Host>(host: &H) {
    let stage = Stage::open(host, "bounded").await;
    let calls = vec![json!({"name": "look", "input": {}}); 3];
    let script = json!({"turns": [{"tool_calls": calls}, {"text": "Done."}]});
    let bounded = AgentSpec {
        calls_per_turn: Some(2),
        ..agent()
    };
    let record = stage.submit("run", &script, bounded).await.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(record.attempts.len(), 2 + 2);
    let texts = results(&record);
    assert_eq!(&texts[..2], ["done", "done"]);
    assert!(texts[2].starts_with("not called: one turn makes at most 2 calls"));
}
