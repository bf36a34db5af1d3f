//! The first command of the README: no key, no network.

use neuron_harness::{World, workspace};

#[test]
fn the_demo_lists_the_crates_of_this_workspace_and_says_that_it_is_a_demo() {
    let world = World::new();
    let mut command = world.command(&["run", "--id", "demo", "list the crates of this workspace"]);
    command.current_dir(workspace());

    let run = world.launch(command).finish().exits(0);

    run.says(&["demo", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"]);
    for name in [
        "crates/core/types",
        "crates/core/loop",
        "crates/blocks/executor",
        "crates/programs/cli",
    ] {
        assert!(run.stdout.contains(name), "no {name} in {run:#?}");
    }
    assert!(!world.events_of("demo", "tool_called").is_empty());
    assert_eq!(world.status("demo")["state"], "completed");
}

#[test]
fn with_json_standard_output_is_one_value() {
    let world = World::new();
    world.write("Cargo.toml", "[package]\nname = \"lonely\"\n");

    let run = world
        .neuron(&["run", "list the files here", "--json"])
        .exits(0);

    let output = run.json();
    assert_eq!(output["engine"], "local");
    assert_eq!(output["agent"], "default");
    assert_eq!(output["state"], "completed");
    assert_eq!(output["exit_reason"], "complete");
    assert!(
        output["output"].as_str().unwrap().contains("Cargo.toml"),
        "{output}"
    );
    assert!(output["turns"].as_u64().unwrap() >= 2, "{output}");
}
