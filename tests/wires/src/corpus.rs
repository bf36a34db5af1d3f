use std::path::Path;

use neuron_types::fuzzing::replay;

/// Checks what fuzzing this target found worth keeping. See `fuzz/README.md`.
///
/// # Panics
///
/// If the check does, or if nothing was kept.
pub fn corpus(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    assert!(replay(&folder.join(target), check).unwrap() > 0);
}

/// Declares a test for each target: `name: "target", check;`.
#[macro_export]
macro_rules! corpora {
    ($($name:ident: $target:literal, $check:expr;)*) => {
        $(#[test]
        fn $name() {
            $crate::corpus($target, $check);
        })*
    };
}
