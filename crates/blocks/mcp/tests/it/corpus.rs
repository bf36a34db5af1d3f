//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use std::path::Path;

use neuron_mcp::fuzzing::check_frame;
use neuron_types::fuzzing::replay;

#[test]
fn frames_of_a_server() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/mcp_frame");
    assert!(replay(&corpus, check_frame).unwrap() > 0);
}
