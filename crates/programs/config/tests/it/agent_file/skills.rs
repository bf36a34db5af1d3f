//! Skills in agent files.

use std::{fs, os::unix::fs::symlink};

use neuron_config::{AgentFile, AgentFileError, OpenOptions};
use neuron_testing::effects::{call, scope, text_of};
use neuron_types::{AgentSpec, SkillSpec, ToolCall};
use serde_json::json;
use tempfile::TempDir;

const AGENT: &str = "[agents.a]\nmodel = \"demo/demo\"\nskills = [\"skills/*\"]\n";

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Knows {name}.\n---\nAll about {name}.\n")
}

/// Returns a folder with an agent file and skills beside it.
fn place(file: &str, skills: &[&str]) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("neuron.toml"), file).unwrap();
    for name in skills {
        write(&place, &format!("skills/{name}/SKILL.md"), &skill(name));
    }
    place
}

fn write(place: &TempDir, path: &str, text: &str) {
    let path = place.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn load(place: &TempDir) -> Result<AgentFile, AgentFileError> {
    AgentFile::load(place.path().join("neuron.toml"))
}

fn definition(place: &TempDir) -> AgentSpec {
    load(place).unwrap().definition("a").unwrap().clone()
}

fn problems(place: &TempDir) -> String {
    let error = load(place).unwrap_err().to_string();
    let real = place.path().canonicalize().unwrap();
    let error = error.replace(&format!("{}/", real.display()), "");
    error.replace(&format!("{}/", place.path().display()), "")
}

#[test]
fn are_part_of_the_definition_with_the_tool_that_reads_them() {
    let file = "[defaults]\nmodel = \"demo/demo\"\nskills = [\"skills/b\", \"skills/*\"]\n\
                [agents.a]\ntools = [\"read_file\"]\nask = [\"read_skill\"]\n\
                tool.read_skill = { timeout = \"9s\" }\n";
    let place = place(file, &["a", "b"]);
    write(&place, "skills/README.md", "no skill");
    let before = definition(&place);
    let names: Vec<&str> = before.skills.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["b", "a"], "in the order of the file, each once");
    let tools: Vec<&str> = before
        .head
        .tools
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(tools, ["read_file", SkillSpec::TOOL]);
    let told = &before.head.tools[1].description;
    assert!(told.ends_with("\n- b: Knows b.\n- a: Knows a."), "{told}");

    write(&place, "skills/a/more.md", "more");
    let after = definition(&place);
    assert_ne!(after.fingerprint(), before.fingerprint());
    assert_eq!(after.changes_from(&before), ["skills"]);
}

#[test]
fn belong_to_what_is_trusted() {
    let place = place(AGENT, &["a"]);
    let digest = |place: &TempDir| load(place).unwrap().digest().to_owned();
    let before = digest(&place);
    assert_eq!(digest(&place), before);
    write(&place, "skills/a/script.sh", "rm -r /");
    let after = digest(&place);
    assert_ne!(after, before);
    write(&place, "skills/b/SKILL.md", &skill("b"));
    assert_ne!(digest(&place), after);
    assert!(load(&place).unwrap().wants().is_empty());
}

#[test]
fn from_outside_the_folder_of_the_file_are_something_to_trust_it_with() {
    let place = place(AGENT, &["a"]);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("SKILL.md"), skill("b")).unwrap();
    symlink(elsewhere.path(), place.path().join("skills/b")).unwrap();
    let wants = load(&place).unwrap().wants();
    assert_eq!(wants.files, [elsewhere.path().canonicalize().unwrap()]);
}

