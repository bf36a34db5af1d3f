//! Agents with the tools of MCP servers.

use std::sync::{Arc, Mutex};

use neuron_config::{AgentFile, AgentFileError, OpenAgents, OpenOptions};
use neuron_harness::HOSTILE_SERVER;
use neuron_mcp::McpNotice;
use neuron_testing::effects::scope;
use neuron_types::{AskRule, CompletionRequest, Message, ToolDefinition};

fn file() -> AgentFile {
    let text = format!(
        "[mcp.h]\ncommand = [\"node\", {HOSTILE_SERVER:?}, \"refuses\"]\n\n\
         [mcp.unused]\ncommand = [\"no-such-program\"]\n\n\
         [agents.default]\nmodel = \"demo/demo\"\ntools = [\"read_file\", \"mcp:h\"]\n\
         ask = [\"mcp:h\", \"!h__fine\"]\ndeny = [\"!mcp:h\"]\n\n\
         [agents.default.tool.h__fine]\ntimeout = \"1s\"\n\n\
         [agents.plain]\nmodel = \"demo/demo\"\n"
    );
    AgentFile::parse(&text, "neuron.toml").unwrap()
}

fn names(tools: &[ToolDefinition]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn a_run_carries_the_tools_that_its_servers_have_when_it_starts() {
    let options = OpenOptions::new(".");
    let agents = file().open(options.clone().agents(["default"])).await;
    let agents = agents.expect("only what the agent uses is started");
    let mut agent = agents.agent("default").unwrap();
    assert_eq!(
        names(&agent.head.tools),
        ["h__evil", "h__fine", "read_file"]
    );
    let asked = ["h__fine", "h__evil", "!h__fine"].map(AskRule::new);
    assert_eq!(agent.approvals.approve, asked);
    assert_eq!(agent.approvals.deny, ["!h__fine", "!h__evil"]);
    let executor = agents.executor(&agent).unwrap();
    assert!(
        executor
            .tools()
            .names()
            .eq(["h__evil", "h__fine", "read_file"])
    );
    agents.stop().await;

    // The same agent later, with a tool that the server has lost since.
    let later = file().open(options.definition(&agent)).await.unwrap();
    later.executor(&agent).unwrap();
    agent.head_mut().tools[0].name = "h__gone".into();
    let error = later.executor(&agent).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the agent default was started with the tool h__gone, which the MCP server h does not offer any \
         more: bring the tool back, or start a new run"
    );
    later.stop().await;
}

/// Returns what an answer to an agent names as left out.
async fn left_out(agents: &OpenAgents, name: &str) -> Vec<String> {
    let agent = agents.agent(name).unwrap();
    let executor = agents.executor(&agent).unwrap();
    let mut scope = scope();
    scope.step.position = 0;
    let request = CompletionRequest::new((*agent.head).clone(), vec![Message::user("Hi")]);
    let answer = executor.call_model(&scope, &request).await;
    answer.unwrap().left_out
}

#[tokio::test]
async fn answers_to_an_agent_name_the_tools_of_its_own_servers_that_cannot_be_used() {
    let text = format!(
        "[mcp.h]\ncommand = [\"node\", {HOSTILE_SERVER:?}, \"schemas\"]\n\n\
         [agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:h\"]\n\n\
         [agents.plain]\nmodel = \"demo/demo\"\n"
    );
    let file = AgentFile::parse(&text, "neuron.toml").unwrap();
    let agents = file.open(OpenOptions::new(".")).await.unwrap();
    assert_eq!(
        left_out(&agents, "default").await,
        [
            "the tool \"deep\" of the MCP server h is left out: its schema is nested deeper than 32",
            "the tool \"big\" of the MCP server h is left out: its schema has more than 65536 bytes",
            "the tool \"array\" of the MCP server h is left out: the schema of its arguments is not that of an object",
        ]
    );
    assert!(left_out(&agents, "plain").await.is_empty());
    agents.stop().await;
}

