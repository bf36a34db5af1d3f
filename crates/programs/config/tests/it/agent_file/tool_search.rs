//! From how many tools on the model of an agent searches its tools itself.

use neuron_types::ToolSearch;

use super::{definition, parse};

fn read(line: &str) -> Option<ToolSearch> {
    let text = format!("version = 1\n[agents.default]\nmodel = \"demo/demo\"\n{line}\n");
    definition(&text, "default").tool_search
}

#[test]
fn is_what_the_file_says_or_the_default_and_false_turns_it_off() {
    let default = ToolSearch::default();
    assert_eq!((default.above, default.at_percent), (40, 10));
    assert_eq!(read(""), Some(default));
    assert_eq!(read("tool_search = true"), Some(default));
    assert_eq!(read("tool_search = false"), None);
    let search = |above, at_percent| {
        Some(ToolSearch {
            above,
            at_percent,
            ..default
        })
    };
    let whole = "tool_search = { above = 9, at = \"25%\" }";
    assert_eq!(read(whole), search(9, 25));
    assert_eq!(read("tool_search = { above = 0 }"), search(0, 10));
    assert_eq!(read("tool_search.at = \"5 %\""), search(40, 5));
    let provider = Some(ToolSearch {
        provider: true,
        ..default
    });
    assert_eq!(read("tool_search = { provider = true }"), provider);
    assert_eq!(read("tool_search.provider = false"), Some(default));
}

#[test]
fn what_is_no_part_of_a_window_is_refused_with_its_line() {
    let text = "version = 1\n[agents.default]\nmodel = \"demo/demo\"\ntool_search = { at = \"120%\", most = 3 }\n";
    let error = parse(text).unwrap_err().to_string();
    let part = "is not a part of the window: write a percentage, as in \"10%\"";
    assert!(error.contains(part) && error.contains("most"), "{error}");
    let error = parse(&text.replace("{ at = \"120%\", most = 3 }", "{ provider = \"openai\" }"));
    let said = "neuron.toml:4: provider in [agents.default.tool_search] is \"openai\": write true or false";
    let error = error.unwrap_err().to_string();
    assert!(error.contains(said), "{error}");
    let error = parse(&text.replace("{ at = \"120%\", most = 3 }", "40"));
    assert!(error.unwrap_err().to_string().contains("a table"));
}
