use neuron_config::AgentFile;
use neuron_types::{
    AgentSpec, AskRule, ContextRule, Limits, OnHalt, Reminder, ReminderTrigger, RetryPolicy,
    SystemPrompt, ThinkingConfig,
};
use serde_json::Value;

use super::{definition, parse};
use crate::times::{DAY, HOUR, SECOND};

const FULL: &str = r#"
[providers.openai]
kind = "openai-responses"
base_url = "https://api.openai.com/v1"
api_key_env = "OPENAI_API_KEY"

[providers.cheap]
kind = "openai-chat"
base_url = "http://127.0.0.1:11434/v1"

[agents.default]
model = "openai/gpt-6.1-terra"
instructions = "You are a careful assistant."
tools = ["read_file", "bash", "grep"]
ask = ["*", "!read_file"]
deny = ["grep"]
callers_may_set = ["limits", "model"]
approval_timeout = "1h 30m"
on = { failure = "end", limit = "end", expiry = "fail", unknown_outcome = "ask" }
parallel_tools = false
parallel_writes = true
calls_per_turn = 8
stop_on_first_tool = true
max_tokens = 4_000
temperature = 0.5
thinking = 2048
effort = "high"
model_timeout = "5m"
tool_timeout = "2m"
tool_output_bytes = 10_000
allow_outside_cwd = true

[agents.default.limits]
turns = 20
tool_calls = 100
tokens = 2_000_000
cost_usd = "5.00"
duration = "30m"

[agents.default.context]
strategy = ["clear_tool_results", "summarize"]
at_tokens = 80_000
keep = 6
model = "cheap/llama/small"

[agents.default.retry]
attempts = 3
initial = "500ms"
factor = 1.5
max = "20s"

[agents.default.tool.bash]
timeout = "30s"
parallel_writes = false

[agents.default.tool.read_file]
attempts = 9

[agents.small]
model = "demo/demo"

[prices."openai/gpt-6.1-terra"]
input = "1.25"
output = 10
cache_read = 0.125

[prices."cheap/llama/small"]
input = 0
output = 0
"#;

/// Returns the definition as it is journaled, with the names of its tools in place of their definitions.
fn journaled(agent: &AgentSpec) -> Value {
    let mut value = serde_json::to_value(agent).unwrap();
    if let Some(tools) = value["head"]["tools"].as_array_mut() {
        for tool in tools {
            *tool = tool["name"].clone();
        }
    }
    value
}

#[test]
fn holds_everything_that_the_file_says() {
    let agent = definition(FULL, "default");
    insta::assert_json_snapshot!(journaled(&agent));
}

#[test]
fn has_the_defaults_for_what_the_file_leaves_out() {
    let agent = definition(FULL, "small");
    let default = AgentSpec::default();
    let expected = AgentSpec {
        name: "small".into(),
        head: neuron_types::RequestHead {
            provider: Some("demo".into()),
            ..neuron_types::RequestHead::new("demo")
        }
        .into(),
        max_repeats: Some(3),
        tool_search: Some(neuron_types::ToolSearch::default()),
        ..default
    };
    assert_eq!(agent, expected);
}

#[test]
fn lists_the_agents_by_name() {
    let file = parse(FULL).unwrap();
    let names: Vec<&str> = file
        .definitions()
        .map(|agent| agent.name.as_str())
        .collect();
    assert_eq!(names, ["default", "small"]);
}

#[test]
fn tells_demo_agents_from_others() {
    let file = parse(FULL).unwrap();
    assert!(file.is_demo(file.definition("small").unwrap()));
    assert!(!file.is_demo(file.definition("default").unwrap()));
}

