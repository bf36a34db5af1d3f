use std::{
    fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

use neuron_harness::eventually;

fn survivor(folder: &std::path::Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_survive"))
        .args([folder.join("home"), folder.join("numbers.log")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn noted(folder: &std::path::Path) -> Vec<u32> {
    let log = fs::read_to_string(folder.join("numbers.log")).unwrap_or_default();
    log.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn finishes_however_often_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    // Killed as soon as it got one call further than the process before it, at whatever it does then.
    for calls in 1..=15 {
        let mut process = survivor(folder.path());
        eventually("another call", || {
            let got_further = noted(folder.path())
                .last()
                .is_some_and(|last| *last >= calls);
            let is_over = process.try_wait().unwrap().is_some();
            (got_further || is_over).then_some(())
        });
        std::thread::sleep(Duration::from_micros(u64::from(calls) * 137));
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let output = survivor(folder.path()).wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "All are noted.\n");

    // Every call was made, in order; one that was in flight when its process was killed may have been made twice.
    let mut numbers = noted(folder.path());
    assert!(numbers.is_sorted(), "{numbers:?}");
    assert!(numbers.len() <= 20 + 15, "{numbers:?}");
    numbers.dedup();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
}
