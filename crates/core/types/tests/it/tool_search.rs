//! Agents with many tools: which of them a model is sent, and how it finds the others.

use std::{collections::BTreeSet, sync::Arc};

use neuron_types::{
    ASK_PERSON, AgentSpec, AskPerson, Bounds, ContentItem, FIND_TOOLS, FindTools, LoadedTools,
    PermissionDecision, PermissionPolicy, RequestHead, SubAgent, ToolCall, ToolChoice,
    ToolDefinition, ToolEffects, ToolOutput, ToolSearch, json_bytes,
};
use proptest::{collection::vec, prelude::*};
use serde_json::json;

/// How large the tools of a request are at most where none is loaded.
const MOST_BYTES: usize = 8_000;

fn tool(name: &str, description: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: json!({"type": "object", "properties": {"id": {"type": "string", "description": "Which."}}}),
        ..ToolDefinition::default()
    }
}

/// Whether a tool is sent only once it is loaded.
fn is_searched(agent: &AgentSpec, name: &str) -> bool {
    agent.searched_tools().iter().any(|tool| tool.name == name)
}

fn agent(tools: Vec<ToolDefinition>) -> AgentSpec {
    let mut agent = AgentSpec {
        tool_search: Some(ToolSearch::default()),
        ..AgentSpec::default()
    };
    agent.head_mut().tools = tools;
    agent
}

/// 400 tools of four servers.
fn many() -> Vec<ToolDefinition> {
    let servers = ["github", "jira", "calendar", "warehouse"];
    let tools = (0..100).flat_map(|number| {
        servers.map(|server| {
            let description = format!("Handles {server} things of kind {number}.");
            tool(&format!("{server}__handle_{number}"), &description)
        })
    });
    tools.collect()
}

