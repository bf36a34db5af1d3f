use std::collections::BTreeSet;

use neuron_types::{GuardPoint, GuardSpec};
use serde_json::json;

use super::{definition, open, parse, variables};
use neuron_testing::effects::{call, scope, text_of};

const FILE: &str = r#"
[agents.a]
model = "demo/demo"
tools = ["bash"]
guards = ["secrets", "names", "short", "hosts", "form", "own"]

[agents.b]
model = "demo/demo"
guards = ["own", "secrets"]

[agents.c]
model = "demo/demo"

[guards.secrets]
kind = "secrets"
with = "[key]"

[guards.names]
kind = "patterns"
patterns = ["(?i)acme"]
at = ["output", "input"]
then = "trip"

[guards.short]
kind = "length"
max_chars = 10_000

[guards.hosts]
kind = "urls"
hosts = ["example.com", "*.example.com"]
tools = ["bash"]
then = "ask"

[guards.form]
kind = "json"
then = "replace"
[guards.form.schema]
type = "object"

[guards.own]
kind = "command"
command = ["./check.sh", "--strict"]
env = ["MY_RULES"]
timeout = "5s"
on_failure = "pass"
"#;

fn guards(text: &str, agent: &str) -> Vec<GuardSpec> {
    definition(text, agent).guards
}

#[test]
fn of_each_kind_are_named_with_where_they_look() {
    use GuardPoint::{Call, Input, Output, Result};
    let named = guards(FILE, "a");
    let looks: Vec<(&str, BTreeSet<GuardPoint>)> = named
        .iter()
        .map(|guard| (guard.name.as_str(), guard.at.clone()))
        .collect();
    assert_eq!(
        looks,
        [
            ("secrets", [Result, Output].into()),
            ("names", [Input, Output].into()),
            ("short", [Input].into()),
            ("hosts", [Call, Output].into()),
            ("form", [Result].into()),
            ("own", GuardPoint::ALL.into()),
        ]
    );
    // Their order is the agent's, and their settings are those of the file.
    let others = guards(FILE, "b");
    assert_eq!(others, [named[5].clone(), named[0].clone()]);
    assert!(guards(FILE, "c").is_empty());
    for guard in &named {
        assert!(guard.settings.starts_with("sha256:"), "{guard:?}");
    }
}

#[test]
fn change_the_fingerprint_of_the_agents_that_have_them() {
    let prints = |text: &str| ["a", "b", "c"].map(|name| definition(text, name).fingerprint());
    let before = prints(FILE);
    assert_eq!(before, prints(FILE));
    for (from, to, changes_b) in [
        ("with = \"[key]\"", "with = \"[token]\"", true),
        ("(?i)acme", "(?i)acme|globex", false),
        ("[\"output\", \"input\"]", "[\"output\"]", false),
        ("then = \"trip\"", "then = \"warn\"", false),
        ("10_000", "10_001", false),
        ("\"*.example.com\"", "\"*.example.org\"", false),
        (
            "tools = [\"bash\"]\nthen",
            "tools = [\"grep\"]\nthen",
            false,
        ),
        ("type = \"object\"", "type = \"array\"", false),
        ("--strict", "--lax", true),
        ("MY_RULES", "OUR_RULES", true),
        ("\"5s\"", "\"6s\"", true),
        ("on_failure = \"pass\"", "on_failure = \"warn\"", true),
    ] {
        assert!(FILE.contains(from), "{from}");
        let after = prints(&FILE.replace(from, to));
        let changed = [0, 1, 2].map(|at: usize| before[at] != after[at]);
        assert_eq!(changed, [true, changes_b, false], "{from}");
    }
    // The order in which points are written does not matter.
    let ordered = FILE.replace("[\"output\", \"input\"]", "[\"input\", \"output\"]");
    assert_eq!(before, prints(&ordered));
}

