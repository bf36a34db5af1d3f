//! Sessions whose runs are on engines.

use neuron_harness::Engine;
use neuron_local::SessionRun;
use neuron_types::RunId;
use serde_json::{Value, json};

use crate::{engine_place::Place, stored_sessions::give};

const fn name(engine: Engine) -> &'static str {
    match engine {
        Engine::Temporal => "temporal",
        Engine::Restate => "restate",
    }
}

fn talking(engine: Engine) -> Place {
    // One answer for each run of the session.
    let turns = json!([{ "text": "Noted." }, { "text": "Noted." }]);
    Place::new(engine, &turns, "")
}

fn messages(place: &Place) -> usize {
    let session = place.home.neuron(&["sessions", "show", "notes", "--json"]);
    session.json()["messages"].as_array().unwrap().len()
}

fn a_run_of_the_same_id_elsewhere_is_another_one(engine: Engine) {
    let place = talking(engine);
    let home = &place.home;
    let worker = place.worker();
    home.neuron(&["submit", "--session", "notes", "--id", "x", "--wait", "hi"])
        .exits(0);
    drop(worker);
    home.neuron(&[
        "submit",
        "--session",
        "notes",
        "--id",
        "y",
        "my name is Ada",
    ])
    .exits(0);
    home.neuron(&[
        "run",
        "--engine",
        "local",
        "--session",
        "notes",
        "--id",
        "y",
        "hello",
    ])
    .exits(2)
    .says(&format!(
        "session notes is taken by run y on {}",
        name(engine)
    ));
    // The same once more: the existing run still has the session.
    home.neuron(&[
        "submit",
        "--session",
        "notes",
        "--id",
        "y",
        "my name is Ada",
    ])
    .exits(2);
    let session = home.neuron(&["sessions", "show", "notes", "--json"]).json();
    assert_eq!(session["run"]["run_id"], "y");
    let _worker = place.worker();
    home.neuron(&["wait", "y"]).exits(0);
    assert_eq!(messages(&place), 4, "looking takes in what is over");
}

fn a_turn_that_the_engine_has_forgotten_is_not_lost_in_silence(engine: Engine) {
    let place = talking(engine);
    let home = &place.home;
    let _worker = place.worker();
    home.neuron(&["submit", "--session", "notes", "--wait", "hello"])
        .exits(0);
    let of = |id: &str| SessionRun::new(RunId::new(id).unwrap(), name(engine));
    give(home, of("gone"), None);
    home.neuron(&["run", "--engine", "local", "--session", "notes", "again"])
        .exits(2)
        .says(&format!("{} knows no such run", name(engine)));
    home.neuron(&["sessions", "release", "notes"]).exits(0);
    home.neuron(&["submit", "--session", "notes", "--wait", "again"])
        .exits(0);
    assert_eq!(messages(&place), 4);

    // A run on another engine is not known to be lost.
    give(home, of("gone").in_place("elsewhere:other"), None);
    home.neuron(&["run", "--engine", "local", "--session", "notes", "again"])
        .exits(2)
        .says("session notes is taken by run gone in elsewhere:other");
    let released = home.neuron(&["sessions", "release", "--force", "notes", "--json"]);
    assert_eq!(released.exits(0).json()["lost"]["run_id"], "gone");
    let session = home.neuron(&["sessions", "show", "notes", "--json"]).json();
    assert_eq!(session["run"], Value::Null);
}

#[test]
fn a_run_of_the_same_id_elsewhere_is_another_one_on_temporal() {
    a_run_of_the_same_id_elsewhere_is_another_one(Engine::Temporal);
}

#[test]
fn a_run_of_the_same_id_elsewhere_is_another_one_on_restate() {
    a_run_of_the_same_id_elsewhere_is_another_one(Engine::Restate);
}

#[test]
fn a_turn_that_temporal_has_forgotten_is_not_lost_in_silence() {
    a_turn_that_the_engine_has_forgotten_is_not_lost_in_silence(Engine::Temporal);
}

#[test]
fn a_turn_that_restate_has_forgotten_is_not_lost_in_silence() {
    a_turn_that_the_engine_has_forgotten_is_not_lost_in_silence(Engine::Restate);
}
