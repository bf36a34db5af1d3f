//! Histories that the scenarios left. Every build must replay them.
//!
//! With `NEURON_RECORD=1` the scenarios record them anew.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use neuron_temporal::Replay;
use neuron_types::RunId;

use crate::stage::Agent;

/// A scenario with more runs, or of runs with more histories, is recorded in part.
const MOST_RUNS: usize = 2;
const MOST_HISTORIES: usize = 3;

/// The largest history that is kept: larger ones are not worth their space.
const LARGEST: usize = 150_000;

/// Scenarios whose histories are all larger.
const TOO_LARGE: [&str; 3] = [
    "killed_while_tools_are_searched",
    "large_results",
    "two_thousand_turns",
];

/// The prefix of the scenarios' tests.
const TESTS: &str = "conformance::";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/conformance/histories")
}

pub(super) fn are_recorded() -> bool {
    env::var_os("NEURON_RECORD").is_some()
}

/// Keeps a history of the scenario that this thread's test runs.
pub(super) fn record(run_id: &RunId, number: usize, json: &str) -> io::Result<()> {
    let thread = thread::current();
    let scenario = thread
        .name()
        .and_then(|name| name.strip_prefix(TESTS))
        .expect("a test of a scenario")
        .replace("::", ".");
    // Ids are scenario, nonce, and the name of the run.
    let is_nonce = |part: &str| part.len() == 8 && part.bytes().all(|b| b.is_ascii_hexdigit());
    let run: Vec<_> = run_id
        .as_str()
        .split('-')
        .skip_while(|part| !is_nonce(part))
        .skip(1)
        .collect();
    let start = format!("{scenario}.{}.", run.join("-"));
    let kept = fs::read_dir(folder())?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<BTreeSet<_>>>()?;
    let of_scenario = kept
        .iter()
        .filter_map(|name| name.strip_prefix(&format!("{scenario}.")));
    let runs: BTreeSet<_> = of_scenario
        .filter_map(|rest| rest.split('.').next())
        .collect();
    let is_known = kept.iter().any(|name| name.starts_with(&start));
    let fits = number < MOST_HISTORIES && json.len() <= LARGEST;
    if fits && (is_known || runs.len() < MOST_RUNS) {
        fs::write(folder().join(format!("{start}{number}.json")), json)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_scenarios_left_on_temporal_replays() {
    let replay = Replay::new::<Agent>().unwrap();
    let mut recorded: BTreeMap<String, usize> = BTreeMap::new();
    let mut differing = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if let Err(error) = replay.file(&path).await {
            differing.push(format!("{}: {error}", path.display()));
        }
        let mut parts: Vec<_> = path
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .split('.')
            .collect();
        parts.truncate(parts.len() - 2);
        *recorded.entry(parts.join("::")).or_default() += 1;
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));

    let missing: Vec<_> = scenarios()
        .into_iter()
        .filter(|scenario| {
            !recorded.contains_key(scenario) && !TOO_LARGE.contains(&scenario.as_str())
        })
        .collect();
    assert!(
        missing.is_empty(),
        "record the histories of {missing:?}: run `cargo xtask record`"
    );
    let replayed: usize = recorded.values().sum();
    println!(
        "{replayed} histories of {} scenarios replay",
        recorded.len()
    );
}

/// Returns the scenarios that are tested on Temporal, as this program lists them.
fn scenarios() -> Vec<String> {
    let listed = Command::new(env::current_exe().unwrap())
        .args(["--list", "--format", "terse"])
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    let names = names.filter_map(|name| name.strip_prefix(TESTS));
    // Tests on the client of the engine leave no history of a scenario.
    let is_scenario = |name: &&str| {
        let of_others = [
            "histories::",
            "run_client::",
            "run_client_transcripts::",
            "second_starts::",
        ];
        let is_of_others = of_others.iter().any(|others| name.starts_with(others));
        !is_of_others && *name != "a_server_that_is_away_is_said_to_be"
    };
    let scenarios: Vec<_> = names.filter(is_scenario).map(ToOwned::to_owned).collect();
    assert!(scenarios.len() > 50, "{scenarios:?}");
    scenarios
}
