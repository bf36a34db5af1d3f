//! Inputs that fuzzing found worth keeping still do no harm. See `fuzz/README.md`.

use std::path::Path;

use neuron_local::fuzzing::check_row;
use neuron_types::fuzzing::replay;

#[test]
fn rows_of_the_journal() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/journal_row");
    assert!(replay(&corpus, check_row).unwrap() > 0);
}