#[test]
fn that_cannot_be_are_refused_with_their_key_and_line() {
    let with = |skills: &str| AGENT.replace("[\"skills/*\"]", skills);
    let refused = [
        problems(&place(AGENT, &[])),
        problems(&place(&with("[\"skills/b\", 3]"), &["a"])),
        problems(&place(&with("[\"skills/[\"]"), &["a"])),
        problems(&place(&with("\"skills/a\""), &["a"])),
        {
            let place = place(AGENT, &["a"]);
            fs::create_dir(place.path().join("skills/empty")).unwrap();
            problems(&place)
        },
        {
            let place = place(AGENT, &["a"]);
            write(&place, "skills/b/SKILL.md", &skill("a"));
            problems(&place)
        },
        {
            let place = place(AGENT, &["a"]);
            symlink("/etc/passwd", place.path().join("skills/a/users")).unwrap();
            problems(&place)
        },
        {
            let place = place(AGENT, &["a"]);
            write(
                &place,
                "skills/a/SKILL.md",
                "---\nname: a\ndescription: [so]\n---\n",
            );
            problems(&place)
        },
        {
            let place = place(&with("[\".\"]"), &[]);
            write(&place, "SKILL.md", &skill("a"));
            problems(&place)
        },
        problems(&place(
            &format!("{AGENT}deny = [\"read_skill(skill=a)\"]"),
            &["a"],
        )),
        problems(&place(
            "[agents.a]\nmodel = \"demo/demo\"\ntools = [\"read_skill\"]\nask = [\"read_skill\"]\n\
             tool.read_skill = { timeout = \"9s\" }\n",
            &[],
        )),
    ];
    insta::assert_snapshot!(refused.join("\n"));
}

#[tokio::test]
async fn are_read_by_runs_whose_definition_has_them_as_they_are() {
    let place = place(AGENT, &["a"]);
    let agents = load(&place).unwrap();
    let agents = agents.open(OpenOptions::new(place.path())).await.unwrap();
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let call: ToolCall = call(SkillSpec::TOOL, json!({"name": "a"}));
    let options = agent.tool_options(&call, scope().step);
    let of = |agent: &AgentSpec| {
        let options = agent.tool_options(&call, options.step);
        let scope = scope();
        neuron_executor::StepScope::new(scope.run_id, &options, 1, scope.cancellation)
    };
    let output = executor.call_tool(&of(&agent), &call).await.unwrap();
    assert_eq!(text_of(&output), skill("a"));

    // A run that began before the folder was changed, on a worker that began after it.
    let mut older = agent.clone();
    older.skills[0].digest = "sha256:0".to_owned();
    let output = agents.executor(&older).unwrap();
    let output = output.call_tool(&of(&older), &call).await.unwrap();
    assert!(output.is_error);
    let text = text_of(&output);
    assert!(
        text.contains("is not the one of the run's definition"),
        "{text}"
    );
}

#[tokio::test]
async fn that_the_file_has_no_more_fail_in_the_calls_of_older_runs() {
    let place = place(AGENT, &["a"]);
    let older = definition(&place);
    let file = AGENT.replace("skills = ", "allow = []#");
    fs::write(place.path().join("neuron.toml"), file).unwrap();
    let file = load(&place).unwrap();
    assert!(!file.has_parts_of(&older));
    let options = OpenOptions::new(place.path()).definition(&older);
    let agents = file.open(options).await.unwrap();
    let executor = agents.executor(&older).unwrap();
    let call: ToolCall = call(SkillSpec::TOOL, json!({"name": "a"}));
    let options = older.tool_options(&call, scope().step);
    let scope = scope();
    let scope = neuron_executor::StepScope::new(scope.run_id, &options, 1, scope.cancellation);
    let output = executor.call_tool(&scope, &call).await.unwrap();
    assert!(output.is_error);
}

#[tokio::test]
async fn cannot_be_changed_by_the_tools_of_their_agent() {
    let file = format!("{AGENT}tools = [\"write_file\"]\n");
    let place = place(&file, &["a"]);
    let agents = load(&place).unwrap();
    let agents = agents.open(OpenOptions::new(place.path())).await.unwrap();
    let executor = agents.executor(&agents.agent("a").unwrap()).unwrap();
    for path in ["skills/a/SKILL.md", "skills/new/SKILL.md"] {
        let call = call("write_file", json!({"path": path, "content": "other"}));
        let output = executor.call_tool(&scope(), &call).await.unwrap();
        assert!(output.is_error, "{path}: {output:?}");
    }
}
