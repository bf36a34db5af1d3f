//! The shell commands of the book's chapter on tests, exactly as the chapter has them.

use std::{env, iter, path::Path};

use neuron_harness::World;

const PAGE: &str = include_str!("../../../../docs/src/testing.md");

/// Returns the block of this language that contains this text.
fn block(language: &str, text: &str) -> &'static str {
    let fence = format!("```{language}\n");
    let mut blocks = PAGE
        .split(fence.as_str())
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap());
    blocks.find(|block| block.contains(text)).unwrap()
}

#[test]
fn a_run_that_asks_is_parked_approved_and_resumed_without_a_key() {
    let world = World::new();
    world.write("test.toml", block("toml", "[providers.script]"));
    world.write("script.json", block("json", "It is written."));
    // The page contains `neuron`, which is found where the command was built.
    let command = world.command::<&str>(&[]);
    let folder = Path::new(command.get_program()).parent().unwrap();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = iter::once(folder.to_owned()).chain(env::split_paths(&path));

    let mut shell = world.plain("sh");
    shell
        .env("PATH", env::join_paths(path).unwrap())
        .env_remove("NEURON_TRUST")
        .env("TMPDIR", world.work())
        .args(["-eux", "-c", block("sh", "neuron resume")]);
    let shell = world.launch(shell).finish().exits(0);

    assert!(shell.stdout.contains("It is written."), "{shell:#?}");
    assert_eq!(world.read("hello.txt"), "Hello.\n");
}
