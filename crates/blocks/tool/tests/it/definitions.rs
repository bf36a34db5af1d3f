use neuron_tool::{BUILTIN_TOOLS, READ_ONLY_TOOLS, ToolEffects};

use crate::workspace::Workspace;

#[test]
fn the_model_is_told_this_about_the_builtin_tools() {
    insta::assert_json_snapshot!(Workspace::new().registry.definitions());
}

#[test]
fn effects_are_as_documented() {
    let definitions = Workspace::new().registry.definitions();
    assert!(
        definitions
            .iter()
            .map(|tool| tool.name.as_str())
            .eq(BUILTIN_TOOLS.iter().copied())
    );
    for tool in definitions {
        let expected = match tool.name.as_str() {
            name if READ_ONLY_TOOLS.contains(&name) => ToolEffects::ReadOnly,
            "write_file" => ToolEffects::Idempotent,
            _ => ToolEffects::Write,
        };
        assert_eq!(tool.effects(), expected, "{}", tool.name);
        let destructive = tool.annotations.unwrap().destructive_hint;
        assert_eq!(
            destructive,
            Some(expected != ToolEffects::ReadOnly),
            "{}",
            tool.name
        );
    }
}
