//! How fast the keys of providers are used, and which requests go first.

use std::time::Duration;

use neuron_config::{AgentFile, OpenOptions};
use neuron_executor::{Executor, StepScope};
use neuron_testing::effects::scope;
use neuron_types::{CompletionRequest, FailureKind, Message, Priority, RequestHead};

use super::{definition, open, parse, variables};

const SECOND: Duration = Duration::from_secs(1); // The clock is paused.

/// Returns a file with two agents of one provider of this kind, which has these lines.
fn file(lines: &str) -> String {
    format!(
        "[agents.a]\nmodel = \"p/demo\"\n[agents.b]\nmodel = \"p/demo\"\n\
         [providers.p]\nkind = \"demo\"\n{lines}"
    )
}

fn request() -> CompletionRequest {
    let head = RequestHead {
        provider: Some("p".into()),
        ..RequestHead::new("demo")
    };
    CompletionRequest::new(head, vec![Message::user("hello")])
}

/// Returns whether there is a turn within a moment.
async fn has_turn(executor: &Executor) -> bool {
    let scope = StepScope {
        timeout: 2 * SECOND,
        ..scope()
    };
    match executor.call_model(&scope, &request()).await {
        Ok(_) => true,
        Err(failure) => {
            assert_eq!(failure.kind, FailureKind::RateLimited, "{failure:?}");
            assert!(failure.retry_after > Some(SECOND));
            false
        }
    }
}

fn executors(lines: &str) -> [Executor; 2] {
    let agents = open(&file(lines), ".", variables(&[]));
    ["a", "b"].map(|name| agents.executor(&agents.agent(name).unwrap()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn all_agents_of_a_file_share_the_rate_of_a_provider() {
    let [a, b] = executors("requests_per_minute = 2");
    assert!(has_turn(&a).await && has_turn(&b).await);
    assert!(!has_turn(&a).await && !has_turn(&b).await);
}

#[tokio::test(start_paused = true)]
async fn tokens_have_a_rate_too() {
    let [a, b] = executors("tokens_per_minute = 1");
    assert!(has_turn(&a).await);
    assert!(!has_turn(&b).await);
}

#[tokio::test(start_paused = true)]
async fn without_a_rate_nothing_waits() {
    let [a, b] = executors("");
    for _ in 0..100 {
        assert!(has_turn(&a).await && has_turn(&b).await);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_opened_with_the_same_options_counts_together() {
    let options = OpenOptions::new(".").environment(variables(&[]));
    let mut has = Vec::new();
    for options in [options.clone(), options, OpenOptions::new(".")] {
        let file = AgentFile::parse(&file("requests_per_minute = 1"), "neuron.toml").unwrap();
        let agents = file.open(options).await.unwrap();
        let executor = agents.executor(&agents.agent("a").unwrap()).unwrap();
        has.push(has_turn(&executor).await);
    }
    assert_eq!(has, [true, false, true]);
}

#[test]
fn an_agent_says_whether_anybody_waits_for_it() {
    let of = |lines: &str| {
        let text = format!("[agents.a]\nmodel = \"demo/demo\"\n{lines}");
        definition(&text, "a")
    };
    for (lines, priority, temporal) in [
        ("", Priority::Interactive, None),
        ("priority = \"interactive\"", Priority::Interactive, None),
        ("priority = \"batch\"", Priority::Batch, None),
        ("priority = 2", Priority::Interactive, Some(2)),
        (
            "priority = \"batch\"\ntemporal = { priority = 2 }",
            Priority::Batch,
            Some(2),
        ),
        (
            "temporal = { priority = 2 }\n[defaults]\npriority = \"batch\"",
            Priority::Batch,
            Some(2),
        ),
        (
            "priority = \"batch\"\n[defaults]\npriority = 4",
            Priority::Batch,
            Some(4),
        ),
        (
            "priority = \"interactive\"\n[defaults]\npriority = \"batch\"",
            Priority::Interactive,
            None,
        ),
    ] {
        let agent = of(lines);
        assert_eq!(agent.priority, priority, "{lines}");
        assert_eq!(agent.activity.priority, temporal, "{lines}");
        assert_eq!(agent.model_options(1).priority, priority, "{lines}");
    }
}

#[test]
fn what_is_no_rate_or_no_priority_is_refused_with_its_line() {
    for (lines, said) in [
        (
            "[providers.p]\nkind = \"demo\"\nrequests_per_minute = 0",
            "neuron.toml:5: requests_per_minute in [providers.p] is 0: write a whole number of at least 1",
        ),
        (
            "[providers.p]\nkind = \"demo\"\ntokens_per_minute = \"80k\"",
            "neuron.toml:5: tokens_per_minute in [providers.p] is \"80k\": write a whole number of at least 1",
        ),
        (
            "priority = \"bacth\"",
            "neuron.toml:3: priority in [agents.a] is \"bacth\": did you mean \"batch\"?",
        ),
        (
            "tools = [\"grep\"]\n[agents.a.tool.grep]\npriority = \"batch\"",
            "neuron.toml:5: priority in [agents.a.tool.grep] is \"batch\": write a whole number of at least 1",
        ),
    ] {
        let text = format!("[agents.a]\nmodel = \"demo/demo\"\n{lines}");
        assert_eq!(parse(&text).unwrap_err().to_string(), said);
    }
}
