use std::path::Path;

use neuron_types::fuzzing::replay;

/// Checks the inputs that were kept from fuzzing this target. See `fuzz/README.md`.
///
/// # Panics
///
/// If the check panics, or if no input was kept.
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