#[test]
fn that_cannot_be_are_refused_with_their_key_and_line() {
    let kinds = [
        "with = \"x\"",
        "kind = 3",
        "kind = \"secret\"",
        "kind = \"secrets\"\ncolour = \"red\"",
        "kind = \"secrets\"\nmax_chars = 3",
        "kind = \"secrets\"\nat = [\"inptu\"]",
        "kind = \"secrets\"\nat = []",
        "kind = \"secrets\"\ntools = []",
        "kind = \"secrets\"\nthen = \"stop\"",
        "kind = \"secrets\"\nthen = \"block\"\nwith = \"x\"",
        "kind = \"patterns\"",
        "kind = \"patterns\"\npatterns = []",
        "kind = \"patterns\"\npatterns = [\"a\", \"\"]",
        "kind = \"patterns\"\npatterns = [\"a\", \"(b\"]",
        "kind = \"patterns\"\npatterns = [\"a\", 1]",
        "kind = \"length\"",
        "kind = \"length\"\nmax_chars = 0",
        "kind = \"urls\"",
        "kind = \"urls\"\nhosts = [\"https://example.com\"]",
        "kind = \"urls\"\nhosts = [\"a.*.com\"]",
        "kind = \"json\"\nschema = \"object\"",
        "kind = \"json\"\nschema = { type = \"objekt\" }",
        "kind = \"command\"",
        "kind = \"command\"\ncommand = []",
        "kind = \"command\"\ncommand = [\"\"]",
        "kind = \"command\"\ncommand = \"./check.sh\"",
        "kind = \"command\"\ncommand = [\"./check.sh\"]\nthen = \"block\"",
        "kind = \"command\"\ncommand = [\"./check.sh\"]\nwith = \"x\"",
        "kind = \"command\"\ncommand = [\"./check.sh\"]\non_failure = \"replace\"",
        "kind = \"command\"\ncommand = [\"./check.sh\"]\ntimeout = 5",
        "kind = \"command\"\ncommand = [\"./check.sh\"]\nenv = [\"TOKEN=abc\"]",
        "kind = \"model\"",
        "kind = \"model\"\npolicy = \" \"",
        "kind = \"model\"\npolicy = \"No.\"\nmodel = \"small\"",
        "kind = \"model\"\npolicy = \"No.\"\nmodel = \"nobody/small\"",
        "kind = \"model\"\npolicy = \"No.\"\nat = [\"input\", \"answer\"]",
        "kind = \"model\"\npolicy = \"No.\"\nthen = \"block\"",
        "kind = \"model\"\npolicy = \"No.\"\nwith = \"x\"",
        "kind = \"model\"\npolicy = \"No.\"\nmax_tokens = 0",
        "kind = \"model\"\npolicy = \"No.\"\ntimeout = \"10m\"",
        "kind = \"command\"\ncommand = [\"./check.sh\", \"sk-ant-api03-0123456789abcdef0123456789abcdef\"]",
    ];
    let guard = |case: &str| {
        format!("[agents.a]\nmodel = \"demo/demo\"\nguards = [\"g\"]\n[guards.g]\n{case}")
    };
    let hooks = [
        "",
        "command = []",
        "command = [\"./check.sh\"]\nevents = []",
        "command = [\"./check.sh\"]\nevents = [\"pre_tool_executoin\"]",
        "command = [\"./check.sh\"]\non_failure = \"block\"",
        "command = [\"./check.sh\"]\nthen = \"block\"",
    ];
    let hook = |case: &str| {
        format!("[agents.a]\nmodel = \"demo/demo\"\nhooks = [\"h\"]\n[hooks.h]\n{case}")
    };
    let agents = [
        "guards = [\"secerts\"]",
        "guards = [\"secrets\", \"secrets\"]",
        "guards = \"secrets\"",
        "hooks = [\"watch\", \"wacth\"]",
        "hooks = [\"watch\", \"watch\"]",
    ];
    let agent = |case: &str| {
        format!(
            "[agents.a]\nmodel = \"demo/demo\"\n{case}\n[guards.secrets]\nkind = \"secrets\"\n\
             [hooks.watch]\ncommand = [\"./watch.sh\"]"
        )
    };
    let texts = kinds.map(|case| (case, guard(case))).into_iter();
    let texts = texts.chain(hooks.map(|case| (case, hook(case))));
    let texts = texts.chain(agents.map(|case| (case, agent(case))));
    let said: Vec<String> = texts
        .map(|(case, text)| {
            let problems = parse(&text).expect_err(case).to_string();
            format!("{case}\n  {}", problems.replace('\n', "\n  "))
        })
        .collect();
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn hooks_are_asked_about_calls_where_they_watch_them() {
    let asks = |names: &str| {
        let text = format!(
            "[agents.a]\nmodel = \"demo/demo\"\nhooks = [{names}]\n\
             [hooks.all]\ncommand = [\"./all.sh\"]\n\
             [hooks.calls]\ncommand = [\"./calls.sh\"]\n\
             events = [\"session_end\", \"pre_tool_execution\"]\n\
             [hooks.ends]\ncommand = [\"./ends.sh\"]\n\
             events = [\"session_end\", \"post_tool_execution\"]"
        );
        definition(&text, "a").hooks_calls
    };
    assert!(!asks(""));
    assert!(!asks("\"ends\""));
    assert!(asks("\"all\""));
    assert!(asks("\"calls\""));
    assert!(asks("\"ends\", \"calls\""));
}

/// Returns the result of a command of an agent with these lines about guards and hooks, in a folder with this script.
async fn called(lines: &str, script: &str, command: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("check.sh"), script).unwrap();
    let text = format!("[agents.a]\nmodel = \"demo/demo\"\ntools = [\"bash\"]\n{lines}");
    let agents = open(&text, folder.path(), variables(&[]));
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let call = call("bash", json!({ "command": command }));
    let output = executor.call_tool(&scope(), &call).await.unwrap();
    (output.is_error, text_of(&output))
}

