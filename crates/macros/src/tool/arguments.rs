//! The struct that a model's arguments are parsed into.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, Visibility};

use super::signature::Signature;

/// Returns `GetWeather` for `get_weather`.
pub(crate) fn camel_case(name: &Ident) -> String {
    let name = name.to_string();
    let words = name.trim_start_matches("r#").split('_');
    words
        .flat_map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters)
        })
        .collect()
}

/// Returns the struct's name, and the struct.
pub(crate) fn define(
    function: &Ident,
    visibility: &Visibility,
    signature: &Signature,
) -> (Ident, TokenStream) {
    let name = format_ident!("{}Args", camel_case(function), span = function.span());
    let fields = signature.arguments().map(|argument| {
        let (attributes, field, kind) = (&argument.attributes, &argument.name, &argument.kind);
        quote!(#(#attributes)* pub #field: #kind)
    });
    let doc = format!("The arguments of [`{function}`].");
    let definition = quote! {
        #[doc = #doc]
        #[allow(missing_docs, missing_debug_implementations, unreachable_pub)]
        #[derive(
            ::neuron_tool::__private::serde::Deserialize,
            ::neuron_tool::__private::schemars::JsonSchema,
        )]
        #[serde(crate = "::neuron_tool::__private::serde")]
        #[schemars(crate = "::neuron_tool::__private::schemars")]
        #visibility struct #name {
            #(#fields,)*
        }
    };
    (name, definition)
}
