//! Skills of an agent, in memory and in a journal.

use std::fs;

use neuron::{Agent, Local, Model, builtin::Skill};
use neuron_config::ScriptModel;
use tempfile::TempDir;

const TEXT: &str = "---\nname: reports\ndescription: Writes reports.\n---\nFigures first.\n";

const READS: &str = r#"{"turns": [
    {"tool_calls": [{"name": "read_skill", "input": {"name": "reports"}}]},
    {"text": "There is nothing to read."}
]}"#;

/// Returns an agent whose runs answer with the text of its skill, or with the model's words if it cannot read it.
fn agent(folder: &TempDir) -> Agent {
    fs::write(folder.path().join("SKILL.md"), TEXT).unwrap();
    let script = ScriptModel::parse(READS).unwrap();
    Agent::builder("writer")
        .model(Model::of(script, "script"))
        .skills([Skill::open(folder.path()).unwrap()])
        .stop_on_first_tool()
        .build()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn are_listed_to_the_model_and_read_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let agent = agent(&folder);
    let spec = agent.spec();
    assert_eq!(spec.skills[0].name, "reports");
    let told = &spec.head.tools[0].description;
    assert!(told.ends_with("\n- reports: Writes reports."), "{told}");
    assert_eq!(agent.run("Report.").await.unwrap(), TEXT);

    let home = tempfile::tempdir().unwrap();
    let local = Local::open(home.path()).await.unwrap();
    let run = agent.on(&local).start("r", "Report.").await.unwrap();
    assert_eq!(run.result().await.unwrap(), TEXT);
}

#[tokio::test]
async fn are_not_read_where_the_folder_is_no_more_that_of_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    let agent = agent(&folder);
    fs::write(
        folder.path().join("SKILL.md"),
        TEXT.replace("first", "last"),
    )
    .unwrap();
    assert_eq!(
        agent.run("Report.").await.unwrap(),
        "There is nothing to read."
    );
}

#[test]
fn are_added_to_those_that_are_there_and_one_of_a_name_is_replaced() {
    let place = tempfile::tempdir().unwrap();
    let skill = |folder: &str, name: &str| {
        let folder = place.path().join(folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), TEXT.replace("reports", name)).unwrap();
        Skill::open(folder).unwrap()
    };
    let (first, second, again) = (skill("1", "a"), skill("2", "b"), skill("3", "a"));
    fs::write(place.path().join("3/more"), "").unwrap();
    let again = Skill::open(again.path()).unwrap();
    let model = Model::of(ScriptModel::parse(READS).unwrap(), "script");
    let builder = Agent::builder("writer").model(model);
    let builder = builder.skills([first, second.clone()]);
    let agent = builder.skills([again.clone()]).build().unwrap();
    let spec = agent.spec();
    assert_eq!(spec.skills, [again.spec().clone(), second.spec().clone()]);
    assert_eq!(spec.head.tools.len(), 1);
}
