//! The time that a sandbox adds to a command.

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use neuron_sandbox::{Backend, Confinement, Sandbox};
use serde_json::json;

use crate::{
    failure::Failure,
    report::{judged, median, micros},
};

const ROUNDS: usize = 201;
/// How many rounds before them do not count.
const WARM_UP: usize = 10;
const TARGET_MS: f64 = 5.0;

pub(crate) async fn measure() -> Result<(), Failure> {
    let place = tempfile::tempdir()?;
    let confinement = |sandbox: Sandbox| Confinement::builder(sandbox).build();
    let bare = confinement(Sandbox::Off);
    let confined: Vec<_> = [Backend::Bubblewrap, Backend::Landlock]
        .map(|backend| {
            (
                backend,
                confinement(Sandbox::Workspace.with_backend(backend)),
            )
        })
        .into();
    let mut bare_times = Vec::new();
    let mut times: Vec<Vec<Duration>> = confined.iter().map(|_| Vec::new()).collect();
    // The kinds alternate, so that all see the same machine.
    for round in 0..WARM_UP + ROUNDS {
        let time = command(&bare, place.path()).await?;
        if round >= WARM_UP {
            bare_times.push(time);
        }
        for ((_, confinement), times) in confined.iter().zip(&mut times) {
            let time = command(confinement, place.path()).await?;
            if round >= WARM_UP {
                times.push(time);
            }
        }
    }
    let bare = micros(median(bare_times)) / 1e3;
    for ((backend, _), times) in confined.iter().zip(times) {
        let with = micros(median(times)) / 1e3;
        let added = with - bare;
        let figures = json!({
            "backend": backend.to_string(),
            "added_ms": added,
            "ms_per_command": with,
            "ms_per_bare_command": bare,
            "command": "bash -c true",
            "rounds": ROUNDS,
        });
        judged("sandbox", figures, "added_ms <= 5", added <= TARGET_MS);
    }
    Ok(())
}

/// Returns how long a command takes from before its sandbox is made to its end.
async fn command(confinement: &Confinement, cwd: &Path) -> Result<Duration, Failure> {
    let start = Instant::now();
    let mut command = confinement.command("bash", cwd)?;
    command
        .args(["-c", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = command.spawn()?.wait().await?;
    let time = start.elapsed();
    match status.success() {
        true => Ok(time),
        false => Err("the command failed".into()),
    }
}
