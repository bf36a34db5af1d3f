#![doc = include_str!("../README.md")]

mod workflow;

use proc_macro::TokenStream;

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
