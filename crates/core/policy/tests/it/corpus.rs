//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use std::path::Path;

use neuron_policy::fuzzing::{check_pattern, check_shell};
use neuron_types::fuzzing::replay;

fn corpus(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus");
    assert!(replay(&folder.join(target), check).unwrap() > 0);
}

#[test]
fn commands_of_a_shell() {
    corpus("shell_reader", check_shell);
}

#[test]
fn patterns_of_calls() {
    corpus("call_pattern", check_pattern);
}
