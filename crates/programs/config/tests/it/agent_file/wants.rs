//! What an agent file is to be trusted with.

use std::fs;

use neuron_config::{AgentFile, Wants};

use super::{parse, variables};

fn wants(text: &str) -> Wants {
    parse(text).unwrap().wants()
}

fn lines(text: &str) -> String {
    wants(text).lines().join("\n")
}

/// Returns a file with one agent that has these lines.
fn agent(lines: &str) -> String {
    format!("[agents.default]\nmodel = \"demo/demo\"\n{lines}\n")
}

#[test]
fn a_file_that_starts_nothing_and_keeps_keys_where_they_belong_wants_nothing() {
    let text = r#"
        [providers.openai]
        base_url = "https://api.openai.com/v1"
        [providers.anthropic]
        api_key_env = "WORK_KEY"
        [providers.ollama]
        base_url = "http://localhost:11434"
        [providers.here]
        kind = "openai-chat"
        base_url = "http://127.0.0.1:8000/v1"
        [mcp.open]
        url = "http://localhost:8931/mcp"
        [agents.default]
        model = "here/some"
        tools = ["read_file", "write_file", "bash", "mcp:open"]
        ask = ["bash"]
        [agents.other]
        model = "openai/gpt-6.1-terra"
        tools = ["bash"]
        deny = ["*"]
    "#;
    assert_eq!(wants(text), Wants::default());
    assert!(AgentFile::builtin(&variables(&[])).wants().is_empty());
}

#[test]
fn programs_are_named_with_their_arguments_and_variables() {
    let text = r#"
        [mcp.tracker]
        command = ["./tracker", "--token file", ""]
        env = ["TRACKER_TOKEN", "HOME"]
        [mcp.plain]
        command = ["npx", "-y", "some-server"]
    "#;
    insta::assert_snapshot!(lines(&format!("{text}\n{}", agent(""))), @r#"
    start npx -y some-server (MCP server plain)
    start ./tracker "--token file" "" (MCP server tracker), with the value of TRACKER_TOKEN, HOME
    "#);
}

#[test]
fn keys_are_named_with_where_they_go() {
    let text = r#"
        [providers.openai]
        base_url = "https://api.openai.com.example.org/v1"
        [providers.anthropic]
        base_url = "http://api.anthropic.com"
        [providers.ollama]
        base_url = "http://gpu:11434"
        [providers.mine]
        kind = "openai-chat"
        base_url = "https://models.example.org/v1"
        api_key_env = "AWS_SECRET_ACCESS_KEY"
        [mcp.tracker]
        url = "https://tracker.example.org/mcp"
        token_env = "TRACKER_TOKEN"
    "#;
    insta::assert_snapshot!(lines(&format!("{text}\n{}", agent(""))), @r"
    send the key in ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN to http://api.anthropic.com (provider anthropic)
    send the key in AWS_SECRET_ACCESS_KEY to https://models.example.org/v1 (provider mine)
    send the key in OLLAMA_API_KEY to http://gpu:11434 (provider ollama)
    send the key in OPENAI_API_KEY to https://api.openai.com.example.org/v1 (provider openai)
    send the key in TRACKER_TOKEN to https://tracker.example.org/mcp (MCP server tracker)
    ");
}

#[test]
fn addresses_of_other_machines_are_named_though_no_key_goes_there() {
    let text = r#"
        [providers.far]
        kind = "ollama"
        base_url = "http://gpu.example.org:11434"
        [providers.near]
        kind = "ollama"
        base_url = "http://[::1]:11434"
        [mcp.open]
        url = "https://example.org/mcp"
        [mcp.here]
        url = "http://127.0.0.1:8931/mcp"
    "#;
    insta::assert_snapshot!(lines(&format!("{text}\n{}", agent(""))), @r"
    send what agents read to http://gpu.example.org:11434 (provider far)
    send what agents read to https://example.org/mcp (MCP server open)
    ");
}

#[test]
fn commands_that_nobody_is_asked_about_are_wanted() {
    let free = [
        "",
        "ask = [\"write_file\"]",
        "ask = [\"bash(command=git push*)\"]",
        "ask = [\"*\", \"!bash(command=./run*)\"]",
        "ask = [\"bash\"]\nallow = [\"bash(command=./run*)\"]",
        "deny = [\"bash(command=git push*)\"]",
    ];
    for rules in free {
        let text = agent(&format!("tools = [\"bash\", \"write_file\"]\n{rules}"));
        assert_eq!(wants(&text).commands, ["default"], "{rules}");
    }
    for rules in ["ask = [\"bash\"]", "ask = [\"*\"]", "deny = [\"b*\"]"] {
        let text = agent(&format!("tools = [\"bash\", \"write_file\"]\n{rules}"));
        assert!(wants(&text).is_empty(), "{rules}");
    }
    insta::assert_snapshot!(
        lines(&agent("tools = [\"bash\"]\nallow_outside_cwd = true")),
        @r"
    run commands without approval (agent default, bash)
    use files outside the working directory (agent default)
    "
    );
}

#[test]
fn a_text_from_outside_the_folder_is_wanted_wherever_links_lead() {
    let outer = tempfile::tempdir().unwrap();
    let outer = outer.path().canonicalize().unwrap();
    let folder = outer.join("project");
    fs::create_dir(&folder).unwrap();
    fs::write(outer.join("id_key"), "secret").unwrap();
    fs::write(folder.join("own.md"), "Be kind.").unwrap();
    std::os::unix::fs::symlink("../id_key", folder.join("link.md")).unwrap();
    let wanted = |file: &str| {
        let text = agent(&format!("instructions = {{ file = {file:?} }}"));
        let file = AgentFile::parse(&text, folder.join("neuron.toml")).unwrap();
        file.wants().files
    };
    assert!(wanted("own.md").is_empty());
    for file in ["../id_key", "link.md"] {
        assert_eq!(wanted(file), [outer.join("id_key")], "{file}");
    }
}

#[test]
fn what_is_shown_is_a_line_each_whoever_wrote_it() {
    let text = agent("tools = [\"bash\"]").replace("default", "\"a\\nstart nothing\\u001b[2K\"");
    let lines = wants(&text).lines();
    assert_eq!(lines.len(), 1);
    assert!(!lines[0].contains(char::is_control), "{lines:?}");
}
