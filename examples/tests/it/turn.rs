use std::process::Command;

#[test]
fn the_orchestrator_carries_out_what_a_turn_wants_done() {
    let output = Command::new(env!("CARGO_BIN_EXE_turn")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "Complete: Hello. Where do you live?\n\
         Complete: I have noted it, and somebody looks at the weather.\n\
         for weather: \"Will it rain in Lisbon?\"\n\
         remembered: \"Lisbon\"\n"
    );
}
