//! Paths in code that only a macro can parse: found where they look like paths.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::LitStr;

use super::tree::{MACROS, Spaces, TYPES, VALUES, Written, plain};

/// The keys of attributes whose strings are paths or types.
const KEYS: [&str; 10] = [
    "default",
    "deserialize_with",
    "from",
    "into",
    "remote",
    "schema_with",
    "serialize_with",
    "skip_serializing_if",
    "try_from",
    "with",
];

/// Returns the paths in a macro's arguments: those of several names, and names that stand where those of
/// types, functions and macros do.
pub(super) fn paths(tokens: TokenStream) -> Vec<(Written, Spaces)> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut found = Vec::new();
    let mut rest = tokens.as_slice();
    let mut before = None;
    while let Some((token, behind)) = rest.split_first() {
        rest = behind;
        match token {
            TokenTree::Group(group) => found.extend(paths(group.stream())),
            TokenTree::Ident(name) => {
                let mut path = Written {
                    absolute: false,
                    segments: vec![plain(name)],
                };
                while let Some((next, behind)) = after_colons(rest) {
                    path.segments.push(plain(next));
                    rest = behind;
                }
                // It is a field, a method, a lifetime, a macro's variable, or a path that began before.
                let is_part =
                    matches!(before, Some('.' | '\'' | ':')) || is_variable(before, &path);
                let spaces = spaces(&path, rest);
                if !is_part && spaces != 0 {
                    found.push((path, spaces));
                }
            }
            _ => {}
        }
        before = mark(token, before);
    }
    found
}

/// Returns the modules, functions and types in the strings of an attribute.
pub(super) fn in_strings(tokens: TokenStream) -> Vec<Written> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for window in tokens.windows(3) {
        if let [
            TokenTree::Ident(key),
            TokenTree::Punct(is),
            TokenTree::Literal(value),
        ] = window
            && is.as_char() == '='
            && KEYS.iter().any(|known| key == known)
            && let Ok(text) = syn::parse2::<LitStr>(TokenTree::from(value.clone()).into())
            && let Ok(path) = text.parse::<syn::Path>()
        {
            found.push(super::tree::written(&path));
        }
    }
    found
}

fn after_colons(tokens: &[TokenTree]) -> Option<(&proc_macro2::Ident, &[TokenTree])> {
    match tokens {
        [
            TokenTree::Punct(first),
            TokenTree::Punct(second),
            TokenTree::Ident(name),
            rest @ ..,
        ] if first.as_char() == ':'
            && first.spacing() == Spacing::Joint
            && second.as_char() == ':' =>
        {
            Some((name, rest))
        }
        _ => None,
    }
}

/// Returns the namespaces in which a path is looked up, judged by what follows it: empty if it is not a path.
fn spaces(path: &Written, rest: &[TokenTree]) -> Spaces {
    let is_macro = match rest {
        [TokenTree::Punct(mark), TokenTree::Group(_), ..] => mark.as_char() == '!',
        _ => false,
    };
    let is_call = matches!(rest, [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Parenthesis);
    let is_type = |name: &String| name.starts_with(char::is_uppercase);
    if is_macro {
        MACROS
    } else if path.segments.len() > 1 || is_call || path.segments.iter().any(is_type) {
        TYPES | VALUES
    } else {
        0
    }
}

fn is_variable(before: Option<char>, path: &Written) -> bool {
    before == Some('$') && path.segments.first().is_some_and(|first| first != "crate")
}

/// Returns the mark that a token is for the next one. `::` is only a mark as a whole, and `..` is not a mark.
fn mark(token: &TokenTree, before: Option<char>) -> Option<char> {
    match token {
        TokenTree::Punct(punct) => match punct.as_char() {
            ':' if punct.spacing() == Spacing::Joint => Some('j'),
            ':' if before != Some('j') => None,
            '.' if punct.spacing() == Spacing::Joint || before == Some('r') => Some('r'),
            other => Some(other),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let paths = paths(text.parse().expect("tokens")).into_iter();
        paths.map(|(path, _)| path.segments.join("::")).collect()
    }

    #[test]
    fn finds_what_looks_like_a_path() {
        assert_eq!(
            found("x = a::b, f(Type { g: h! { c::d() } }), ..Rest, p: super::y, $crate::z"),
            [
                "a::b", "f", "Type", "h", "c::d", "Rest", "super::y", "crate::z"
            ]
        );
    }

    #[test]
    fn leaves_out_variables_fields_methods_and_other_crates() {
        assert!(found("x, y: z, a.F(b).g(), 'life, $x(), ::other::F, c != (d)").is_empty());
    }

    #[test]
    fn finds_paths_in_the_strings_of_attributes() {
        let attribute = r#"rename = "a", with = "b::c", default, from = "D", doc = "e f""#;
        let found = in_strings(attribute.parse().expect("tokens")).into_iter();
        let found: Vec<_> = found.map(|path| path.segments.join("::")).collect();
        assert_eq!(found, ["b::c", "D"]);
    }
}
