use neuron_executor::{Executor, StepScope};
use neuron_types::FailureKind;
use serde_json::json;
use tokio::time::Instant;

use super::{definition, open, parse, variables};
use crate::times::DAY;
use neuron_testing::effects::{call, scope};

const AGENT: &str = "[agents.a]\nmodel = \"demo/demo\"\ntools = [\"list_files\", \"bash\"]\n";

#[test]
fn a_limit_that_is_none_is_refused_with_its_key_and_line() {
    let cases = [
        "concurrency = 0",
        "concurrency = \"2\"",
        "concurency = 2",
        "rate_limit = \"10/m\"",
        "rate_limit = { calls = 10 }",
        "rate_limit = { calls = 0, per = \"1m\" }",
        "rate_limit = { calls = 10, per = 60 }",
        "rate_limit = { calls = 10, every = \"1m\", per = \"1m\" }",
    ];
    let said = cases.map(|case| {
        let text = format!("{AGENT}[agents.a.tool.bash]\n{case}");
        let problems = parse(&text).expect_err(case).to_string();
        format!("{case}\n  {}", problems.replace('\n', "\n  "))
    });
    insta::assert_snapshot!(said.join("\n\n"));
}

#[tokio::test]
async fn all_executors_of_a_file_share_the_limits_of_a_tool() {
    let text = format!(
        "{AGENT}[agents.a.tool.list_files]\ntimeout = \"2h\"\nrate_limit = {{ calls = 2, per = \"1day\" }}"
    );
    let folder = tempfile::tempdir().unwrap();
    let agents = open(&text, folder.path(), variables(&[]));
    let agent = agents.agent("a").unwrap();
    let executor = || -> Executor { agents.clone().executor(&agent).unwrap() };
    let scope = || StepScope {
        timeout: DAY,
        ..scope()
    };
    let list = call("list_files", json!({"path": "."}));
    let other = call("bash", json!({"command": "true"}));
    for call in [&list, &other, &list, &other, &other] {
        let output = executor().call_tool(&scope(), call).await;
        assert!(!output.unwrap().is_error);
    }
    tokio::time::pause();
    let start = Instant::now();
    let failure = executor().call_tool(&scope(), &list).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert_eq!(
        failure.message,
        "unavailable: too many calls of list_files began just now: this one waited for 3600s and was not made"
    );
    assert_eq!(start.elapsed().as_secs(), 60 * 60);
}

#[test]
fn a_command_may_take_what_its_wait_leaves_of_the_timeout() {
    let longest = |lines: &str| {
        let text = format!("{AGENT}[agents.a.tool.bash]\ntimeout = \"100s\"\n{lines}");
        let agent = definition(&text, "a");
        let bash = agent.head.tools.iter().find(|tool| tool.name == "bash");
        bash.unwrap().description.clone()
    };
    assert!(longest("").contains("may give it up to 90."));
    assert!(longest("concurrency = 2").contains("may give it up to 45."));
}
