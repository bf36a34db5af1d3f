use std::fmt::Write as _;

use neuron_config::{AgentFile, AgentFileError};
use proptest::prelude::*;

use super::parse;

fn problems(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

/// Returns the problems of an agent `a` that has these lines after `model`, which is line 2.
fn agent(lines: &str) -> String {
    problems(&format!("[agents.a]\nmodel = \"demo/demo\"\n{lines}"))
}

/// Returns each text and its problems, for a snapshot.
fn table(cases: &[&str], problems: impl Fn(&str) -> String) -> String {
    let mut table = String::new();
    for case in cases {
        let problems = problems(case).replace('\n', "\n  ");
        write!(table, "{case}\n  {problems}\n\n").unwrap();
    }
    table
}

#[test]
fn name_the_key_of_an_agent_and_its_line() {
    let cases = [
        "modle = \"x/y\"",
        "colour = \"red\"",
        "model = 3",
        "instructions = [\"a\"]",
        "tools = \"bash\"",
        "tools = [\"bash\", 1]",
        "tools = [\n  \"bash\",\n  \"raed_file\",\n]",
        "tools = [\"browser\"]",
        "tools = [\"mcp:everything\"]",
        "handoffs = [\"b\"]",
        "handoffs = [\"a\"]",
        "handoffs = \"a\"",
        "handoffs = [{ conversation = \"last\" }]",
        "handoffs = [{ name = \"a\", conversation = \"half\" }]",
        "deny = [\"transfer_to_b\"]",
        "approve = [\"bash\"]",
        "ask = [\"bahs\"]",
        "ask = [\"!grpe\"]",
        "deny = [\"bash(ls\"]",
        "deny = [\"bash(cmd=ls)\"]",
        "allow = [\"web_*\"]",
        "approval_timeout = 30",
        "approval_timeout = \"soon\"",
        "on_expiry = \"deny\"",
        "on_unknown_outcome = \"ask_person\"",
        "on = { expiry = \"escalate\" }",
        "on = { unknown_outcome = \"retry\" }",
        "on = { failure = \"retry\" }",
        "on = { limit = \"raise\" }",
        "on = { limits = \"end\" }",
        "on = \"end\"",
        "parallel_tools = \"yes\"",
        "parallel_writes = 1",
        "calls_per_turn = 0",
        "stop_on_first_tool = 1",
        "callers_may_set = [\"modell\", \"everything\"]",
        "max_tokens = 0",
        "max_tokens = -1",
        "temperature = \"hot\"",
        "temperature = nan",
        "thinking = \"hard\"",
        "thinking = 0",
        "effort = \"hihg\"",
        "tool_output_bytes = 1.5",
        "allow_outside_cwd = 1",
        "limits = 5",
        "[agents.a.limits]\nturns = 0",
        "[agents.a.limits]\nturns = 4294967296",
        "[agents.a.limits]\ncost_usd = \"five\"",
        "[agents.a.limits]\ncost_usd = -1",
        "[agents.a.limits]\nduration = \"0s\"",
        "[agents.a.limits]\ntime = \"5m\"",
        "[agents.a.context]\nkeep = 3",
        "[agents.a.context]\nstrategy = \"slidingwindow\"",
        "[agents.a.context]\nstrategy = [\"none\", \"summarize\"]",
        "[agents.a.context]\nstrategy = \"provider_summarize\"",
        "[agents.a.context]\nstrategy = \"summarize\"\nmodel = \"small\"",
        "[agents.a.context]\nstrategy = \"none\"\nmodel = \"demo/demo\"",
        "[agents.a.context]\nstrategy = \"none\"\nsummary_prompt = \"Be short.\"",
        "[agents.a.context]\nstrategy = \"summarize\"\nsummary_prompt = \" \"",
        "[agents.a.context.sections.Rules]\npriority = 1",
        "[agents.a.context.reminders.plan]\ntext = \"Keep to it.\"",
        "[agents.a.context.reminders.plan]\ntext = \"Keep to it.\"\nevery_turns = 2\nat_tokens = 9",
        "[agents.a.retry]\nfactor = 0.5",
        "[agents.a.retry]\ntries = 3",
        "[agents.a.tool.bahs]\ntimeout = \"5s\"",
        "tools = [\"grep\"]\n[agents.a.tool.bash]\ntimeout = \"5s\"",
        "tools = [\"bash\"]\n[agents.a.tool.bash]\ntime = \"5s\"",
    ];
    insta::assert_snapshot!(table(&cases, agent));
}

#[test]
fn name_what_is_wrong_around_the_agents() {
    let cases = [
        "",
        "[agents]",
        "agents = 3",
        "[agents.a]",
        "[agents.a]\nmodel = \"gpt-6.1-terra\"",
        "[agents.a]\nmodel = \"opnai/gpt-6.1-terra\"",
        "[agents.a]\nmodel = \"openai/\"",
        "[agnets.a]\nmodel = \"demo/demo\"",
        "[agents.a]\nmodel = \"demo/demo",
        "[agents.a]\nmodel = \"demo/demo\"\nmodel = \"demo/demo\"",
        "[agents.\"a b\".limits]\nturns = true",
        "[mcp.everything]\n[agents.a]\nmodel = \"demo/demo\"",
        "[mcp.everything]\ncommand = []\n[agents.a]\nmodel = \"demo/demo\"",
        "[mcp.both]\ncommand = [\"npx\"]\nurl = \"http://localhost/mcp\"\n[agents.a]\nmodel = \"demo/demo\"",
        "[mcp.a__b]\ncommand = [\"npx\"]\n[agents.a]\nmodel = \"demo/demo\"",
        "[mcp.remote]\nurl = \"localhost:3001\"\nenv = [\"A\"]\n[agents.a]\nmodel = \"demo/demo\"",
        "[mcp.local]\ncommand = [\"npx\", \"sk-ant-api03-0123456789abcdef0123456789abcdef\"]\ntoken_env = \"T\"\n[agents.a]\nmodel = \"demo/demo\"",
        "[mcp.local]\ncommand = [\"npx\"]\nenv = [\"TOKEN=abc\"]\nargs = []\n[agents.a]\nmodel = \"demo/demo\"",
        "[mcp.remote]\nurl = \"http://tracker.example.org/mcp\"\ntoken_env = \"T\"\n[agents.a]\nmodel = \"demo/demo\"",
        "[mcp.local]\ncommand = [\"npx\"]\ninsecure = true\n[agents.a]\nmodel = \"demo/demo\"",
    ];
    insta::assert_snapshot!(table(&cases, problems));
}

#[test]
fn name_what_is_wrong_with_a_provider() {
    let cases = [
        "kind = \"opnai-chat\"",
        "kind = \"ollama\"\nnum_ctx = 0\nkeep_alive = \"long\"\nthink = \"hard\"",
        "kind = \"openai-chat\"\nnum_ctx = 8192",
        "kind = \"anthropic\"\nversion = \"2025\"\ncache = \"10m\"\nthinking_display = true",
        "kind = \"anthropic\"\nbetas = \"one\"\nmismatched_thinking = \"keep\"\ncaches = \"off\"",
        "base_url = \"https://example.org\"",
        "kind = \"script\"",
        "kind = \"script\"\nfile = 7",
        "kind = \"demo\"\nfile = \"x.json\"",
        "kind = \"openai-chat\"\nurl = \"https://example.org\"",
        "kind = \"openai-chat\"\nbase_url = \"example.org/v1\"",
        "kind = \"openai-chat\"\napi_key_env = \"my key\"",
        "kind = \"openai-chat\"\ntenant_keys = { acme = \"my key\" }",
        "kind = \"openai-chat\"\ntenant_keys = { acme = 3 }",
        "kind = \"demo\"\ntenant_keys = { acme = \"KEY_OF_ACME\" }",
        "kind = \"openai-chat\"\nbase_url = \"http://models.example.org/v1\"\napi_key_env = \"MODELS_KEY\"",
        "kind = \"ollama\"\nbase_url = \"http://192.168.0.7:11434\"\ntenant_keys = { acme = \"KEY_OF_ACME\" }",
        "kind = \"openai-chat\"\ninsecure = \"yes\"",
    ];
    let provider = |lines: &str| {
        problems(&format!(
            "[agents.a]\nmodel = \"demo/demo\"\n[providers.p]\n{lines}"
        ))
    };
    insta::assert_snapshot!(table(&cases, provider));
}

#[test]
fn name_what_is_wrong_with_prices() {
    let cases = [
        "[prices.\"demo/demo\"]\ninput = 1",
        "[prices.\"demo/demo\"]\ninput = 1\noutput = \"much\"\ncached = 3",
        "[prices.\"demo/demo\"]\ninput = 1\noutput = 1\nlong_prompt = { input = 2, above = 0 }",
        "[prices.demo]\ninput = 1\noutput = 1",
        "[prices.\"dmeo/demo\"]\ninput = 1\noutput = 1",
        "[prices.\"demo/de*o\"]\ninput = 1\noutput = 1",
        "[prices.\"demo/d**\"]\ninput = 1\noutput = 1",
        "[agents.a.limits]\ncost_usd = 1",
        "[agents.a.limits]\ncost_usd = 1\n[agents.a.context]\nstrategy = \"summarize\"\n\
         model = \"openai/small\"\n[prices.\"demo/demo\"]\ninput = 0\noutput = 0",
    ];
    insta::assert_snapshot!(table(&cases, agent));
}

#[test]
fn never_repeat_a_key() {
    let secret = "sk-proj-Zm9vYmFyYmF6cXV4MTIz";
    for lines in [
        format!("[providers.openai]\napi_key = \"{secret}\""),
        format!("[providers.openai]\ntoken = \"{secret}\""),
        format!("[providers.openai]\napi_key_env = \"{secret}\""),
        "[providers.openai]\napi_key_env = \"ABCDEF0123456789ABCDEF0123456789\"".to_owned(),
        format!("[providers.openai]\ntenant_keys = {{ acme = \"{secret}\" }}"),
        format!("[providers.openai]\ntenant_keys = {{ \"{secret}\" = \"acme\" }}"),
        format!("[providers.openai]\ntenant_keys = {{ \"{secret}\" = 1 }}"),
        format!("[providers.openai]\nkind = \"{secret}\""),
        format!("[providers.openai]\nbase_url = \"https://me:{secret}@example.org\""),
        format!("[agents.b]\nmodel = \"{secret}\""),
        format!("[agents.b]\nmodel = \"{secret}/x\""),
        format!("[agents.b]\nmodel = \"demo/demo\"\nparallel_tools = \"{secret}\""),
        format!("[agents.b]\nmodel = \"demo/demo\"\n\"{secret}\" = 1"),
        format!("[agents.b]\nmodel = \"{secret}"),
        format!("[{secret}"),
    ] {
        let text = format!("[agents.a]\nmodel = \"demo/demo\"\n{lines}");
        let error = parse(&text).expect_err(&lines);
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(!shown.contains("Zm9vYmFy"), "{shown}");
            assert!(!shown.contains("ABCDEF0123"), "{shown}");
        }
    }
}

