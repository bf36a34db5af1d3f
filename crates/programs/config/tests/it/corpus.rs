//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use std::path::Path;

use neuron_config::fuzzing::check_agent_file;
use neuron_types::fuzzing::replay;

#[test]
fn agent_files() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/agent_file");
    assert!(replay(&corpus, check_agent_file).unwrap() > 0);
}
