//! `#[derive(Tool)]`: from a struct of arguments to a tool.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Fields, FieldsNamed, Result};

use super::{
    field::{self, Field, is_tool},
    options::Options,
};

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let (args, visibility) = (&input.ident, &input.vis);
    let named = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) => Some(named),
            _ => None,
        },
        _ => None,
    };
    let Some(named) = named else {
        return Err(syn::Error::new(
            args.span(),
            "a model calls arguments by their names: derive Tool for a struct with named fields",
        ));
    };
    if !input.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &input.generics,
            "a tool has one set of arguments: remove the generic parameters, or implement `Tool`",
        ));
    }
    let options = options(input)?;
    let default = format_ident!("{}", snake_case(&args.to_string()), span = args.span());
    let name = options.name(&default)?;
    let description = options.description(&input.attrs, args.span())?;
    let (title, annotations) = (options.title(), options.annotations());
    let fields = options.fields();
    let arguments = arguments(input, named)?;
    let definition = quote! {
        ::neuron_tool::__private::definition::<#args>(
            #name, #title, #description, #annotations,
        )
    };
    let definition = field::described(&arguments, definition)?;
    let filled = field::filled(&arguments)?;
    let preview = options.previews().map(|path| {
        quote! {
            async fn preview(
                &self,
                args: #args,
                ctx: &::neuron_tool::ToolContext,
            ) -> ::core::result::Result<
                ::core::option::Option<::neuron_tool::Preview>,
                Self::Error,
            > {
                #path(args, ctx).await
            }
        }
    });
    let outcome = options.outcomes().map(|path| {
        quote! {
            async fn outcome(
                &self,
                _key: &str,
                args: #args,
                ctx: &::neuron_tool::ToolContext,
            ) -> ::core::result::Result<::core::option::Option<Self::Output>, Self::Error> {
                #path(args, ctx).await
            }
        }
    });
    let tool = format_ident!("{args}Tool", span = args.span());
    let doc = format!("The tool `{name}`, with the arguments [`{args}`].");
    Ok(quote! {
        #[doc = #doc]
        #[derive(Debug, Clone, Copy, Default)]
        #visibility struct #tool;

        impl ::neuron_tool::Tool for #tool {
            const NAME: &'static str = #name;
            type Args = #args;
            type Output = <#args as ::neuron_tool::CallTool>::Output;
            type Error = <#args as ::neuron_tool::CallTool>::Error;

            fn definition(&self) -> ::neuron_tool::ToolDefinition {
                ::neuron_tool::ToolDefinition {
                    #fields,
                    ..#definition
                }
            }

            #filled

            async fn call(
                &self,
                args: #args,
                ctx: &::neuron_tool::ToolContext,
            ) -> ::core::result::Result<Self::Output, Self::Error> {
                ::neuron_tool::CallTool::call(args, ctx).await
            }

            #preview
            #outcome
        }
    })
}

/// Returns what is said about single fields.
fn arguments(input: &DeriveInput, named: &FieldsNamed) -> Result<Vec<Field>> {
    let mut arguments = Vec::new();
    for field in &named.named {
        if let Some(name) = &field.ident {
            arguments.extend(Field::read(name, &field.ty, &field.attrs, &input.attrs)?);
        }
    }
    Ok(arguments)
}

fn options(input: &DeriveInput) -> Result<Options> {
    let mut found = None;
    for attribute in &input.attrs {
        if !is_tool(attribute) {
            continue;
        }
        if found.replace(attribute.parse_args::<Options>()?).is_some() {
            return Err(syn::Error::new_spanned(
                attribute,
                "#[tool(…)] is given twice: join them",
            ));
        }
    }
    Ok(found.unwrap_or_default())
}

/// Returns `read_file` for `ReadFile`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