#[test]
fn come_all_at_once_in_the_order_of_the_lines() {
    let text =
        "[agents.a]\nmodel = \"x/y\"\ntools = [\"bsah\"]\n\n[agents.a.limits]\nturns = \"many\"";
    let Err(AgentFileError::Invalid { problems, .. }) = parse(text) else {
        panic!("the file is wrong");
    };
    let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3, 6]);
}

#[test]
fn name_the_agents_that_there_are() {
    let file =
        parse("[agents.default]\nmodel = \"demo/demo\"\n[agents.coder]\nmodel = \"demo/demo\"");
    let file = file.unwrap();
    let error = |name: &str| file.definition(name).unwrap_err().to_string();
    assert_eq!(
        error("defualt"),
        "unknown agent \"defualt\": did you mean \"default\"?"
    );
    assert_eq!(
        error("writer"),
        "unknown agent \"writer\": use coder or default"
    );
}

#[test]
fn name_a_file_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let error = AgentFile::load(folder.path().join("neuron.toml")).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, AgentFileError::Read { .. }));
    assert!(
        text.contains("neuron.toml cannot be read: No such file"),
        "{text}"
    );
}

proptest! {
    #[test]
    fn come_for_any_text_that_is_no_agent_file(text in "[\\[\\]a-z.=\"0-9\\n# é]{0,80}") {
        if let Err(AgentFileError::Invalid { problems, .. }) = parse(&text) {
            let lines = text.matches('\n').count() + 1;
            prop_assert!(!problems.is_empty());
            prop_assert!(problems.iter().all(|problem| problem.line <= lines));
        }
    }

    #[test]
    fn come_for_any_value_in_place_of_another(
        key in prop::sample::select(vec![
            "model", "instructions", "tools", "ask", "approval_timeout", "on",
            "limits", "context", "retry", "tool", "max_tokens", "temperature", "thinking",
            "effort", "parallel_tools", "parallel_writes", "calls_per_turn",
            "stop_on_first_tool",
        ]),
        value in prop::sample::select(vec![
            "1", "-1", "1.5", "\"é\"", "true", "[]", "[1]", "{}", "{ a = 1 }", "1979-05-27", "nan",
            "0x10", "99999999999999999999", "\"9999999999999y\"", "\"1e400\"",
        ]),
    ) {
        let name = if key == "model" { "" } else { "model = \"demo/demo\"\n" };
        // Whether the value fits or not: an answer, and no panic.
        match parse(&format!("[agents.a]\n{name}{key} = {value}")) {
            Ok(file) => prop_assert!(file.definition("a").is_ok()),
            Err(error) => prop_assert!(error.to_string().starts_with("neuron.toml:")),
        }
    }
}

#[test]
fn no_message_has_control_characters() {
    for text in [
        "a\u{1b}[31m = 1\na\u{1b}[31m = 2\n",
        "[agents.a]\nmodel = \"demo/demo\"\nmax_tokens = 8000\u{1c}\n",
    ] {
        let said = problems(text).replace('\n', "");
        assert!(!said.contains(char::is_control), "{said:?}");
    }
}
