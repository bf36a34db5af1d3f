#![doc = include_str!("../README.md")]

use proc_macro::TokenStream;
use syn::{DeriveInput, ImplItemFn, parse_macro_input};

mod arguments;
mod derive;
mod field;
mod function;
mod home;
mod options;
mod property;
mod signature;

use self::options::Options;

/// Makes a tool of an `async fn`. See `neuron_tool::neuron_tool`.
#[proc_macro_attribute]
pub fn neuron_tool(attributes: TokenStream, item: TokenStream) -> TokenStream {
    // A method reads like a function with `self`, and a function is a method without.
    let function = parse_macro_input!(item as ImplItemFn);
    let expanded = syn::parse::<Options>(attributes)
        .and_then(|options| function::expand(&options, function.clone()));
    match expanded {
        Ok(tokens) => home::at_home(tokens).into(),
        Err(error) => function::with_error(function, &error).into(),
    }
}

/// Makes a tool of a struct of arguments. See `neuron_tool::Tool`.
#[proc_macro_derive(Tool, attributes(tool))]
pub fn derive_tool(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as DeriveInput);
    derive::expand(&input)
        .map(home::at_home)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
