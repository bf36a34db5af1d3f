//! What the macros say to authors.

#[test]
fn says_what_is_wrong_and_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
