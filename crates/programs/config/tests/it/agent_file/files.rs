//! Agent files that consist of several files.

use std::{fs, path::Path};

use neuron_config::{AgentFile, AgentFileError, OpenOptions};
use neuron_types::SystemPrompt;
use tempfile::TempDir;

/// Returns a folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn load(folder: &TempDir) -> Result<AgentFile, AgentFileError> {
    AgentFile::load(folder.path().join("neuron.toml"))
}

/// Returns the problems of these files, with their names as they are in the folder.
fn problems(files: &[(&str, &str)]) -> String {
    let folder = folder(files);
    let error = load(&folder).unwrap_err().to_string();
    let here = format!("{}/", folder.path().display());
    error.replace(&here, "")
}

const AGENT: &str = "[agents.default]\nmodel = \"demo/demo\"\n";

fn instructions(file: &AgentFile, agent: &str) -> String {
    match &file.definition(agent).unwrap().head.system {
        Some(SystemPrompt::Text(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn define_what_a_file_does_that_includes_them() {
    let include = format!(
        "version = 1\ninclude = [\"agents/*.toml\", \"more/**/models.toml\"]\n[defaults]\nmax_tokens = 9\n{AGENT}"
    );
    let folder = folder(&[
        ("neuron.toml", &include),
        (
            "agents/reviewer.toml",
            "version = 1\n[agents.reviewer]\nmodel = \"local/small\"\ntools = [\"mcp:tracker\"]\n\
             instructions = { file = \"../prompts/reviewer.md\" }",
        ),
        ("agents/.draft.toml", "no TOML"),
        ("agents/notes.md", "no agent file"),
        (
            "more/of/them/models.toml",
            "[providers.local]\nkind = \"script\"\nfile = \"turns.json\"\n\
             [prices.\"local/small\"]\ninput = 1\noutput = 2\n\
             [mcp.tracker]\ncommand = [\"sh\"]",
        ),
        (
            "more/of/them/turns.json",
            "{\"turns\": [{\"text\": \"scripted\"}]}",
        ),
        ("prompts/reviewer.md", "Review.\n\nBe kind.\n"),
    ]);
    let file = load(&folder).unwrap();
    let names: Vec<&str> = file
        .definitions()
        .map(|agent| agent.name.as_str())
        .collect();
    assert_eq!(names, ["default", "reviewer"]);
    assert_eq!(file.mcp_servers("reviewer"), ["tracker"]);
    for agent in file.definitions() {
        assert_eq!(agent.head.max_tokens, Some(9), "{}", agent.name);
    }
    assert_eq!(instructions(&file, "reviewer"), "Review.\n\nBe kind.");
    // The script is where the file is that names it.
    file.check("reviewer", &OpenOptions::new(".")).unwrap();
}

#[test]
fn are_read_once_and_never_the_file_itself() {
    let include = format!("include = [\"*.toml\", \"./a.toml\", \"[ab].toml\"]\n{AGENT}");
    let folder = folder(&[
        ("neuron.toml", &include),
        ("a.toml", "[agents.a]\nmodel = \"demo/demo\""),
        ("b.toml", "[agents.b]\nmodel = \"demo/demo\""),
        ("folder.toml/inside.toml", "no TOML"),
    ]);
    assert_eq!(load(&folder).unwrap().definitions().count(), 3);
}

#[test]
fn are_named_with_the_lines_of_what_is_wrong() {
    let main = "include = [\"agents/*.toml\"]\n\n[agents.a]\nmodel = \"demo/demo\"\ntools = [\"bsah\"]\n\n\
                [providers.p]\nkind = \"demo\"";
    let said = problems(&[
        ("neuron.toml", main),
        (
            "agents/one.toml",
            "\n[agents.a]\nmodel = \"demo/demo\"\n[agents.b]\nmodel = \"p/x\"\ntemperature = \"hot\"",
        ),
        (
            "agents/three.toml",
            "[agents.c]\nmodel = \"demo/demo\"\ninclude = [\"x\"]\n[agents.b]\nmodel = \"demo/demo\"",
        ),
        (
            "agents/two.toml",
            "include = [\"x\"]\n[defaults]\nmodel = \"demo/demo\"\n[mcps]\n\
             [providers.p]\nkind = \"demo\"\n[providers.openai]\nkind = \"demo\"",
        ),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn that_are_no_agent_files_are_all_that_is_said() {
    let include = format!("include = [\"*.toml\"]\n{AGENT}tools = [\"bsah\"]");
    let said = problems(&[
        ("neuron.toml", &include),
        ("a.toml", "[agents.a"),
        ("b.toml", "version = 2"),
        ("c.toml", "agents = 3"),
    ]);
    insta::assert_snapshot!(said);
    let said = problems(&[
        ("neuron.toml", &include),
        ("c.toml", "agents = 3\nproviders = []"),
    ]);
    insta::assert_snapshot!(said);
}

#[test]
fn that_are_not_there_are_named() {
    let cases = [
        "include = \"agents/*.toml\"",
        "include = [\"agents/*.toml\", \"no.toml\"]",
        "include = [\"neuron.toml\"]",
        "include = [\"a***.toml\"]",
        "include = [\"secret\"]",
        "[defaults]\ninstructions = { file = \"prompt.md\" }",
        "[defaults]\ninstructions = { path = \"prompt.md\" }",
        "[defaults]\ninstructions = { file = 3 }",
        "[defaults]\ninstructions = 3",
    ];
    let said = cases.map(|case| {
        let folder = folder(&[("neuron.toml", &format!("{case}\n{AGENT}"))]);
        fs::write(folder.path().join("secret"), [0xff]).unwrap();
        let error = load(&folder).unwrap_err().to_string();
        let here = format!("{}/", folder.path().display());
        format!(
            "{case}\n  {}",
            error.replace(&here, "").replace('\n', "\n  ")
        )
    });
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn hold_instructions_beside_the_file() {
    let main = "[defaults]\ninstructions = { file = \"prompts/all.md\" }\n[agents.a]\nmodel = \"demo/demo\"\n\
                [agents.b]\nmodel = \"demo/demo\"\ninstructions = \"Mine.\"\n[agents.c]\nmodel = \"demo/demo\"\n\
                instructions.file = \"prompts/c.md\"";
    let folder = folder(&[
        ("neuron.toml", main),
        ("prompts/all.md", "Ours.\r\n"),
        ("prompts/c.md", ""),
    ]);
    let file = load(&folder).unwrap();
    assert_eq!(instructions(&file, "a"), "Ours.");
    assert_eq!(instructions(&file, "b"), "Mine.");
    assert_eq!(instructions(&file, "c"), "");
}

#[test]
fn start_from_the_folder_of_the_path_that_a_text_has() {
    let folder = folder(&[("agents/a.toml", "[agents.a]\nmodel = \"demo/demo\"")]);
    let text = "include = [\"agents/a.toml\"]";
    let path = folder.path().join("nowhere.toml");
    assert!(AgentFile::parse(text, path).is_ok());
    assert!(AgentFile::parse(text, Path::new("nowhere.toml")).is_err());
}
