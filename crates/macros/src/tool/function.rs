//! `#[neuron_tool]`: from a function or method to a tool.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Ident, ImplItemFn, Path, Result, Visibility};

use super::{
    arguments::{self, camel_case},
    field,
    options::Options,
    signature::{Parameter, Signature, clean},
};

/// What a tool is made of, beside its function.
struct Parts<'a> {
    name: String,
    definition: TokenStream,
    args: Ident,
    args_struct: TokenStream,
    /// The method that fills in what a call leaves out.
    filled: Option<TokenStream>,
    /// The function that says what a call would do.
    previews: Option<&'a Path>,
    /// The function that says what became of a call.
    outcomes: Option<&'a Path>,
}

/// What the methods of a tool do.
struct Bodies {
    call: TokenStream,
    preview: Option<TokenStream>,
    outcome: Option<TokenStream>,
}

pub(crate) fn expand(options: &Options, mut function: ImplItemFn) -> Result<TokenStream> {
    let signature = Signature::read(&function)?;
    let parts = Parts::new(options, &function, &signature)?;
    clean(&mut function);
    Ok(if signature.is_method {
        method(&parts, &function, &signature)
    } else {
        free(&parts, &function, &signature)
    })
}

/// Returns the function as it was, so that nothing else is reported as missing, and the error.
pub(crate) fn with_error(mut function: ImplItemFn, error: &syn::Error) -> TokenStream {
    clean(&mut function);
    let error = error.to_compile_error();
    // In an impl block an error is no item: it goes into the function.
    let statements = &function.block.stmts;
    function.block = syn::parse_quote!({ #error; #(#statements)* });
    quote!(#function)
}

impl<'a> Parts<'a> {
    fn new(options: &'a Options, function: &ImplItemFn, signature: &Signature) -> Result<Self> {
        let ident = &function.sig.ident;
        let name = options.name(ident)?;
        let (visibility, inherited) = (&function.vis, Visibility::Inherited);
        let args_visibility = if signature.is_method {
            &inherited
        } else {
            visibility
        };
        let (args, args_struct) = arguments::define(ident, args_visibility, signature);
        let description = options.description(&function.attrs, ident.span())?;
        let (title, annotations) = (options.title(), options.annotations());
        let fields = options.fields();
        let definition = quote! {
            ::neuron_tool::__private::definition::<#args>(
                #name, #title, #description, #annotations,
            )
        };
        let definition = field::described(&signature.fields, definition)?;
        let definition = quote!(::neuron_tool::ToolDefinition { #fields, ..#definition });
        Ok(Self {
            name,
            definition,
            args,
            args_struct,
            filled: field::filled(&signature.fields)?,
            previews: options.previews(),
            outcomes: options.outcomes(),
        })
    }

    /// Returns the body of the implementation of `Tool`.
    fn implementation(
        &self,
        output: &TokenStream,
        error: &TokenStream,
        bodies: &Bodies,
    ) -> TokenStream {
        let (name, definition, args) = (&self.name, &self.definition, &self.args);
        let (call, filled) = (&bodies.call, &self.filled);
        let preview = bodies.preview.as_ref().map(|body| {
            quote! {
                async fn preview(
                    &self,
                    args: #args,
                    ctx: &::neuron_tool::ToolContext,
                ) -> ::core::result::Result<
                    ::core::option::Option<::neuron_tool::Preview>,
                    #error,
                > {
                    #body
                }
            }
        });
        let outcome = bodies.outcome.as_ref().map(|body| {
            quote! {
                async fn outcome(
                    &self,
                    _key: &str,
                    args: #args,
                    ctx: &::neuron_tool::ToolContext,
                ) -> ::core::result::Result<::core::option::Option<#output>, #error> {
                    #body
                }
            }
        });
        quote! {
            const NAME: &'static str = #name;
            type Args = #args;
            type Output = #output;
            type Error = #error;

            fn definition(&self) -> ::neuron_tool::ToolDefinition {
                #definition
            }

            #filled

            async fn call(
                &self,
                args: #args,
                ctx: &::neuron_tool::ToolContext,
            ) -> ::core::result::Result<#output, #error> {
                #call
            }

            #preview
            #outcome
        }
    }
}

/// Returns what the function is called with.
fn passed(signature: &Signature) -> impl Iterator<Item = TokenStream> {
    signature
        .parameters
        .iter()
        .map(|parameter| match parameter {
            Parameter::Argument(argument) => {
                let name = &argument.name;
                quote!(args.#name)
            }
            Parameter::Context => quote!(ctx),
            Parameter::State(_) => quote!(&self.state),
        })
}

/// Writes the tool of a function: a type of its own beside it.
fn free(parts: &Parts<'_>, function: &ImplItemFn, signature: &Signature) -> TokenStream {
    let (visibility, ident) = (&function.vis, &function.sig.ident);
    let tool = format_ident!("{}Tool", camel_case(ident), span = ident.span());
    let doc = format!("The tool `{}`, which calls [`{ident}`].", parts.name);
    let definition = match signature.state() {
        None => quote! {
            #[doc = #doc]
            #[derive(Debug, Clone, Copy, Default)]
            #visibility struct #tool;
        },
        Some(state) => quote! {
            #[doc = #doc]
            #[allow(missing_debug_implementations)]
            #visibility struct #tool {
                state: #state,
            }

            impl #tool {
                /// The tool with what its calls share.
                #[allow(unreachable_pub)]
                #[must_use]
                pub const fn new(state: #state) -> Self {
                    Self { state }
                }
            }
        },
    };
    let args_struct = &parts.args_struct;
    let passed: Vec<_> = passed(signature).collect();
    let result = &signature.output;
    let output = quote!(<#result as ::neuron_tool::__private::ToolResult>::Output);
    let error = quote!(<#result as ::neuron_tool::__private::ToolResult>::Error);
    let calling = |function: &dyn ToTokens| {
        quote! {
            let _ = (&args, ctx);
            #function(#(#passed),*).await
        }
    };
    let bodies = Bodies {
        call: calling(ident),
        preview: parts.previews.map(|path| calling(path)),
        outcome: parts.outcomes.map(|path| calling(path)),
    };
    let implementation = parts.implementation(&output, &error, &bodies);
    quote! {
        #function
        #args_struct
        #definition
        impl ::neuron_tool::Tool for #tool {
            #implementation
        }
    }
}

/// Writes the tool of a method: it is made by another method, which is all that can stand beside it. The types in it do
/// not see `Self`, so they have what depends on it as parameters.
fn method(parts: &Parts<'_>, function: &ImplItemFn, signature: &Signature) -> TokenStream {
    let (visibility, ident) = (&function.vis, &function.sig.ident);
    let tool = format_ident!("{}Tool", camel_case(ident), span = ident.span());
    let maker = format_ident!("{}_tool", plain(ident), span = ident.span());
    let doc = format!(
        "The tool `{}`, which calls [`{ident}`](Self::{ident}).",
        parts.name
    );
    let (args, args_struct) = (&parts.args, &parts.args_struct);
    let passed: Vec<_> = passed(signature).collect();
    let (previews, outcomes) = (parts.previews, parts.outcomes);
    let bodies = Bodies {
        call: quote!((self.call)(&self.state, args, ctx).await),
        preview: previews.map(|_| quote!((self.preview)(&self.state, args, ctx).await)),
        outcome: outcomes.map(|_| quote!((self.outcome)(&self.state, args, ctx).await)),
    };
    let implementation = parts.implementation(&quote!(O), &quote!(E), &bodies);
    let field = |name: &TokenStream, output: &TokenStream| {
        quote! {
            #name: for<'a> fn(
                &'a S,
                #args,
                &'a ::neuron_tool::ToolContext,
            ) -> ::neuron_tool::__private::CallFuture<'a, #output, E>,
        }
    };
    let value = |name: &TokenStream, path: &Path| {
        quote! {
            #name: |state, args, ctx| {
                ::std::boxed::Box::pin(async move {
                    let _ = (&args, ctx);
                    #path(state, #(#passed),*).await
                })
            },
        }
    };
    let (preview, outcome) = (quote!(preview), quote!(outcome));
    let call_field = field(&quote!(call), &quote!(O));
    let previewed = quote!(::core::option::Option<::neuron_tool::Preview>);
    let preview_field = previews.map(|_| field(&preview, &previewed));
    let outcome_field = outcomes.map(|_| field(&outcome, &quote!(::core::option::Option<O>)));
    let preview_value = previews.map(|path| value(&preview, path));
    let outcome_value = outcomes.map(|path| value(&outcome, path));
    let conditions: Vec<&Attribute> = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect();
    quote! {
        #function

        #(#conditions)*
        #[doc = #doc]
        #[must_use]
        #visibility fn #maker(self: ::std::sync::Arc<Self>) -> impl ::neuron_tool::Tool {
            #args_struct

            struct #tool<S, O, E> {
                state: ::std::sync::Arc<S>,
                #call_field
                #preview_field
                #outcome_field
            }

            impl<S, O, E> ::neuron_tool::Tool for #tool<S, O, E>
            where
                S: ::core::marker::Send + ::core::marker::Sync,
                O: ::neuron_tool::__private::serde::Serialize + 'static,
                E: ::std::error::Error + ::core::marker::Send + ::core::marker::Sync + 'static,
            {
                #implementation
            }

            #tool {
                state: self,
                call: |state, args, ctx| {
                    ::std::boxed::Box::pin(async move {
                        let _ = (&args, ctx);
                        state.#ident(#(#passed),*).await
                    })
                },
                #preview_value
                #outcome_value
            }
        }
    }
}

fn plain(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}
