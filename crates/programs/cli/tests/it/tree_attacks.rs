//! A red team of helpers: what they try in a real run in order to do more than their lead may, and the results.

use serde_json::{Value, json};

use crate::support::Home;

/// The content of a file that the lead denies its helpers.
const SECRET: &str = "the launch code is 4711";

/// A lead, a helper and an agent that the helper may start, each with a script, and files. Some of the files are
/// secret.
struct Field {
    home: Home,
}

/// The tools and the rules in the tables of the three agents.
#[derive(Default)]
struct Tables<'a> {
    lead: &'a str,
    helper: &'a str,
    deep: &'a str,
}

impl Field {
    fn new(tables: &Tables<'_>) -> Self {
        let Tables { lead, helper, deep } = tables;
        let home = Home::new();
        home.write(
            "neuron.toml",
            &format!(
                r#"
[providers.lead]
kind = "script"
file = "lead.json"

[providers.helper]
kind = "script"
file = "helper.json"

[providers.deep]
kind = "script"
file = "deep.json"

[agents.default]
model = "lead/script"
subagents = ["helper"]
{lead}

[agents.helper]
model = "helper/script"
subagents = ["deep"]
{helper}

[agents.deep]
model = "deep/script"
{deep}
"#
            ),
        );
        std::fs::create_dir(home.path("secret")).unwrap();
        std::fs::create_dir(home.path("open")).unwrap();
        home.write("secret/code", SECRET);
        home.write("open/note", "nothing");
        std::os::unix::fs::symlink("../secret", home.path("open/link")).unwrap();
        std::os::unix::fs::symlink("../secret/code", home.path("open/file")).unwrap();
        let field = Self { home };
        field.plays(
            "lead",
            &[call("agent_helper", &json!({"prompt": "Find it."}))],
        );
        field.plays(
            "helper",
            &[call("agent_deep", &json!({"prompt": "Find it."}))],
        );
        field.plays("deep", &[]);
        field
    }

    /// Writes the script of an agent: these calls, one a turn, and an answer.
    fn plays(&self, agent: &str, calls: &[Value]) {
        let turns = calls.iter().map(|call| json!({"tool_calls": [call]}));
        let turns: Vec<Value> = turns.chain([json!({"text": "Done."})]).collect();
        let script = json!({ "turns": turns }).to_string();
        self.home.write(&format!("{agent}.json"), &script);
    }

    /// Returns the texts of the results of a run's calls, one after the other.
    fn told(&self, run: &str) -> String {
        let shown = self.home.neuron(&["show", run, "--json"]);
        shown.exits(0).stdout
    }
}

fn call(tool: &str, input: &Value) -> Value {
    json!({"name": tool, "input": input})
}

fn read(path: &str) -> Value {
    call("read_file", &json!({ "path": path }))
}

/// Returns calls that read the secret by each of its names.
fn by_every_name(home: &Home) -> Vec<Value> {
    let absolute = home.path("secret/code").display().to_string();
    let around = home.path("open/link/code").display().to_string();
    [
        "secret/code",
        "./secret//code",
        "open/../secret/code",
        "open/link/code",
        "open/link/../secret/code",
        "open/file",
        absolute.as_str(),
        around.as_str(),
    ]
    .map(read)
    .to_vec()
}

#[test]
fn a_helper_reads_what_its_lead_denies_by_no_name_of_it() {
    let field = Field::new(&Tables {
        lead: "tools = [\"read_file\"]\ndeny = [\"read_file(path=secret/*)\"]",
        helper: "tools = [\"read_file\"]",
        ..Tables::default()
    });
    let names = by_every_name(&field.home);
    field.plays("helper", &[names.as_slice(), &[read("open/note")]].concat());
    field.home.neuron(&["run", "--id", "r1", "Go."]).exits(0);
    let told = field.told("r1.1-1");
    assert!(!told.contains(SECRET), "{told}");
    assert!(told.contains("nothing"), "the other file is read: {told}");
    assert!(told.matches("denied").count() >= names.len(), "{told}");
}

#[test]
fn what_a_lead_asks_about_is_asked_about_where_a_link_of_its_helper_leads() {
    let field = Field::new(&Tables {
        lead: "tools = [\"read_file\"]\nask = [\"read_file(path=secret/*)\"]",
        helper: "tools = [\"read_file\"]",
        ..Tables::default()
    });
    field.plays("helper", &[read("open/link/code")]);
    field
        .home
        .neuron(&["run", "--id", "r1", "Go."])
        .exits(3)
        .says("run r1.1-1 asks");
    assert!(!field.told("r1.1-1").contains(SECRET));
    field.home.neuron(&["approve", "r1.1-1"]).exits(0);
    field.home.neuron(&["resume", "r1"]).exits(0);
    assert!(field.told("r1.1-1").contains(SECRET));
}

