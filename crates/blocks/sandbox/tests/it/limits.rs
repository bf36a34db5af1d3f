use neuron_sandbox::SandboxRules;

use crate::place::places;

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