#[test]
fn names_its_tools_in_an_order_of_its_own() {
    let tools = |list: &str| {
        let text = format!("[agents.a]\nmodel = \"demo/demo\"\ntools = {list}");
        definition(&text, "a").head.tools.clone()
    };
    let one = tools(r#"["read_file", "bash"]"#);
    assert_eq!(one, tools(r#"["bash", "read_file"]"#));
    assert_eq!(one.len(), 2);
}

#[test]
fn tells_a_command_to_end_before_its_step_does() {
    let text = "[agents.a]\nmodel = \"demo/demo\"\ntools = [\"bash\"]\n\
                [agents.a.tool.bash]\ntimeout = \"100s\"";
    let agent = definition(text, "a");
    let description = &agent.head.tools[0].description;
    assert!(description.contains("has 90 seconds"), "{description}");
}

fn agent(lines: &str) -> AgentSpec {
    let text = format!("[agents.a]\nmodel = \"demo/demo\"\n{lines}");
    definition(&text, "a")
}

#[test]
fn reads_the_short_forms() {
    let none = agent("[agents.a.context]\nstrategy = \"none\"").context;
    assert!(none.rules.is_empty());
    let one = agent("[agents.a.context]\nstrategy = \"sliding_window\"").context;
    assert_eq!(one.rules, [ContextRule::SlidingWindow { keep: 10 }]);
    let own = agent("[agents.a.context]\nstrategy = \"summarize\"").context;
    let rule = ContextRule::Summarize {
        keep: 10,
        model: None,
        summary_prompt: None,
    };
    assert_eq!(own.rules, [rule]);
    let asked =
        "[agents.a.context]\nstrategy = \"summarize\"\nsummary_prompt = \"List the decisions.\"";
    let rule = ContextRule::Summarize {
        keep: 10,
        model: None,
        summary_prompt: Some("List the decisions.".into()),
    };
    assert_eq!(agent(asked).context.rules, [rule]);
    let thinking = agent("thinking = \"adaptive\"").head.thinking;
    assert_eq!(thinking, Some(ThinkingConfig::Adaptive));
}

#[test]
fn changes_only_the_limits_that_it_states() {
    let limits = agent("[agents.a.limits]\nturns = 3").limits;
    let expected = Limits {
        turns: Some(3),
        ..Limits::default()
    };
    assert_eq!(limits, expected);
}

#[test]
fn has_a_person_asked_before_a_run_ends_where_the_file_says_so() {
    let silent = agent("on = { expiry = \"fail\" }");
    assert_eq!(
        (silent.on_failure, silent.on_limit),
        (OnHalt::End, OnHalt::End)
    );
    let asking =
        agent("on = { failure = \"ask\", limit = \"ask\" }\nlimits = { deadline = \"2d\" }");
    assert_eq!(
        (asking.on_failure, asking.on_limit),
        (OnHalt::Ask, OnHalt::Ask)
    );
    let days = 2 * DAY;
    assert_eq!(asking.limits.deadline, Some(days));
    assert_eq!(asking.limits.turns, Some(50));
}

#[test]
fn model_calls_have_attempts_without_end_or_as_many_as_are_theirs() {
    let plain = agent("[agents.a.retry]\nattempts = 2\ninitial = \"2s\"");
    assert_eq!(plain.model_retry, None);
    assert_eq!(plain.model_retry_policy().maximum_attempts, 0);
    let own = agent(
        "give_up_after = \"2h\"\n[agents.a.retry]\nattempts = 0\ninitial = \"2s\"\n\
         [agents.a.retry.model]\nattempts = 3\nmax = \"9s\"",
    );
    assert_eq!(own.retry.maximum_attempts, 0);
    assert_eq!(own.give_up_after, Some(2 * HOUR));
    let model = RetryPolicy {
        maximum_attempts: 3,
        initial_interval: 2 * SECOND,
        maximum_interval: 9 * SECOND,
        ..RetryPolicy::default()
    };
    assert_eq!(own.model_retry, Some(model));
    let slower = agent("[agents.a.retry.model]\nmax = \"5m\"");
    assert_eq!(slower.model_retry_policy().maximum_attempts, 0);
}

#[test]
fn lets_a_tool_take_the_rest_of_its_retries_from_the_agent() {
    let agent = agent(
        "tools = [\"bash\", \"grep\"]\n[agents.a.retry]\nfactor = 3\n\
         [agents.a.tool.bash]\nattempts = 2\n[agents.a.tool.grep]\ntimeout = \"7s\"",
    );
    let retry = RetryPolicy {
        backoff_coefficient: 3.0,
        ..RetryPolicy::default()
    };
    assert_eq!(agent.retry, retry);
    let bash = RetryPolicy {
        maximum_attempts: 2,
        ..retry
    };
    assert_eq!(agent.tool_settings["bash"].retry, Some(bash));
    assert_eq!(agent.tool_settings["grep"].retry, None);
    assert_eq!(agent.tool_settings["grep"].timeout, Some(7 * SECOND));
}

#[test]
fn puts_sections_behind_the_instructions_and_reads_reminders() {
    let agent = agent(
        "instructions = \"Be kind.\"\n\
         [agents.a.context.sections.Style]\ncontent = \"Short.\"\npriority = 5\n\
         [agents.a.context.sections.Rules]\ncontent = \"Never push.\"\n\
         [agents.a.context.reminders.plan]\ntext = \"Keep to it.\"\nevery_turns = 10\n\
         [agents.a.context.reminders.size]\ntext = \"Be brief.\"\nat_tokens = 9_000\n\
         [agents.a.context.reminders.calls]\ntext = \"Closer?\"\nevery_tool_calls = 4",
    );
    let system = "Be kind.\n\n# Rules\n\nNever push.\n\n# Style\n\nShort.";
    assert_eq!(agent.head.system, Some(SystemPrompt::Text(system.into())));
    let reminder = |text: &str, when| Reminder {
        text: text.to_owned(),
        when,
    };
    assert_eq!(
        agent.context.reminders,
        [
            reminder("Closer?", ReminderTrigger::EveryToolCalls(4)),
            reminder("Keep to it.", ReminderTrigger::EveryTurns(10)),
            reminder("Be brief.", ReminderTrigger::AtTokens(9_000)),
        ]
    );
    assert!(agent.context.rules.is_empty());
}

#[test]
fn a_question_may_say_whom_to_ask_and_how_many() {
    let agent = definition(
        r#"
[agents.a]
model = "demo/demo"
tools = ["bash"]
ask = [
    { call = "bash(command=git push*)", from = "ops", needed = 2, within = "4h", then = "leads" },
    { call = "bash(command=git pull*)" },
    "bash",
]
"#,
        "a",
    );
    let push = AskRule {
        from: Some("ops".into()),
        needed: 2,
        within: Some(4 * HOUR),
        then: Some("leads".into()),
        ..AskRule::new("bash(command=git push*)")
    };
    let plain = ["bash(command=git pull*)", "bash"].map(AskRule::new);
    assert_eq!(agent.approvals.approve[0], push);
    assert_eq!(agent.approvals.approve[1..], plain);
}

#[test]
fn a_question_that_says_what_cannot_be_is_refused() {
    for (rule, said) in [
        ("{ from = \"ops\" }", "lacks a key"),
        (
            "{ call = \"bash\", needed = 0 }",
            "write a whole number of at least 1",
        ),
        ("{ call = \"bash\", form = \"ops\" }", "unknown key"),
        (
            "{ call = \"!bash\", from = \"ops\" }",
            "which excepts calls",
        ),
        ("{ call = \"bash(\" }", "which is not a pattern"),
        ("{ call = \"bash\", then = \"leads\" }", "but not when"),
        ("3", "contains a value that is neither"),
    ] {
        let text =
            format!("[agents.a]\nmodel = \"demo/demo\"\ntools = [\"bash\"]\nask = [{rule}]\n");
        let error = AgentFile::parse(&text, "neuron.toml").unwrap_err();
        assert!(error.to_string().contains(said), "{rule}: {error}");
    }
}

#[test]
fn a_model_can_be_a_list_of_which_the_first_is_asked_first() {
    let text = "[defaults]\nmodel = [\"demo/demo\", \"openai/gpt-6.1-terra\", \"ollama/qwen/3\"]\n\
                [agents.listed]\n[agents.own]\nmodel = \"demo/demo\"\n";
    let listed = definition(text, "listed").head;
    assert_eq!(listed.provider.as_deref(), Some("demo"));
    assert_eq!(listed.model, "demo");
    assert_eq!(
        listed.fallback_models,
        ["openai/gpt-6.1-terra", "ollama/qwen/3"]
    );
    let models: Vec<_> = listed.models().collect();
    assert_eq!(
        models,
        ["demo/demo", "openai/gpt-6.1-terra", "ollama/qwen/3"]
    );
    assert!(definition(text, "own").head.fallback_models.is_empty());
}

#[test]
fn every_model_of_a_list_is_checked() {
    let problem = |list: &str| {
        let text = format!("[agents.a]\nmodel = {list}\n");
        parse(&text).unwrap_err().to_string()
    };
    for (list, said) in [
        ("[]", "is an empty list"),
        ("[\"demo/demo\", \"gpt\"]", "names no provider"),
        (
            "[\"demo/demo\", \"nobody/m\"]",
            "unknown provider \"nobody\"",
        ),
        (
            "[\"demo/demo\", \"demo/demo\"]",
            "names the same model twice",
        ),
    ] {
        let problem = problem(list);
        assert!(problem.contains(said), "{list}: {problem}");
    }
}
