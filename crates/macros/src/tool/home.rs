//! Where the crate that uses a macro finds neuron-tool.

use std::path::Path;

use proc_macro2::{Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// The path that the macros write.
const WRITTEN: &str = "neuron_tool";

/// Leads the paths of generated code to neuron-tool: as it is named in the crate that uses a macro, or by way of the
/// crate `neuron`, if that is what it depends on.
pub(crate) fn at_home(code: TokenStream) -> TokenStream {
    match path() {
        Some(path) => lead(code, &path),
        None => code,
    }
}

/// Returns the path to neuron-tool, where it differs from the one that is written. A crate that depends on neuron-tool
/// itself, or has no manifest, gets the written one.
fn path() -> Option<Vec<String>> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let manifest = std::fs::read_to_string(Path::new(&folder).join("Cargo.toml")).ok()?;
    goes_by_way_of_neuron(&manifest).then(|| vec!["neuron".to_owned(), "tool".to_owned()])
}

/// Returns whether a manifest names the crate `neuron` and not `neuron-tool`, as a dependency.
fn goes_by_way_of_neuron(manifest: &str) -> bool {
    let names = |wanted: &str| {
        let mut lines = manifest.lines().map(str::trim_start);
        lines.any(|line| {
            let table = line.strip_prefix('[').and_then(|line| line.split_once(']'));
            let in_table = table.and_then(|(table, _)| table.rsplit_once("dependencies."));
            let key = line.split(['=', '.', ' ']).next();
            key == Some(wanted) || in_table.is_some_and(|(_, name)| name == wanted)
        })
    };
    !names("neuron-tool") && names("neuron")
}

fn lead(code: TokenStream, path: &[String]) -> TokenStream {
    let mut led = Vec::new();
    for token in code {
        match token {
            TokenTree::Ident(name) if name == WRITTEN => led.extend(segments(path, name.span())),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), lead(group.stream(), path));
                inner.set_span(group.span());
                led.push(TokenTree::Group(inner));
            }
            TokenTree::Literal(literal) => led.push(TokenTree::Literal(in_text(literal, path))),
            other => led.push(other),
        }
    }
    led.into_iter().collect()
}

fn segments(path: &[String], span: Span) -> Vec<TokenTree> {
    let mut tokens = Vec::new();
    for (place, name) in path.iter().enumerate() {
        if place > 0 {
            tokens.push(TokenTree::Punct(Punct::new(':', Spacing::Joint)));
            tokens.push(TokenTree::Punct(Punct::new(':', Spacing::Alone)));
        }
        tokens.push(TokenTree::Ident(Ident::new(name, span)));
    }
    tokens
}

/// Replaces the path in a text: serde and schemars take the paths to themselves as texts.
fn in_text(literal: Literal, path: &[String]) -> Literal {
    let text = literal.to_string();
    match text.strip_prefix("\"::neuron_tool::__private::") {
        Some(rest) => {
            let mut led = Literal::string(&format!(
                "::{}::__private::{}",
                path.join("::"),
                rest.trim_end_matches('"')
            ));
            led.set_span(literal.span());
            led
        }
        None => literal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_says_by_which_way() {
        for (manifest, by_neuron) in [
            ("[dependencies]\nneuron = \"0.1\"\n", true),
            ("[dependencies]\nneuron.workspace = true\n", true),
            ("[dev-dependencies.neuron]\nversion = \"0.1\"\n", true),
            (
                "[dependencies]\nneuron = \"0.1\"\nneuron-tool = \"0.1\"\n",
                false,
            ),
            ("[dependencies]\nneuron-tool.workspace = true\n", false),
            ("[package]\nname = \"neuron\"\n", false),
            ("[dependencies]\nneurons = \"1\"\n", false),
        ] {
            assert_eq!(goes_by_way_of_neuron(manifest), by_neuron, "{manifest}");
        }
    }

    #[test]
    fn paths_and_texts_lead_to_the_umbrella() {
        let code: TokenStream =
            r#"#[serde(crate = "::neuron_tool::__private::serde")] impl ::neuron_tool::Tool for A {}"#
                .parse()
                .unwrap();
        let led = lead(code, &["neuron".to_owned(), "tool".to_owned()]);
        let expected: TokenStream =
            r#"#[serde(crate = "::neuron::tool::__private::serde")] impl ::neuron::tool::Tool for A {}"#
                .parse()
                .unwrap();
        assert_eq!(led.to_string(), expected.to_string());
    }
}
