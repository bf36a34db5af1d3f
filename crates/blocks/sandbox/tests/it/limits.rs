use std::process::Stdio;

use neuron_sandbox::{Backend, Sandbox, SandboxRules};

use crate::place::{Place, places};

#[test]
fn a_process_gets_no_more_memory_than_it_may() {
    for place in places() {
        let script = "dd if=/dev/zero bs=300M count=1 2>/dev/null | wc -c";
        assert_eq!(place.with(SandboxRules::new(), script).ok(), "314572800\n");
        let limited = SandboxRules::new().memory(200 << 20);
        assert_ne!(place.with(limited, script).text, "314572800\n");
    }
}

#[test]
fn the_number_of_processes_has_a_limit() {
    for place in places() {
        let done = place.with(SandboxRules::new().processes(1234), "ulimit -u; ulimit -Hu");
        assert_eq!(done.ok(), "1234\n1234\n");
    }
}

#[test]
fn limits_hold_in_a_program_that_is_no_helper() {
    let place = Place::new(Backend::Bubblewrap);
    let limited = Sandbox::Custom(SandboxRules::new().processes(1234));
    let mut worker = place.worker(&limited, "ulimit -u; ls /proc/self/fd | wc -l");
    let done = worker.env("PROBE_IS_NO_HELPER", "1").output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    // Input, outputs and what `ls` opens: none of those that the limits are set by.
    assert_eq!(said, "1234\n4\n", "{done:?}");
}

#[test]
fn what_is_not_started_says_why_with_limits_too() {
    let place = Place::new(Backend::Bubblewrap);
    let limited = SandboxRules::new().processes(1234);
    let done = place.with(limited, "exec /nowhere/program");
    assert_eq!(done.code, Some(127), "{done:?}");
    let limited = Sandbox::Custom(SandboxRules::new().memory(1));
    let mut worker = place.worker(&limited, "echo started");
    let done = worker.stderr(Stdio::piped()).output().unwrap();
    assert!(!done.status.success() && done.stdout.is_empty(), "{done:?}");
}
