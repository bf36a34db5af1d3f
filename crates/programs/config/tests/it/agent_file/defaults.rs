//! The settings that all agents of a file have in common, and the short forms.

use neuron_types::{AgentSpec, AskRule, ContextRule, Placement, RetryPolicy, SystemPrompt};
use rust_decimal::Decimal;

use super::{definition as agent, parse};
use crate::times::{MINUTE, SECOND};

fn tools(agent: &AgentSpec) -> Vec<&str> {
    let tools = agent.head.tools.iter();
    tools.map(|tool| tool.name.as_str()).collect()
}

const DEFAULTS: &str = r#"
version = 1

[defaults]
model = "demo/demo"
instructions = "Be kind."
tools = ["read_file", { name = "bash", timeout = "30m" }]
ask = ["bash"]
limits = { turns = 9, tokens = 1_000 }
retry = { attempts = 7, max = "5s" }
temporal = { task_queue = "slow", priority = 2 }
extra = { metadata = { team = "a", tier = 1 } }

[defaults.context]
strategy = ["clear_tool_results", "summarize"]
at_tokens = 80_000
model = "demo/small"

[defaults.context.sections.Rules]
content = "Never push."
priority = 3

[defaults.tool.grep]
attempts = 2

[agents.plain]

[agents.other]
instructions = "Be brief."
tools = ["grep", "bash"]
ask = []
limits = { turns = 3 }
temporal.priority = 5

[agents.other.context]
strategy = "sliding_window"
sections.Rules.content = "Never pull."

[agents.other.retry]
attempts = 1

[agents.other.tool.bash]
attempts = 4

[agents.other.extra.metadata]
tier = 2
"#;

#[test]
fn agents_have_what_they_do_not_say_from_the_defaults() {
    let plain = agent(DEFAULTS, "plain");
    assert_eq!(plain.head.model, "demo");
    let system = "Be kind.\n\n# Rules\n\nNever push.";
    assert_eq!(plain.head.system, Some(SystemPrompt::Text(system.into())));
    assert_eq!(tools(&plain), ["bash", "read_file"]);
    assert_eq!(plain.approvals.approve, [AskRule::new("bash")]);
    assert_eq!(plain.limits.turns, Some(9));
    assert_eq!(plain.limits.tool_calls, Some(200));
    assert_eq!(plain.context.at_tokens, Some(80_000));
    assert_eq!(plain.activity.task_queue.as_deref(), Some("slow"));
    // Only those of the tools that it has.
    let settings: Vec<&String> = plain.tool_settings.keys().collect();
    assert_eq!(settings, ["bash"]);
    let timeout = plain.tool_settings["bash"].timeout;
    assert_eq!(timeout, Some(30 * MINUTE));
}

#[test]
fn tables_have_what_they_do_not_say_key_by_key_and_lists_replace() {
    let other = agent(DEFAULTS, "other");
    let system = "Be brief.\n\n# Rules\n\nNever pull.";
    assert_eq!(other.head.system, Some(SystemPrompt::Text(system.into())));
    assert_eq!(tools(&other), ["bash", "grep"]);
    assert!(other.approvals.approve.is_empty());
    assert_eq!(other.limits.turns, Some(3));
    assert_eq!(other.limits.tokens, Some(1_000));
    // The model of the summaries is of no use here, and not a mistake of this agent.
    assert_eq!(
        other.context.rules,
        [ContextRule::SlidingWindow { keep: 10 }]
    );
    assert_eq!(other.context.at_tokens, Some(80_000));
    let retry = RetryPolicy {
        maximum_attempts: 1,
        maximum_interval: 5 * SECOND,
        ..RetryPolicy::default()
    };
    assert_eq!(other.retry, retry);
    let bash = &other.tool_settings["bash"];
    assert_eq!(bash.timeout, Some(30 * MINUTE));
    let attempts = |name: &str| other.tool_settings[name].retry.clone().unwrap();
    assert_eq!(attempts("bash").maximum_attempts, 4);
    assert_eq!(attempts("grep").maximum_attempts, 2);
    assert_eq!(other.activity.task_queue.as_deref(), Some("slow"));
    assert_eq!(other.activity.priority, Some(5));
    let extra = other.head.extra.clone().unwrap();
    assert_eq!(extra["metadata"]["team"], "a");
    assert_eq!(extra["metadata"]["tier"], 2);
}

