//! Skills that a model reads.

use std::fs;

use neuron_tool::builtin::Skill;
use neuron_types::{AgentSpec, SkillSpec};
use serde_json::{Value, json};

use super::{
    held::{Held, killed_in},
    previews::results,
};
use crate::{Host, Stage, World, agent, expect, worlds::skills::folder};

/// An agent with this skill.
fn skilled(skill: SkillSpec) -> AgentSpec {
    let mut agent = AgentSpec {
        skills: vec![skill],
        ..agent()
    };
    agent.head_mut().tools.push(World::skill_tool());
    agent
}

fn read(input: &Value) -> Value {
    json!({"name": SkillSpec::TOOL, "input": input})
}

/// Reads the skill, a file of it, and what there is not, and answers.
fn script() -> Value {
    json!({"turns": [
        {"tool_calls": [read(&json!({"name": "reports"}))]},
        {"tool_calls": [
            read(&json!({"name": "reports", "path": "figures.md"})),
            read(&json!({"name": "reports", "path": "poems.md"})),
        ]},
        {"text": "Nine of ten."},
    ]})
}

/// What a file of the skill says.
fn file(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

/// A model reads the skill of its definition, and a file of it.
pub async fn a_skill_is_read<H: Host>(host: &H) {
    let stage = Stage::open(host, "skill").await;
    let agent = skilled(World::skill());
    let record = stage.submit("run", &script(), agent).await.ends().await;
    let read = results(&record);
    assert_eq!(read[..2], [file(Skill::FILE), file("figures.md")]);
    assert!(read[2].contains("has no file \"poems.md\""), "{read:?}");
    expect("skill", &[record]);
}

/// The files of a skill on the worker are others than those of the run's definition: the model reads that, and nothing of
/// them.
pub async fn a_skill_whose_files_were_changed_is_not_read<H: Host>(host: &H) {
    let stage = Stage::open(host, "changed_skill").await;
    let copy = tempfile::tempdir().unwrap();
    for name in [Skill::FILE, "figures.md"] {
        fs::write(copy.path().join(name), file(name)).unwrap();
    }
    fs::write(copy.path().join("figures.md"), "Ten of ten.\n").unwrap();
    let defined = Skill::open(copy.path()).unwrap().spec().clone();
    assert_ne!(defined.digest, World::skill().digest);
    let record = stage.submit("run", &script(), skilled(defined)).await;
    let record = record.ends().await;
    let changed = "the skill reports on this worker is not the one of the run's definition: its files were changed";
    let read = results(&record);
    assert_eq!(read.len(), 3, "{read:?}");
    assert!(read.iter().all(|text| text.contains(changed)), "{read:?}");
    expect("changed_skill", &[record]);
}

/// The steps of a run that reads a skill are killed, and it ends as one that is not.
pub async fn killed_while_a_skill_is_read<H: Host>(host: &H) {
    let stage = Stage::open(host, "killed_skilled").await;
    let script = script();
    let agent = skilled(World::skill());
    let undisturbed = stage.submit("undisturbed", &script, agent.clone()).await;
    let undisturbed = undisturbed.ends().await;
    let steps = [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0)];
    let runs = steps.map(|step| Held::at(step, agent.clone()));
    for record in killed_in(&stage, &script, runs).await {
        assert_eq!(record.course(), undisturbed.course(), "{}", record.name);
    }
}