#[tokio::test]
async fn answers_to_an_agent_name_its_own_servers_that_it_does_without() {
    let text = "[mcp.gone]\ncommand = [\"no-such-program\"]\nrequired = false\n\n\
                [agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:gone\"]\n\n\
                [agents.plain]\nmodel = \"demo/demo\"\n";
    let file = AgentFile::parse(text, "neuron.toml").unwrap();
    let agents = file.open(OpenOptions::new(".")).await.unwrap();
    let told = left_out(&agents, "default").await;
    let [sentence] = told.as_slice() else {
        panic!("{told:?}");
    };
    let what =
        "the tools of the MCP server gone are left out: the MCP server gone cannot be reached";
    assert!(sentence.starts_with(what), "{sentence}");
    assert!(left_out(&agents, "plain").await.is_empty());
    agents.stop().await;
}

#[tokio::test]
async fn an_agent_that_was_not_opened_is_of_no_use() {
    let definition = file().definition("default").unwrap().clone();
    let opened = file().open(OpenOptions::new(".").agents(["plain"])).await;
    let agents = opened.unwrap();
    assert!(agents.names().eq(["plain"]));
    assert!(agents.agent("plain").is_ok());
    let error = agents.agent("default").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the agent default uses the MCP server h, which was not started: open the agent too"
    );
    let mut with_tool = definition;
    with_tool.head_mut().tools[0].name = "h__fine".into();
    let error = agents.executor(&with_tool).unwrap_err();
    assert!(
        matches!(error, AgentFileError::McpNotStarted { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn no_server_is_started_for_an_agent_that_there_is_not() {
    let opened = file().open(OpenOptions::new(".").agents(["defualt"])).await;
    assert_eq!(
        opened.unwrap_err().to_string(),
        "unknown agent \"defualt\": did you mean \"default\"?"
    );
}

#[tokio::test]
async fn one_server_that_does_not_start_keeps_all_closed() {
    let text = "[mcp.gone]\ncommand = [\"no-such-program\"]\n\
                [agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:gone\"]\n\
                [agents.plain]\nmodel = \"demo/demo\"";
    let file = AgentFile::parse(text, "neuron.toml").unwrap();
    let options = OpenOptions::new(".");
    let opened = file.clone().open(options.clone()).await;
    assert!(matches!(opened.unwrap_err(), AgentFileError::Mcp(_)));
    let plain = file.open(options.agents(["plain"])).await.unwrap();
    assert!(plain.names().eq(["plain"]));
}

#[tokio::test]
async fn a_server_that_needs_a_variable_says_so() {
    let text = "[mcp.h]\ncommand = [\"node\"]\nenv = [\"NEURON_NO_SUCH_VARIABLE\"]\n\
                [agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:h\"]";
    let file = AgentFile::parse(text, "neuron.toml").unwrap();
    let opened = file.open(OpenOptions::new(".")).await;
    assert_eq!(
        opened.unwrap_err().to_string(),
        "the MCP server h needs the variable NEURON_NO_SUCH_VARIABLE: set it"
    );
}

fn problems(lines: &str) -> String {
    let text = format!(
        "[mcp.h]\ncommand = [\"node\"]\n{lines}\n\n\
         [agents.default]\nmodel = \"openai/small\"\ntools = [\"mcp:h\"]\n\n\
         [agents.other]\nmodel = \"openai/large\"\ntools = [\"mcp:h\"]\n\n\
         [agents.third]\nmodel = \"demo/demo\"\n"
    );
    match AgentFile::parse(&text, "neuron.toml") {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_server_may_ask_one_model_that_is_plain_to_see() {
    assert_eq!(problems("elicitation = true"), "");
    assert_eq!(
        problems("sampling = \"openai/small\"\nsampling_max_tokens = 9"),
        ""
    );
    assert_eq!(
        problems("sampling = true"),
        "neuron.toml:3: sampling in [mcp.h] is true, and the agents that use this server have different \
         models: write the model, as in \"openai/gpt-6.1-terra\""
    );
    assert_eq!(
        problems("sampling_max_tokens = 9"),
        "neuron.toml:3: sampling_max_tokens in [mcp.h] has no effect without sampling"
    );
    let unknown = problems("sampling = \"nobody/small\"");
    assert!(
        unknown.contains("unknown provider \"nobody\" in sampling of [mcp.h]"),
        "{unknown}"
    );
    let nonsense = problems("sampling = 3");
    assert!(nonsense.contains("sampling in [mcp.h] is 3"), "{nonsense}");
}

#[tokio::test]
async fn an_agent_does_without_a_server_that_is_not_required() {
    let text = format!(
        "[mcp.h]\ncommand = [\"node\", {HOSTILE_SERVER:?}, \"refuses\"]\n\n\
         [mcp.gone]\ncommand = [\"no-such-program\"]\nrequired = false\n\n\
         [agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:h\", \"mcp:gone\"]\n\n\
         [agents.plain]\nmodel = \"demo/demo\"\ntools = [\"mcp:gone\"]\n"
    );
    let file = AgentFile::parse(&text, "neuron.toml").unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let options = OpenOptions::new(".").agents(["default"]).mcp_notices({
        let heard = Arc::clone(&heard);
        move |notice: &McpNotice<'_>| heard.lock().unwrap().push(notice.to_string())
    });
    let agents = file.open(options).await.unwrap();
    assert!(agents.names().any(|name| name == "default"));
    let mut agent = agents.agent("default").unwrap();
    assert_eq!(names(&agent.head.tools), ["h__evil", "h__fine"]);
    let heard = heard.lock().unwrap().join("\n");
    assert!(
        heard.contains("the MCP server gone") && heard.contains("its tools are left out"),
        "{heard}"
    );
    // A run may have begun while the tool existed.
    agent.head_mut().tools[0].name = "gone__tool".into();
    let executor = agents.executor(&agent).unwrap();
    assert!(executor.tools().names().eq(["h__evil", "h__fine"]));
    agents.stop().await;
}

#[tokio::test]
async fn the_other_agents_are_opened_where_closed_ones_are_skipped() {
    let text = "[mcp.gone]\ncommand = [\"no-such-program\"]\n\
                [agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:gone\"]\n\
                [agents.plain]\nmodel = \"demo/demo\"";
    let file = AgentFile::parse(text, "neuron.toml").unwrap();
    let options = OpenOptions::new(".").skipping_closed();
    let agents = file.open(options).await.unwrap();
    assert!(agents.names().eq(["plain"]));
    let closed: Vec<_> = agents.closed().collect();
    let [("default", why)] = closed.as_slice() else {
        panic!("{closed:?}");
    };
    assert!(why.contains("the MCP server gone"), "{why}");
}

#[test]
fn headers_have_names_and_values_that_can_be_sent_once() {
    let problems = |lines: &str| {
        let text = format!(
            "[mcp.h]\nurl = \"https://example.org/mcp\"\n{lines}\n\n\
             [agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:h\"]\n"
        );
        match AgentFile::parse(&text, "neuron.toml") {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let fine = "headers = { \"X-Team\" = \"a\" }\nheaders_env = { Authorization = \"LOGIN\" }\n\
                start_timeout = \"5s\"\nrequired = false";
    assert_eq!(problems(fine), "");
    for (lines, what) in [
        (
            "headers = { \"X Team\" = \"a\" }",
            "not the name of a header",
        ),
        (
            "headers = { \"Mcp-Session-Id\" = \"a\" }",
            "which the protocol sets",
        ),
        ("headers = { \"X-A\" = \"a\\nb\" }", "control characters"),
        (
            "headers_env = { X-A = \"A=b\" }",
            "not the name of a variable",
        ),
        (
            "headers = { x-a = \"a\" }\nheaders_env = { X-A = \"B\" }",
            "so has headers",
        ),
        (
            "token_env = \"T\"\nheaders_env = { Authorization = \"A\" }",
            "which token_env sends",
        ),
    ] {
        let found = problems(lines);
        assert!(found.contains(what), "{lines}: {found}");
    }
}

#[test]
fn an_agent_is_not_ready_whose_server_has_no_program() {
    let check = |lines: &str| {
        let text = format!(
            "[mcp.h]\n{lines}\n\n[agents.default]\nmodel = \"demo/demo\"\ntools = [\"mcp:h\"]\n"
        );
        let file = AgentFile::parse(&text, "neuron.toml").unwrap();
        file.check("default", &OpenOptions::new("."))
    };
    let gone = "command = [\"no-such-program\"]";
    assert_eq!(
        check(gone).unwrap_err().to_string(),
        "the MCP server h cannot be started: there is no program no-such-program: install it, or correct its command"
    );
    assert!(check(&format!("{gone}\nrequired = false")).is_ok());
    assert!(check("command = [\"sh\"]").is_ok());
    assert!(check("url = \"https://example.org/mcp\"").is_ok());
}
