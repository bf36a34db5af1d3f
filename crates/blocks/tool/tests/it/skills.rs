//! Skills: what is read of a folder, and what never is.

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::PathBuf, process::Command};

use neuron_tool::{
    BuiltinOptions, ToolContext, ToolDyn, ToolError, ToolRegistry,
    builtin::{ReadSkill, Skill, SkillError},
};
use neuron_types::with_causes;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::workspace::text;

const TEXT: &str = "---\nname: reports\ndescription: Writes reports.\n---\nFigures first.\n";

/// A skill in `<temp>/reports`, and something beside it.
struct Place {
    temp: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            temp: tempfile::tempdir().unwrap(),
        };
        place.write("reports/SKILL.md", TEXT);
        place.write("reports/forms/long.md", "one\ntwo\nthree\n");
        place.write("secret", "s");
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn open(&self) -> Result<Skill, SkillError> {
        Skill::open(self.path("reports"))
    }

    fn digest(&self) -> String {
        self.open().unwrap().spec().digest.clone()
    }

    fn tool(&self) -> ReadSkill {
        ReadSkill::new([self.open().unwrap()])
    }
}

async fn read(tool: ReadSkill, input: Value, ctx: &ToolContext) -> Result<String, ToolError> {
    let registry = ToolRegistry::from_iter([std::sync::Arc::new(tool) as _]);
    let output = registry.execute("read_skill", input, ctx).await?;
    Ok(text(&output))
}

/// A call in a run whose definition has this digest.
fn in_run(digest: &str) -> ToolContext {
    ToolContext {
        skills: BTreeMap::from([("reports".to_owned(), digest.to_owned())]),
        ..ToolContext::default()
    }
}

#[tokio::test]
async fn are_read_as_they_stand_and_so_are_their_other_files() {
    let place = Place::new();
    let ctx = in_run(&place.digest());
    let of = async |input| read(place.tool(), input, &ctx).await.unwrap();
    assert_eq!(of(json!({"name": "reports"})).await, TEXT);
    for path in ["forms/long.md", "./forms/long.md"] {
        let input = json!({"name": "reports", "path": path});
        assert_eq!(of(input).await, "one\ntwo\nthree\n");
    }
    let input = json!({"name": "reports", "path": "forms/long.md", "start_line": 2, "end_line": 2});
    assert_eq!(of(input).await, "two\n");
}

#[tokio::test]
async fn say_where_to_read_on_if_they_are_long() {
    let place = Place::new();
    let options = BuiltinOptions {
        max_lines: 2,
        ..BuiltinOptions::default()
    };
    let tool = place.tool().options(options);
    let input = json!({"name": "reports", "path": "forms/long.md"});
    let read = read(tool, input, &ToolContext::default()).await.unwrap();
    let note = "[lines 1 to 2; the file goes on: read it with start_line 3]\n";
    assert_eq!(read, format!("one\ntwo\n{note}"));
}

#[tokio::test]
async fn whatever_is_outside_of_the_folder_has_no_name() {
    let place = Place::new();
    let absolute = place.path("secret");
    for path in [
        "../secret",
        "forms/../../secret",
        "./../secret",
        "/etc/passwd",
        absolute.to_str().unwrap(),
        "forms",
        "",
        "SKILL.md/",
        "nothing.md",
    ] {
        let input = json!({"name": "reports", "path": path});
        let error = read(place.tool(), input, &ToolContext::default()).await;
        let error = error.unwrap_err();
        let ToolError::ModelRetry(hint) = error else {
            panic!("{path}: {error:?}");
        };
        assert!(
            hint.ends_with("its files are SKILL.md, forms/long.md"),
            "{hint}"
        );
    }
}

#[tokio::test]
async fn another_folder_than_the_definition_has_is_never_read_to_a_run() {
    let place = Place::new();
    let (tool, before) = (place.tool(), place.digest());
    let change = |place: &Place| place.write("reports/forms/new.md", "");
    change(&place);
    assert_ne!(place.digest(), before);
    let input = json!({"name": "reports"});
    let error = read(tool.clone(), input.clone(), &in_run(&before)).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("is not the one of the run's definition"),
        "{error}"
    );
    // Nor where the tool was made of another one, but the folder is what the definition has.
    let read = read(tool, input, &in_run(&place.digest())).await;
    assert_eq!(read.unwrap(), TEXT);
}

