//! What fuzzing found worth keeping still does no harm. See `fuzz/README.md`.

use std::path::Path;

use neuron_types::fuzzing::{check_canonical, replay};

fn corpus(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus");
    assert!(replay(&folder.join(target), check).unwrap() > 0);
}

#[test]
fn canonical_json() {
    corpus("canonical_json", check_canonical);
}
