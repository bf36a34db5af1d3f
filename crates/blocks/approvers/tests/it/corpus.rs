//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use std::path::Path;

use neuron_approvers::fuzzing::check_decision;
use neuron_types::fuzzing::replay;

#[test]
fn decisions_of_strangers() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/decision");
    assert!(replay(&corpus, check_decision).unwrap() > 0);
}
