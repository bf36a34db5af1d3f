//! The expansion of the attribute.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    FnArg, GenericArgument, GenericParam, Ident, ItemFn, LitStr, Path, PathArguments, Result,
    ReturnType, Type, parse::Parser as _, spanned::Spanned as _,
};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let Given { name, patches } = given(arguments)?;
    let name = name.unwrap_or_else(|| {
        let name = function.sig.ident.to_string().replace('_', "-");
        LitStr::new(&name, function.sig.ident.span())
    });
    check_word(&name, "the name of a workflow")?;
    for patch in &patches {
        check_word(patch, "the id of a patch")?;
    }
    let door = door_parameter(&function)?;
    let input = input_of(&function)?;
    let output = output_of(&function)?;
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let workflow = format_ident!("{}", upper_camel(ident), span = ident.span());
    let (binding, argument, input) = match input {
        Some(input) => (quote!(input), quote!(, input), quote!(#input)),
        None => (quote!(_), quote!(), quote!(())),
    };
    let docs = function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"));
    Ok(quote! {
        #function

        #(#docs)*
        #[derive(Debug, Clone, Copy)]
        #vis struct #workflow;

        impl ::neuron::workflow::Workflow for #workflow {
            const NAME: &'static str = #name;
            const TEMPORAL_TYPE: &'static str = ::core::concat!("agent:", #name);
            const PATCHES: &'static [&'static str] = &[#(#patches),*];

            type Input = #input;
            type Output = #output;

            async fn run<#door: ::neuron::workflow::DurableContext>(
                door: &::neuron::workflow::Door<#door>,
                #binding: #input,
            ) -> ::core::result::Result<#output, ::neuron::workflow::WorkflowError> {
                #ident(door #argument).await
            }
        }

        ::neuron::__served!(#workflow);
    })
}

/// The arguments of the attribute.
#[derive(Default)]
struct Given {
    name: Option<LitStr>,
    patches: Vec<LitStr>,
}

fn given(arguments: TokenStream) -> Result<Given> {
    let mut given = Given::default();
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("name") {
            given.name = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("patches") {
            let value = meta.value()?;
            let list;
            syn::bracketed!(list in value);
            let ids =
                list.parse_terminated(<LitStr as syn::parse::Parse>::parse, syn::Token![,])?;
            given.patches = ids.into_iter().collect();
        } else {
            return Err(meta.error("expected `name = \"…\"` or `patches = [\"…\"]`"));
        }
        Ok(())
    });
    parser.parse2(arguments)?;
    Ok(given)
}

fn check_word(word: &LitStr, what: &str) -> Result<()> {
    let value = word.value();
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    if value.is_empty() || !value.chars().all(is_word) {
        let text = format!("{what} has letters, digits, `-`, `_` and `.`");
        return Err(syn::Error::new(word.span(), text));
    }
    Ok(())
}

/// Returns the name of the function's type parameter.
fn door_parameter(function: &ItemFn) -> Result<&Ident> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        return Err(syn::Error::new(
            signature.span(),
            "a workflow is an `async fn`",
        ));
    }
    let parameters: Vec<_> = signature.generics.params.iter().collect();
    match parameters.as_slice() {
        [GenericParam::Type(parameter)] => Ok(&parameter.ident),
        _ => Err(syn::Error::new(
            signature.generics.span(),
            "a workflow has one type parameter, its door: `D: DurableContext`",
        )),
    }
}

fn input_of(function: &ItemFn) -> Result<Option<&Type>> {
    let inputs: Vec<_> = function.sig.inputs.iter().collect();
    match inputs.as_slice() {
        [FnArg::Typed(_)] => Ok(None),
        [FnArg::Typed(_), FnArg::Typed(input)] => Ok(Some(&input.ty)),
        _ => Err(syn::Error::new(
            function.sig.inputs.span(),
            "a workflow takes `&Door<D>`, and at most one input",
        )),
    }
}

/// Returns the `T` of `Result<T, …>`.
fn output_of(function: &ItemFn) -> Result<&Type> {
    let wrong = |span| syn::Error::new(span, "a workflow returns `Result<Output, WorkflowError>`");
    let ReturnType::Type(_, returned) = &function.sig.output else {
        return Err(wrong(function.sig.span()));
    };
    let Type::Path(path) = &**returned else {
        return Err(wrong(returned.span()));
    };
    ok_type(&path.path).ok_or_else(|| wrong(returned.span()))
}

fn ok_type(path: &Path) -> Option<&Type> {
    let last = path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(ok) if last.ident == "Result" => Some(ok),
        _ => None,
    }
}

fn upper_camel(ident: &Ident) -> String {
    let mut name = String::new();
    for word in ident.to_string().split('_') {
        let mut letters = word.chars();
        if let Some(first) = letters.next() {
            name.extend(first.to_uppercase());
            name.push_str(letters.as_str());
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: TokenStream, item: TokenStream) -> String {
        expand(arguments, item).unwrap_err().to_string()
    }

    #[test]
    fn a_function_gets_a_type_of_its_name() {
        let item = quote! {
            pub async fn nightly_review<D: DurableContext>(door: &Door<D>, topic: Topic) -> Result<Verdict, WorkflowError> {}
        };
        let expanded = expand(quote!(), item.clone()).unwrap().to_string();
        assert!(expanded.contains("pub struct NightlyReview"), "{expanded}");
        assert!(expanded.contains(r#""nightly-review""#), "{expanded}");
        assert!(expanded.contains("type Input = Topic"), "{expanded}");
        assert!(expanded.contains("type Output = Verdict"), "{expanded}");
        let named = quote!(name = "r.1", patches = ["ask-twice", "greet-first"]);
        let named = expand(named, item).unwrap().to_string();
        assert!(named.contains(r#""r.1""#), "{named}");
        assert!(named.contains(r#""ask-twice" , "greet-first""#), "{named}");
    }

    #[test]
    fn what_is_no_workflow_is_refused_with_what_one_is() {
        let whole = quote!(
            async fn f<D: DurableContext>(door: &Door<D>) -> Result<(), WorkflowError> {}
        );
        assert!(expand(quote!(), whole.clone()).is_ok());
        assert!(refused(quote!(name = "a b"), whole.clone()).contains("letters"));
        assert!(refused(quote!(patches = ["a,b"]), whole.clone()).contains("of a patch"));
        assert!(refused(quote!(title = "a"), whole).contains("expected `name"));
        for (item, said) in [
            (
                quote!(
                    fn f<D: X>(d: &Door<D>) -> Result<(), E> {}
                ),
                "async fn",
            ),
            (
                quote!(
                    async fn f(d: &Door<D>) -> Result<(), E> {}
                ),
                "one type parameter",
            ),
            (
                quote!(
                    async fn f<D: X>() -> Result<(), E> {}
                ),
                "at most one input",
            ),
            (
                quote!(
                    async fn f<D: X>(d: &Door<D>) -> u32 {}
                ),
                "returns",
            ),
            (
                quote!(
                    async fn f<D: X>(d: &Door<D>) {}
                ),
                "returns",
            ),
        ] {
            let error = refused(quote!(), item);
            assert!(error.contains(said), "{error}");
        }
    }
}