#[test]
fn a_mistake_in_the_defaults_is_named_once_and_where_it_is() {
    let cases = [
        "[defaults]\nmodle = \"demo/demo\"",
        "[defaults]\napprove = [\"bash\"]",
        "[defaults]\nmodel = \"dmeo/demo\"",
        "[defaults.limits]\nturns = 0\ntime = \"1m\"",
        "[defaults.context]\nstrategy = \"slidingwindow\"",
        "[defaults.context.reminders.plan]\nevery_turns = 3",
        "[defaults]\ntools = [\"bsah\"]",
        "[defaults.tool.bsah]\ntimeout = \"1s\"",
        "[defaults.tool.bash]\ntimeout = 1",
        "[defaults.limits]\ncost_usd = 5",
        "[defaults]\nheartbeat_timeout = \"11m\"",
        "[defaults]\nheartbeat_timeout = \"1ms\"",
        "[defaults]\ntemporal = 3",
        "defaults = 3",
    ];
    let said = cases.map(|case| {
        let agents = "[agents.a]\nmodel = \"demo/demo\"\n[agents.b]\nmodel = \"demo/demo\"";
        let said = parse(&format!("{case}\n{agents}")).expect_err(case);
        format!("{case}\n  {}", said.to_string().replace('\n', "\n  "))
    });
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn defaults_that_depend_on_the_rest_of_an_agent_are_no_mistake_before() {
    for defaults in [
        "[defaults.context]\nkeep = 3",
        "[defaults.context]\nstrategy = \"provider_clear_tool_results\"",
        "[defaults]\nmodel = \"openai/unknown\"\n[defaults.limits]\ncost_usd = 5",
        "[defaults]\nheartbeat_timeout = \"11m\"",
        "[defaults.tool.bash]\nplacement = \"activity\"\nheartbeat_timeout = \"15m\"",
    ] {
        let text = format!(
            "{defaults}\n[prices.\"anthropic/m\"]\ninput = 1\noutput = 1\n[agents.a]\nmodel = \"anthropic/m\"\n\
             tool_timeout = \"20m\""
        );
        assert!(parse(&text).is_ok(), "{:?}", parse(&text));
    }
}

#[test]
fn a_thing_in_a_list_is_its_name_or_a_table_with_it() {
    let short = "[agents.a]\nmodel = \"demo/demo\"\n\
                 tools = [{ name = \"grep\" }, { name = \"bash\", timeout = \"30m\", temporal = { task_queue = \"b\" } }]\n\
                 [agents.a.tool.bash]\nattempts = 2";
    let long = "[agents.a]\nmodel = \"demo/demo\"\ntools = [\"grep\", \"bash\"]\n\
                [agents.a.tool.bash]\ntimeout = \"30m\"\nattempts = 2\ntask_queue = \"b\"";
    assert_eq!(agent(short, "a"), agent(long, "a"));
    assert_eq!(tools(&agent(short, "a")), ["bash", "grep"]);
}

#[test]
fn a_table_in_a_line_means_the_same() {
    let short = "[agents.a]\nmodel = \"demo/demo\"\nlimits = { turns = 5, duration = \"30m\" }\n\
                 context = { strategy = \"summarize\", keep = 3 }\nretry = { attempts = 2 }\n\
                 temporal = { placement = \"local\", heartbeat_timeout = \"10s\" }";
    let long = "[agents.a]\nmodel = \"demo/demo\"\nplacement = \"local\"\nheartbeat_timeout = \"10s\"\n\
                [agents.a.limits]\nturns = 5\nduration = \"30m\"\n\
                [agents.a.context]\nstrategy = \"summarize\"\nkeep = 3\n[agents.a.retry]\nattempts = 2";
    assert_eq!(agent(short, "a"), agent(long, "a"));
    assert_eq!(agent(short, "a").activity.placement, Some(Placement::Local));
}

#[test]
fn money_is_a_number_or_a_text_and_a_size_has_a_unit_or_none() {
    for (written, dollars) in [("5", "5"), ("5.25", "5.25"), ("\"5.25\"", "5.25")] {
        let text = format!(
            "[agents.a]\nmodel = \"openai/gpt-6.1-terra\"\nlimits = {{ cost_usd = {written} }}"
        );
        let limit = agent(&text, "a").limits.cost_usd;
        assert_eq!(limit, Some(dollars.parse::<Decimal>().unwrap()));
    }
    let bytes = |size: &str| {
        let text = format!(
            "[agents.a]\nmodel = \"demo/demo\"\ntools = [\"read_file\"]\ntool_output_bytes = {size}"
        );
        parse(&text).map_err(|error| error.to_string())
    };
    let plain = bytes("262_144").unwrap();
    for size in ["\"256KiB\"", "\"256 KiB\"", "\"262144 B\""] {
        assert_eq!(bytes(size).unwrap(), plain, "{size}");
    }
    assert_ne!(bytes("\"256MiB\"").unwrap(), plain);
    assert!(bytes("\"1GiB\"").is_ok());
    for size in [
        "\"256\"",
        "\"256KB\"",
        "\"KiB\"",
        "\"0KiB\"",
        "\"-1KiB\"",
        "\"1.5KiB\"",
        "\"99999999999999999999GiB\"",
        "\"é\"",
    ] {
        let said = bytes(size).unwrap_err();
        assert!(
            said.contains("write a size with its unit, as in \"256KiB\""),
            "{said}"
        );
    }
}

#[test]
fn what_is_said_twice_or_nowhere_belongs_is_refused() {
    let cases = [
        "tools = [{ name = \"bash\", timeout = \"30m\" }]\n[agents.a.tool.bash]\ntimeout = \"1m\"",
        "tools = [{ name = \"bash\", timeout = 30 }]",
        "tools = [{ name = \"bash\", time = \"30m\" }]",
        "tools = [{ name = \"bsah\", timeout = \"30m\" }]",
        "tools = [{ timeout = \"30m\" }, { name = 3 }, 3]",
        "tools = [{ name = \"mcp:t\", timeout = \"30m\" }]\n[mcp.t]\ncommand = [\"t\"]",
        "[agents.a.tool.t__x]\ntimeout = \"1s\"\n[mcp.t]\ncommand = [\"t\"]",
        "tool = 3\ntools = [{ name = \"bash\", timeout = \"30m\" }]",
        "tool = { bash = 3 }\ntools = [{ name = \"bash\", timeout = \"30m\" }]",
        "priority = 1\ntemporal = { priority = 2 }",
        "temporal = { queue = \"a\", placement = \"far\" }",
        "temporal = \"local\"",
        "tools = [\"bash\"]\n[agents.a.tool.bash]\ntemporal = { queue = \"a\" }",
        "tools = [\"bash\"]\n[agents.a.tool.bash]\ntemporal = [1]",
    ];
    let said = cases.map(|case| {
        let text = format!("[agents.a]\nmodel = \"demo/demo\"\n{case}");
        let said = parse(&text).expect_err(case).to_string();
        format!("{case}\n  {}", said.replace('\n', "\n  "))
    });
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn a_file_of_another_version_is_refused_and_read_no_further() {
    for version in ["2", "0", "\"1\"", "1.0", "99999999999999999999"] {
        let said = parse(&format!("version = {version}\n[agnets.a]")).unwrap_err();
        assert_eq!(
            said.to_string(),
            format!(
                "neuron.toml:1: version in the agent file is {version}: write 1, the version that this build reads"
            )
        );
    }
}
