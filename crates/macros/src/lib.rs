#![doc = include_str!("../README.md")]

use proc_macro::TokenStream;
use syn::{DeriveInput, ImplItemFn, parse_macro_input};

mod tool;
mod workflow;

use self::tool::{derive, function, home, options::Options};

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

/// Makes an `async fn` a workflow that every engine serves.
///
/// The function takes `&Door<D>`, with `D: DurableContext` as its only type parameter, and at most one input; it
/// returns `Result<Output, WorkflowError>`. Input and output are serialised. The macro makes a type for the workflow,
/// with the function's name in upper camel case.
///
/// `name = "…"` is the name by which runs are started. Default is the function's name, with `-` in place of `_`.
///
/// `patches = ["…", "…"]` declares the ids that the function asks `door.patched` for: changes that do not apply to runs
/// which began before them. Default is no patch.
#[proc_macro_attribute]
pub fn workflow(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = workflow::expand(arguments.into(), item.into());
    expanded
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