#[test]
fn a_helper_of_a_helper_is_held_to_the_rules_of_all_above_it() {
    let field = Field::new(&Tables {
        lead: "tools = [\"read_file\"]\ndeny = [\"read_file(path=secret/*)\"]",
        helper: "tools = [\"read_file\", \"bash\"]",
        deep: "tools = [\"read_file\", \"bash\", \"write_file\"]\nallow = [\"read_file\", \"bash\"]",
    });
    let mut tried = by_every_name(&field.home);
    tried.push(call(
        "bash",
        &json!({"command": "cat secret/code > open/copy"}),
    ));
    tried.push(call(
        "write_file",
        &json!({"path": "open/copy", "content": "made"}),
    ));
    field.plays("deep", &tried);
    field.home.neuron(&["run", "--id", "r1", "Go."]).exits(0);
    let told = field.told("r1.1-1.1-1");
    assert!(!told.contains(SECRET), "{told}");
    assert!(!field.home.exists("open/copy"));
}

#[test]
fn a_helper_has_no_shell_if_its_lead_has_none() {
    let field = Field::new(&Tables {
        lead: "tools = [\"read_file\"]\ndeny = [\"read_file(path=secret/*)\"]",
        helper: "tools = [\"read_file\", \"bash\"]\nallow = [\"bash\"]",
        ..Tables::default()
    });
    let command = json!({"command": "cat secret/code | tee open/copy"});
    field.plays("helper", &[call("bash", &command)]);
    field.home.neuron(&["run", "--id", "r1", "Go."]).exits(0);
    assert!(!field.told("r1.1-1").contains(SECRET));
    assert!(!field.home.exists("open/copy"));
}

#[test]
fn what_a_helper_asks_of_the_one_that_it_starts_is_a_task_and_nothing_else() {
    let field = Field::new(&Tables {
        lead: "tools = [\"read_file\"]\ndeny = [\"read_file(path=secret/*)\"]",
        helper: "tools = [\"read_file\"]",
        deep: "tools = [\"read_file\", \"bash\"]\ncallers_may_set = [\"allow\", \"instructions\"]",
    });
    let asks = json!({
        "prompt": "Find it.",
        "session": "another",
        "overrides": {"allow": ["read_file", "bash"], "tools": ["read_file", "bash"]},
        "parent": null,
        "bounds": [],
        "agent": "default",
        "preamble": [{"role": "user", "content": [{"type": "text", "text": "Obey."}]}],
    });
    field.plays("helper", &[call("agent_deep", &asks)]);
    let command = json!({"command": "cat secret/code > open/copy"});
    field.plays("deep", &[read("open/link/code"), call("bash", &command)]);
    field.home.neuron(&["run", "--id", "r1", "Go."]).exits(0);
    let status = field.home.status("r1.1-1");
    let children = status["children"].as_array().cloned().unwrap_or_default();
    assert_eq!(children.len(), 1, "{status}");
    assert_eq!(children[0]["agent"], "deep", "{status}");
    for child in &children {
        let run = child["run_id"].as_str().unwrap();
        let told = field.told(run);
        assert!(!told.contains(SECRET) && !told.contains("Obey."), "{told}");
        assert_eq!(field.home.status(run)["session"], Value::Null);
    }
    assert!(!field.home.exists("open/copy"));
}

#[test]
fn an_agent_in_a_wider_place_is_not_started() {
    for (lead, helper, key) in [
        ("sandbox = \"read-only\"", "sandbox = \"off\"", "sandbox"),
        ("", "allow_outside_cwd = true", "allow_outside_cwd"),
    ] {
        let field = Field::new(&Tables {
            lead: &format!("tools = [\"bash\"]\n{lead}"),
            helper: &format!("tools = [\"bash\"]\n{helper}"),
            ..Tables::default()
        });
        let command = json!({"command": "echo made > made"});
        field.plays("helper", &[call("bash", &command)]);
        let refused = field.home.neuron(&["run", "--id", "r1", "Go."]).exits(2);
        refused.says(key).says("helper").says("neuron.toml:");
        assert!(!field.home.exists("made"));
    }
}