fn names(tools: &[ToolDefinition]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn find(query: &str, tools: &[ToolDefinition]) -> ToolOutput {
    let asked = FindTools {
        query: query.to_owned(),
        ..FindTools::default()
    };
    asked.answer(tools)
}

fn text(output: &ToolOutput) -> &str {
    match output.content.as_slice() {
        [ContentItem::Text(text)] => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_model_is_sent_all_tools_while_they_are_few_or_nothing_is_said() {
    let few = agent(many().into_iter().take(40).collect());
    assert!(Arc::ptr_eq(&few.sent_head(&[]), &few.head));
    let unsaid = AgentSpec {
        tool_search: None,
        ..agent(many())
    };
    assert!(Arc::ptr_eq(&unsaid.sent_head(&[]), &unsaid.head));
}

#[test]
fn a_few_large_tools_are_too_many_where_they_take_more_of_the_window_than_they_may() {
    let large = "Says much. ".repeat(500);
    let few = (0..8).map(|number| tool(&format!("github__tool_{number}"), &large));
    let few = agent(few.collect());
    assert_eq!(names(&few.sent_head(&[]).tools), [FIND_TOOLS]);
    let mut roomy = few;
    roomy.context.at_tokens = Some(1_000_000);
    assert!(!roomy.searches_tools());
}

#[test]
fn of_400_tools_go_out_the_servers_and_names_as_far_as_they_fit() {
    let head = agent(many()).sent_head(&[]);
    assert_eq!(names(&head.tools), [FIND_TOOLS]);
    assert!(json_bytes(&head.tools).unwrap() <= MOST_BYTES);
    let description = &head.tools[0].description;
    for said in [
        "There are 400; the name of a tool is SERVER__NAME.",
        "\ngithub (100): handle_0, handle_1, ",
        "\njira (100): handle_0",
        "\nwarehouse (100): handle_0",
    ] {
        assert!(description.contains(said), "{said:?} in {description}");
    }
}

#[test]
fn of_names_that_do_not_all_fit_each_server_has_as_many() {
    let long = "name_".repeat(20);
    let tools = many().into_iter().map(|tool| ToolDefinition {
        name: format!("{}_{long}", tool.name),
        ..tool
    });
    let head = agent(tools.collect()).sent_head(&[]);
    assert!(json_bytes(&head.tools).unwrap() <= MOST_BYTES);
    let lines: Vec<&str> = head.tools[0].description.lines().skip(1).collect();
    let counts = lines.iter().map(|line| line.split(", ").count());
    let counts: Vec<usize> = counts.collect();
    assert_eq!(lines.len(), 4);
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(most - least <= 1 && *least > 5, "{counts:?}");
    assert!(lines.iter().all(|line| line.ends_with(", …")), "{lines:?}");
}

#[test]
fn what_the_loop_answers_and_the_first_own_tools_stay() {
    let own = (0..50).map(|number| tool(&format!("own_{number}"), "Does it."));
    let mut tools: Vec<_> = own.collect();
    tools.extend(many());
    tools.push(AskPerson::definition());
    let explorer = SubAgent::new("explorer");
    tools.push(explorer.definition());
    let mut agent = agent(tools);
    agent.subagents = vec![explorer];
    agent.head_mut().tool_choice = Some(ToolChoice::Specific {
        name: "jira__handle_7".into(),
    });
    let head = agent.sent_head(&[]);
    assert!(json_bytes(&head.tools).unwrap() <= MOST_BYTES);
    let sent = names(&head.tools);
    assert_eq!(
        sent[..4],
        ["jira__handle_7", ASK_PERSON, "agent_explorer", "own_0"]
    );
    assert_eq!(sent[sent.len() - 1], FIND_TOOLS);
    let own = sent.iter().filter(|name| name.starts_with("own_"));
    assert!(own.count() > 20);
    assert!(is_searched(&agent, "own_49"));
    assert_eq!(head.tool_choice, agent.head.tool_choice);
}

#[test]
fn what_is_loaded_is_sent_last_in_the_order_in_which_it_was() {
    let mut agent = agent(many());
    let mut loaded = LoadedTools::default();
    assert_eq!(loaded.load(&agent, ["jira__handle_9"]), 1);
    assert_eq!(loaded.load(&agent, ["github__handle_3"]), 1);
    assert_eq!(loaded.load(&agent, ["jira__handle_9"]), 0, "it is loaded");
    assert_eq!(loaded.load(&agent, ["jira__nothing"]), 0, "there is none");
    let sent = agent.sent_head(loaded.of(&agent.name));
    let whole = [FIND_TOOLS, "jira__handle_9", "github__handle_3"];
    assert_eq!(names(&sent.tools), whole);
    let others = AgentSpec {
        name: "other".into(),
        ..agent.clone()
    };
    assert!(loaded.of(&others.name).is_empty(), "each has its own");
    let tools = &mut agent.head_mut().tools;
    tools.retain(|tool| tool.name != "jira__handle_9");
    let sent = agent.sent_head(loaded.of(&agent.name));
    assert_eq!(names(&sent.tools), [FIND_TOOLS, "github__handle_3"]);
}

#[test]
fn a_provider_that_searches_is_sent_the_others_too_and_not_the_tool_that_finds_them() {
    let listed = |head: &RequestHead| {
        let tools = head.listed_tools().map(|tool| tool.name.clone());
        tools.collect::<Vec<_>>()
    };
    let mut agent = agent(many());
    let alone = agent.sent_head(&[]);
    assert!(alone.searched_tools.is_empty());
    assert_eq!(listed(&alone), [FIND_TOOLS]);
    agent.tool_search = Some(ToolSearch {
        provider: true,
        ..ToolSearch::default()
    });
    let head = agent.sent_head(&[]);
    assert_eq!(head.tools, alone.tools, "others are sent what they were");
    assert!(listed(&head).is_empty());
    assert_eq!(head.searched_tools, agent.head.tools);
    let loaded = ["jira__handle_9".to_owned(), "jira__nothing".to_owned()];
    let head = agent.sent_head(&loaded);
    assert_eq!(names(&head.tools), [FIND_TOOLS, "jira__handle_9"]);
    assert_eq!(listed(&head), ["jira__handle_9"]);
    let others = names(&head.searched_tools);
    assert_eq!(others.len(), 399);
    assert!(!others.contains(&"jira__handle_9"));
}

#[test]
fn few_tools_are_sent_whole_to_a_provider_that_searches() {
    let few = AgentSpec {
        tool_search: Some(ToolSearch {
            provider: true,
            ..ToolSearch::default()
        }),
        ..agent(many().into_iter().take(40).collect())
    };
    assert!(Arc::ptr_eq(&few.sent_head(&[]), &few.head));
    assert!(few.head.searched_tools.is_empty());
}

#[test]
fn the_tools_that_were_loaded_first_go_where_too_many_are() {
    let agent = agent(many());
    let mut loaded = LoadedTools::default();
    for tool in &agent.head.tools {
        loaded.load(&agent, [tool.name.as_str()]);
    }
    let newest: Vec<&str> = names(&agent.head.tools).split_off(400 - 64);
    assert_eq!(loaded.of(&agent.name), newest);
}

#[test]
fn an_own_tool_of_the_name_is_what_it_is() {
    let mut tools = many();
    tools.push(tool(FIND_TOOLS, "Finds tools in the shed."));
    let agent = agent(tools);
    assert!(Arc::ptr_eq(&agent.sent_head(&[]), &agent.head));
    assert_eq!(agent.effects_of(FIND_TOOLS), ToolEffects::Write);
}

#[test]
fn to_find_tools_is_a_read_that_no_bounds_have_to_have() {
    let agent = agent(many()).attenuated(&[Bounds {
        tools: names(&many()).into_iter().map(ToOwned::to_owned).collect(),
        ..Bounds::default()
    }]);
    let call = ToolCall::new("1", FIND_TOOLS, json!({"query": "issues"}));
    assert_eq!(agent.effects_of(FIND_TOOLS), ToolEffects::ReadOnly);
    let decision = agent.policy().check(FIND_TOOLS, &call.input);
    assert_eq!(decision, PermissionDecision::Allow);
    assert_eq!(agent.bounds_of_call(FIND_TOOLS), []);
    let mut denied = agent;
    denied.bounds[0].approvals.deny = vec![FIND_TOOLS.to_owned()];
    assert_eq!(denied.bounds_of_call(FIND_TOOLS).len(), 1);
    let decision = denied.policy().check(FIND_TOOLS, &call.input);
    assert!(matches!(decision, PermissionDecision::Deny(_)));
}

#[test]
fn the_right_tool_of_400_is_found_by_what_it_does() {
    let mut tools = many();
    tools.insert(
        200,
        ToolDefinition {
            input_schema: json!({"type": "object", "properties": {
                "repository": {"type": "string"}, "title": {"type": "string"}
            }}),
            ..tool(
                "github__create_issue",
                "Opens a new issue in a repository.\nLong.",
            )
        },
    );
    tools.insert(7, tool("github__list_issues", "Lists issues."));
    tools.insert(9, tool("jira__createIssue", "Opens a ticket."));
    for query in [
        "create an issue in a github repo",
        "open github issues repository",
        "github__create_issue",
        "create_issue",
        "please load `github__create_issue` for me",
    ] {
        let output = find(query, &tools);
        assert_eq!(output.loaded[0], "github__create_issue", "{query}");
        let said = "github__create_issue: Opens a new issue in a repository.\n";
        assert!(text(&output).contains(said), "{}", text(&output));
    }
    let asked = FindTools {
        query: "create issue".into(),
        server: Some("Jira".into()),
        limit: Some(1),
    };
    assert_eq!(*asked.answer(&tools).loaded, ["jira__createIssue"]);
}

#[test]
fn where_nothing_is_found_the_nearest_names_are_said() {
    let tools = [
        tool("github__create_issue", "Opens one."),
        tool("jira__search", "Looks."),
    ];
    let output = find("creation", &tools);
    assert!(output.loaded.is_empty() && !output.is_error);
    assert_eq!(
        text(&output),
        "No tool fits \"creation\": use other words, or one of the nearest names: github__create_issue, jira__search"
    );
    let asked = FindTools {
        query: "issue".into(),
        server: Some("gitlab".into()),
        limit: None,
    };
    let output = asked.answer(&tools);
    let said = "There is no server \"gitlab\": use github, jira";
    assert_eq!((text(&output), output.loaded.len()), (said, 0));
    assert_eq!(text(&find("", &[])), "No tool fits \"\": use other words.");
}

fn any_tools() -> impl Strategy<Value = Vec<ToolDefinition>> {
    let name = "[a-z]{1,6}(__)?[a-z_\"é]{1,30}";
    let described = (name, "[ -~]{0,120}").prop_map(|(name, text)| tool(&name, &text));
    vec(described, 0..80).prop_map(|mut tools| {
        let mut known = BTreeSet::new();
        tools.retain(|tool| known.insert(tool.name.clone()));
        tools
    })
}

proptest! {
    // Each case has many tools.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn each_tool_is_sent_or_searched_and_the_request_is_small(
        tools in any_tools(),
        above in 0_u32..100,
        at_percent in 0_u8..=100,
        provider in any::<bool>(),
        picks in vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let agent = AgentSpec {
            tool_search: Some(ToolSearch { above, at_percent, provider }),
            ..agent(tools)
        };
        let head = agent.sent_head(&[]);
        if agent.searches_tools() {
            prop_assert!(json_bytes(&head.tools).unwrap() <= MOST_BYTES);
            prop_assert!(names(&head.tools).contains(&FIND_TOOLS));
        } else {
            prop_assert!(Arc::ptr_eq(&head, &agent.head));
            prop_assert!(agent.head.tools.len() <= usize::try_from(above).unwrap());
        }
        for tool in &agent.head.tools {
            let is_sent = head.tools.contains(tool);
            prop_assert!(is_sent != is_searched(&agent, &tool.name), "{}", tool.name);
        }
        let mut loaded = LoadedTools::default();
        for pick in picks.iter().filter(|_| !agent.head.tools.is_empty()) {
            let tool = &agent.head.tools[pick.index(agent.head.tools.len())];
            loaded.load(&agent, [tool.name.as_str()]);
            let sent = agent.sent_head(loaded.of(&agent.name));
            prop_assert_eq!(sent.tools.iter().filter(|it| *it == tool).count(), 1);
            prop_assert!(sent.tools.starts_with(&head.tools));
            if provider {
                let all = sent.tools.iter().chain(&sent.searched_tools);
                let finder = usize::from(agent.searches_tools());
                prop_assert_eq!(all.count(), agent.head.tools.len() + finder);
            } else {
                prop_assert!(sent.searched_tools.is_empty());
            }
        }
    }

    #[test]
    fn what_is_found_is_there_and_an_exact_name_is_the_first(
        tools in any_tools(),
        query in "[ -~]{0,60}",
        limit in proptest::option::of(any::<u64>()),
        pick in any::<prop::sample::Index>(),
    ) {
        let asked = FindTools { query, server: None, limit };
        let output = asked.answer(&tools);
        prop_assert_eq!(&output, &asked.answer(&tools));
        prop_assert!(output.loaded.len() <= 8);
        let known: BTreeSet<&str> = names(&tools).into_iter().collect();
        let found: BTreeSet<&str> = output.loaded.iter().map(String::as_str).collect();
        prop_assert_eq!(found.len(), output.loaded.len());
        prop_assert!(found.is_subset(&known));
        if !tools.is_empty() {
            let name = &tools[pick.index(tools.len())].name;
            if !name.contains('"') {
                let output = find(name, &tools);
                prop_assert_eq!(&output.loaded[0], name);
            }
        }
    }
}