#[tokio::test]
async fn of_an_open_agent_block_and_replace_what_its_calls_say() {
    let block = "guards = [\"names\"]\n\
                 [guards.names]\nkind = \"patterns\"\npatterns = [\"acme\"]\nat = [\"call\"]";
    let (is_error, text) = called(block, "", "echo acme").await;
    assert!(
        is_error && text.contains("it has what names looks for"),
        "{text}"
    );
    let (is_error, text) = called(block, "", "echo other").await;
    assert!(!is_error && text.contains("other"), "{text}");
    let replace = format!("{block}\nwith = \"globex\"");
    let (is_error, text) = called(&replace, "", "echo acme").await;
    assert!(!is_error && text.contains("globex"), "{text}");
    // What a command prints is put together from parts, so that the call itself does not contain it.
    let result = block.replace("\"call\"", "\"result\"");
    let (_, text) = called(&result, "", "echo ac''me").await;
    assert!(
        text.contains("withheld") && !text.contains("acme"),
        "{text}"
    );
}

#[tokio::test]
async fn that_are_programs_are_started_where_the_agent_works() {
    let lines = "guards = [\"own\"]\n\
                 [guards.own]\nkind = \"command\"\ncommand = [\"sh\", \"check.sh\"]\nat = [\"call\"]";
    let script = "echo '{\"verdict\":\"block\",\"reason\":\"not on a Sunday\"}'";
    let (is_error, text) = called(lines, script, "echo here").await;
    assert!(is_error && text.contains("not on a Sunday"), "{text}");
    let (is_error, text) = called(lines, "exit 1", "echo here").await;
    assert!(is_error && text.contains("the guard own failed"), "{text}");
    let passing = format!("{lines}\non_failure = \"pass\"");
    let (is_error, text) = called(&passing, "exit 1", "echo here").await;
    assert!(!is_error && text.contains("here"), "{text}");
}

const JUDGED: &str = "[agents.a]\nmodel = \"demo/demo\"\nguards = [\"judge\"]\n\
                      [guards.judge]\nkind = \"model\"\npolicy = \"Nothing on Sundays.\"";

#[test]
fn that_have_a_model_judge_name_it_and_look_at_messages_and_calls() {
    let guard = |text: &str| definition(text, "a").guards.remove(0);
    let own = guard(JUDGED);
    assert_eq!(own.at, [GuardPoint::Input, GuardPoint::Call].into());
    let judge = own.judge.clone().unwrap();
    assert_eq!(
        (judge.model.as_str(), judge.max_tokens),
        ("demo/demo", 2_048)
    );
    let lines =
        "model = \"anthropic/small\"\nmax_tokens = 100\nat = [\"call\"]\ntools = [\"bash\"]";
    let other = guard(&format!("{JUDGED}\n{lines}"));
    assert_eq!(other.at, [GuardPoint::Call].into());
    assert_ne!(other.settings, own.settings);
    let judge = other.judge.unwrap();
    assert_eq!(
        (judge.model.as_str(), judge.max_tokens),
        ("anthropic/small", 100)
    );
    assert_eq!(judge.tools, ["bash".to_owned()].into());
    let changed = guard(&JUDGED.replace("Sundays", "Mondays"));
    assert_ne!(changed.settings, own.settings);
}

#[test]
fn that_have_a_model_judge_results_and_answers_where_the_file_says_it() {
    let guard = |text: &str| definition(text, "a").guards.remove(0);
    let of_results = guard(&format!("{JUDGED}\nat = [\"result\"]\ntools = [\"bash\"]"));
    assert_eq!(of_results.at, [GuardPoint::Result].into());
    assert_eq!(of_results.judge.unwrap().tools, ["bash".to_owned()].into());
    let all = guard(&format!(
        "{JUDGED}\nat = [\"input\", \"call\", \"result\", \"output\"]"
    ));
    assert_eq!(all.at, GuardPoint::ALL.into());
    assert!(all.judge.is_some());
}

#[test]
fn that_have_a_model_judge_need_its_price_where_money_is_limited() {
    let lines = "model = \"anthropic/nobody-knows\"\n[agents.a.limits]\ncost_usd = 1";
    let error = parse(&format!("{JUDGED}\n{lines}"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("anthropic/nobody-knows is not known"),
        "{error}"
    );
}

#[tokio::test]
async fn that_have_a_model_judge_need_the_key_of_its_provider() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{JUDGED}\nmodel = \"anthropic/claude-sonnet-5-5\"");
    let agents = open(&text, folder.path(), variables(&[]));
    let agent = agents.agent("a").unwrap();
    let error = agents.executor(&agent).unwrap_err().to_string();
    assert!(error.contains("ANTHROPIC_API_KEY"), "{error}");
}
