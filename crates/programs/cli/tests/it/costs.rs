//! `neuron costs`

use serde_json::{Value, json};

use crate::support::{Home, one_command};

/// Returns a home with runs of two tenants, whose costs are known, and one without a tenant, whose cost is not.
fn home() -> Home {
    let home = Home::with_script(&one_command("true"), "tools = [\"bash\"]");
    let run = |id: &str, tags: &[&str]| {
        home.neuron(&[&["run", "--id", id][..], tags, &["go"]].concat())
            .exits(0);
    };
    run("r1", &["--tenant", "acme", "--label", "report=q3"]);
    run("r2", &["--tenant", "acme", "--label", "report=q4"]);
    run("r3", &["--tenant", "globex", "--label", "report=q3"]);
    home.script(&json!([
        { "text": "Hi.", "usage": { "input_tokens": 10, "output_tokens": 1 } }
    ]));
    run("r4", &[]);
    home
}

fn costs(home: &Home, args: &[&str]) -> Value {
    let args = [&["costs", "--json"][..], args].concat();
    home.neuron(&args).exits(0).json()
}

#[test]
fn sums_up_all_runs() {
    let home = home();
    let costs = costs(&home, &[]);
    assert_eq!(costs["by"], Value::Null);
    assert_eq!(costs["groups"], json!([]));
    let total = &costs["total"];
    assert_eq!(total["runs"], 4);
    assert_eq!(total["turns"], 7);
    assert_eq!(total["usage"]["input_tokens"], 700);
    assert_eq!(total["usage"]["output_tokens"], 76);
    assert_eq!(total["cost_usd"], "0.0066");
    assert_eq!(total["runs_of_unknown_cost"], 1);
    home.neuron(&["costs"])
        .exits(0)
        .prints("4 runs  7 turns  700 tokens in, 76 out  $0.0066, and 1 run of unknown cost\n");
}

#[test]
fn sums_up_by_tenant_agent_and_label() {
    let home = home();
    home.neuron(&["costs", "--by", "tenant"]).exits(0).prints(
        "(none)  1 run  1 turn  10 tokens in, 1 out  $0, and 1 run of unknown cost\n\
         acme    2 runs  4 turns  460 tokens in, 50 out  $0.0044\n\
         globex  1 run  2 turns  230 tokens in, 25 out  $0.0022\n\
         total   4 runs  7 turns  700 tokens in, 76 out  $0.0066, and 1 run of unknown cost\n",
    );
    let names = |args: &[&str]| {
        let costs = costs(&home, args);
        let groups = costs["groups"].as_array().unwrap().iter();
        groups
            .map(|group| (group["name"].clone(), group["runs"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&["--by", "agent"]), [(json!("default"), json!(4))]);
    assert_eq!(
        names(&["--by", "report"]),
        [
            (Value::Null, json!(1)),
            (json!("q3"), json!(2)),
            (json!("q4"), json!(1)),
        ]
    );
    assert_eq!(
        names(&["--by", "tenant", "--label", "report=q4"]),
        [(json!("acme"), json!(1))]
    );
    assert_eq!(
        costs(&home, &["--by", "report"])["by"],
        json!({"label": "report"})
    );
}

#[test]
fn sums_up_what_started_lately() {
    let home = home();
    assert_eq!(costs(&home, &["--since", "1h"])["total"]["runs"], 4);
    assert_eq!(costs(&home, &["--since", "1000years"])["total"]["runs"], 4);
    assert_eq!(costs(&home, &["--since", "0s"])["total"]["runs"], 0);
    home.neuron(&["costs", "--since", "lately"]).exits(2);
}

#[test]
fn a_new_home_has_no_costs() {
    let home = Home::new();
    home.neuron(&["costs"])
        .exits(0)
        .prints("0 runs  0 turns  0 tokens in, 0 out  $0\n");
}
