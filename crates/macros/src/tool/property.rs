//! What an argument is called in a call, which serde may have changed.

use syn::{
    Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Result, Token, punctuated::Punctuated,
};

/// Returns the name of an argument in a call and in the schema.
pub(crate) fn property_name(
    field: &Ident,
    attributes: &[Attribute],
    container: &[Attribute],
    has_default: bool,
) -> Result<String> {
    let field = field.to_string();
    let field = field.trim_start_matches("r#");
    let said = said(attributes)?;
    for meta in &said {
        let problem = match meta.path().get_ident().map(Ident::to_string).as_deref() {
            Some("flatten" | "skip" | "skip_deserializing") => {
                "it is no argument of its own, so nothing can be said about it: remove #[tool(…)]"
            }
            Some("alias") if has_default => {
                "a call may give this argument by another name, so nothing tells when it is left out: \
                 remove the alias, or the default"
            }
            _ => continue,
        };
        return Err(syn::Error::new_spanned(meta, problem));
    }
    if let Some(name) = said.iter().find_map(|meta| given(meta, "rename")) {
        return Ok(name.value());
    }
    let container = self::said(container)?;
    match container.iter().find_map(|meta| given(meta, "rename_all")) {
        Some(rule) => Ok(renamed(field, &rule.value())),
        None => Ok(field.to_owned()),
    }
}

/// Returns what serde and schemars are given.
fn said(attributes: &[Attribute]) -> Result<Vec<Meta>> {
    let mut said = Vec::new();
    for attribute in attributes {
        let path = attribute.path();
        if path.is_ident("serde") || path.is_ident("schemars") {
            let metas =
                attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?;
            said.extend(metas);
        }
    }
    Ok(said)
}

/// Returns the text of `key = "…"` and of `key(deserialize = "…")`.
fn given(meta: &Meta, key: &str) -> Option<LitStr> {
    let text = |value: &Expr| match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.clone()),
        _ => None,
    };
    match meta {
        Meta::NameValue(pair) if pair.path.is_ident(key) => text(&pair.value),
        Meta::List(list) if list.path.is_ident(key) => {
            let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            parts
                .ok()?
                .iter()
                .find_map(|part| given(part, "deserialize"))
        }
        _ => None,
    }
}

/// Returns a field's name by one of serde's rules. A rule that serde does not know is serde's to report.
fn renamed(field: &str, rule: &str) -> String {
    match rule {
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => field.to_ascii_uppercase(),
        "SCREAMING-KEBAB-CASE" => field.to_ascii_uppercase().replace('_', "-"),
        "kebab-case" => field.replace('_', "-"),
        "PascalCase" => joined(field, true),
        "camelCase" => joined(field, false),
        _ => field.to_owned(),
    }
}

fn joined(field: &str, mut starts_word: bool) -> String {
    let mut name = String::with_capacity(field.len());
    for letter in field.chars() {
        if letter == '_' {
            starts_word = !name.is_empty() || starts_word;
        } else if starts_word {
            name.push(letter.to_ascii_uppercase());
            starts_word = false;
        } else {
            name.push(letter);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(field: &str, attributes: &[Attribute], container: &[Attribute]) -> Result<String> {
        let field: Ident = syn::parse_str(field)?;
        property_name(&field, attributes, container, true)
    }

    #[test]
    fn an_argument_is_called_as_serde_calls_it() {
        let all = |rule: &str| -> Vec<Attribute> {
            vec![syn::parse_quote!(#[serde(rename_all = #rule)])]
        };
        assert_eq!(name("max_lines", &[], &[]).unwrap(), "max_lines");
        assert_eq!(name("r#type", &[], &[]).unwrap(), "type");
        for (rule, expected) in [
            ("camelCase", "maxLines"),
            ("PascalCase", "MaxLines"),
            ("kebab-case", "max-lines"),
            ("SCREAMING_SNAKE_CASE", "MAX_LINES"),
            ("SCREAMING-KEBAB-CASE", "MAX-LINES"),
            ("snake_case", "max_lines"),
        ] {
            assert_eq!(name("max_lines", &[], &all(rule)).unwrap(), expected);
        }
        let own: Vec<Attribute> = vec![syn::parse_quote!(#[serde(rename = "most", default)])];
        assert_eq!(name("max_lines", &own, &all("camelCase")).unwrap(), "most");
        let read: Vec<Attribute> =
            vec![syn::parse_quote!(#[serde(rename(serialize = "a", deserialize = "b"))])];
        assert_eq!(name("max_lines", &read, &[]).unwrap(), "b");
    }

    #[test]
    fn nothing_is_said_about_what_is_no_argument_or_has_two_names() {
        let refused = |attribute: Attribute| name("rest", &[attribute], &[]).is_err();
        assert!(refused(syn::parse_quote!(#[serde(flatten)])));
        assert!(refused(syn::parse_quote!(#[schemars(skip)])));
        assert!(refused(syn::parse_quote!(#[serde(alias = "others")])));
        assert!(!refused(syn::parse_quote!(#[serde(default)])));
    }
}
