//! Several processes, one home.

use neuron_harness::{FakeModel, Reply, Running, World, chat};
use serde_json::json;

#[test]
fn runs_of_one_home_go_on_side_by_side() {
    let model = FakeModel::start(|request| {
        let turn = chat::turn(&request.body);
        Reply::ok(match turn {
            1..=8 => {
                let id = format!("call_{turn}");
                chat::calls(&[(&id, "read_file", json!({"path": "note.txt"}))])
            }
            _ => chat::text("Done."),
        })
    });
    let world = World::new();
    world.write("note.txt", "Remember the milk.\n");
    world.write(
        "neuron.toml",
        &model.agent_file("tools = [\"read_file\"]\n"),
    );

    // The first of the processes create the home, too.
    let ids: Vec<String> = (1..=8).map(|number| format!("run-{number}")).collect();
    let runs: Vec<Running> = ids
        .iter()
        .map(|id| world.start(&["run", "Go.", "--id", id, "--json"]))
        .collect();

    for run in runs {
        let output = run.finish().exits(0).json();
        assert_eq!(
            (&output["output"], &output["turns"]),
            (&json!("Done."), &json!(9))
        );
    }
    assert_eq!(model.requests().len(), 8 * 9);
    let listed = world.neuron(&["runs", "--json"]).exits(0).json();
    for id in &ids {
        assert!(listed.to_string().contains(id), "no {id} in {listed}");
    }
}

#[test]
fn of_two_runs_with_one_id_the_second_is_refused() {
    let model = FakeModel::start(|_| Reply::ok(chat::text("Done.")));
    let world = World::new();
    world.write("neuron.toml", &model.agent_file("tools = []\n"));
    let both = ["first", "second"].map(|prompt| world.start(&["run", prompt, "--id", "same"]));

    let mut codes = both.map(|run| run.finish().code);

    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(2)]);
    assert_eq!(model.requests().len(), 1);
}
