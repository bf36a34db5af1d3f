//! `#[neuron_tool]`: from a function or method to a tool.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Ident, ImplItemFn, Result, Visibility};

use crate::{
    arguments::{self, camel_case},
    options::Options,
    signature::{Parameter, Signature, clean},
};

/// What a tool is made of, beside its function.
struct Parts {
    name: String,
    definition: TokenStream,
    args: Ident,
    args_struct: TokenStream,
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

/// The function as it was, so that nothing else is said to be missing, and the error.
pub(crate) fn with_error(mut function: ImplItemFn, error: &syn::Error) -> TokenStream {
    clean(&mut function);
    let error = error.to_compile_error();
    // In an impl block an error is no item: it goes into the function.
    let statements = &function.block.stmts;
    function.block = syn::parse_quote!({ #error; #(#statements)* });
    quote!(#function)
}

impl Parts {
    fn new(options: &Options, function: &ImplItemFn, signature: &Signature) -> Result<Self> {
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
        let deferred = options.deferred();
        let definition = quote! {
            ::neuron_tool::ToolDefinition {
                deferred: #deferred,
                ..::neuron_tool::__private::definition::<#args>(
                    #name, #title, #description, #annotations,
                )
            }
        };
        Ok(Self {
            name,
            definition,
            args,
            args_struct,
        })
    }

    /// The body of the implementation of `Tool`.
    fn implementation(
        &self,
        output: &TokenStream,
        error: &TokenStream,
        call: &TokenStream,
    ) -> TokenStream {
        let (name, definition, args) = (&self.name, &self.definition, &self.args);
        quote! {
            const NAME: &'static str = #name;
            type Args = #args;
            type Output = #output;
            type Error = #error;

            fn definition(&self) -> ::neuron_tool::ToolDefinition {
                #definition
            }

            async fn call(
                &self,
                args: #args,
                ctx: &::neuron_tool::ToolContext,
            ) -> ::core::result::Result<#output, #error> {
                #call
            }
        }
    }
}

/// What the function is called with.
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

/// A function: its tool is a type of its own beside it.
fn free(parts: &Parts, function: &ImplItemFn, signature: &Signature) -> TokenStream {
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
    let (args_struct, passed) = (&parts.args_struct, passed(signature));
    let result = &signature.output;
    let output = quote!(<#result as ::neuron_tool::__private::ToolResult>::Output);
    let error = quote!(<#result as ::neuron_tool::__private::ToolResult>::Error);
    let call = quote! {
        let _ = (&args, ctx);
        #ident(#(#passed),*).await
    };
    let implementation = parts.implementation(&output, &error, &call);
    quote! {
        #function
        #args_struct
        #definition
        impl ::neuron_tool::Tool for #tool {
            #implementation
        }
    }
}

/// A method: its tool is made by another method, which is all that can stand beside it. The types in it do
/// not see `Self`, so they have what depends on it as parameters.
fn method(parts: &Parts, function: &ImplItemFn, signature: &Signature) -> TokenStream {
    let (visibility, ident) = (&function.vis, &function.sig.ident);
    let tool = format_ident!("{}Tool", camel_case(ident), span = ident.span());
    let maker = format_ident!("{}_tool", plain(ident), span = ident.span());
    let doc = format!(
        "The tool `{}`, which calls [`{ident}`](Self::{ident}).",
        parts.name
    );
    let (args, args_struct, passed) = (&parts.args, &parts.args_struct, passed(signature));
    let implementation = parts.implementation(
        &quote!(O),
        &quote!(E),
        &quote!((self.call)(&self.state, args, ctx).await),
    );
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
                call: for<'a> fn(
                    &'a S,
                    #args,
                    &'a ::neuron_tool::ToolContext,
                ) -> ::neuron_tool::__private::CallFuture<'a, O, E>,
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
            }
        }
    }
}

fn plain(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}