#[tokio::test]
async fn a_run_reads_those_of_its_definition_and_no_others() {
    let place = Place::new();
    let ctx = ToolContext {
        skills: BTreeMap::from([("older".to_owned(), "sha256:0".to_owned())]),
        ..ToolContext::default()
    };
    let error = read(place.tool(), json!({"name": "reports"}), &ctx).await;
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "there is no skill \"reports\"; the skills are older");
    let error = read(place.tool(), json!({"name": "older"}), &ctx).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("this worker has none"), "{error}");
}

#[test]
fn a_digest_is_that_of_the_names_and_contents_wherever_the_folder_is() {
    let (place, other) = (Place::new(), Place::new());
    let before = place.digest();
    assert_eq!(before, other.digest());
    other.write("reports/forms/long.md", "one\ntwo\nfour\n");
    assert_ne!(other.digest(), before);
    fs::rename(place.path("reports/forms"), place.path("reports/form")).unwrap();
    assert_ne!(place.digest(), before);
}

#[tokio::test]
async fn a_folder_that_gets_a_link_is_read_no_more() {
    let place = Place::new();
    let tool = place.tool();
    fs::remove_file(place.path("reports/forms/long.md")).unwrap();
    symlink(place.path("secret"), place.path("reports/forms/long.md")).unwrap();
    let input = json!({"name": "reports", "path": "forms/long.md"});
    let error = read(tool, input, &ToolContext::default()).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.ends_with("is a link: a skill has files and folders only"),
        "{error}"
    );
}

/// Returns what is wrong with the skill after a change to its folder, without the path of the folder.
fn refused(change: impl FnOnce(&Place)) -> String {
    let place = Place::new();
    change(&place);
    let error = with_causes(&place.open().unwrap_err());
    let here = place.temp.path().canonicalize().unwrap();
    let error = error.replace(&format!("{}/", here.display()), "");
    error.replace(&format!("{}/", place.temp.path().display()), "")
}

#[test]
fn a_folder_that_cannot_be_one_is_refused_with_the_reason() {
    let replaced =
        |content: &'static [u8]| move |place: &Place| place.write("reports/SKILL.md", content);
    let refused = [
        refused(|place| fs::remove_file(place.path("reports/SKILL.md")).unwrap()),
        refused(|place| fs::remove_dir_all(place.path("reports")).unwrap()),
        refused(|place| {
            fs::remove_dir_all(place.path("reports")).unwrap();
            place.write("reports", "a file");
        }),
        refused(|place| {
            fs::remove_file(place.path("reports/SKILL.md")).unwrap();
            symlink("forms/long.md", place.path("reports/SKILL.md")).unwrap();
        }),
        refused(|place| symlink("../secret", place.path("reports/out")).unwrap()),
        refused(|place| symlink("..", place.path("reports/forms/up")).unwrap()),
        refused(|place| {
            let pipe = place.path("reports/pipe");
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }),
        refused(|place| {
            fs::remove_file(place.path("reports/SKILL.md")).unwrap();
            let pipe = place.path("reports/SKILL.md");
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }),
        refused(|place| {
            for number in 0..1_001 {
                place.write(&format!("reports/many/{number}"), "");
            }
        }),
        refused(|place| {
            let large = fs::File::create(place.path("reports/large")).unwrap();
            large.set_len(1 << 40).unwrap();
        }),
        refused(|place| place.write(&format!("reports/{}x", "d/".repeat(20)), "")),
        refused(replaced(b"---\nname: a\xff")),
        refused(replaced(b"# No front matter")),
        refused(replaced(b"---\nname: Reports\ndescription: x\n---\n")),
        refused(replaced(b"---\nname: reports\n---\n")),
        refused(|place| place.write("reports/SKILL.md", [b'-'; 300 * 1024])),
    ];
    insta::assert_snapshot!(refused.join("\n"));
}

#[test]
fn are_listed_in_the_description_of_their_tool_one_a_line() {
    let place = Place::new();
    let second = "---\nname: b\ndescription: |\n  Does b.\n  - c: no skill\n---\n";
    place.write("second/SKILL.md", second);
    let skills = [
        place.open().unwrap(),
        Skill::open(place.path("second")).unwrap(),
    ];
    let definition = ReadSkill::new(skills).definition();
    insta::assert_snapshot!(definition.description);
    let schema = &definition.input_schema["properties"]["name"];
    assert_eq!(schema["enum"], json!(["reports", "b"]));
    assert_eq!(definition.input_schema["required"], json!(["name"]));
}
