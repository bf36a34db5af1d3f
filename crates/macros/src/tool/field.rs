//! What stands in `#[tool(…)]` at one argument: what the model reads of it, and what it is where a call leaves it out.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{
    Attribute, Expr, ExprLit, ExprUnary, GenericArgument, Ident, Lit, LitStr, PathArguments,
    Result, Token, Type, UnOp,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
};

use super::property::property_name;

/// What the author says about one argument.
pub(crate) struct Field {
    /// Its name in a call.
    name: String,
    kind: Type,
    options: FieldOptions,
}

#[derive(Default)]
struct FieldOptions {
    description: Option<LitStr>,
    default: Option<Expr>,
}

impl Parse for FieldOptions {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let is_again = match key.to_string().as_str() {
                "description" => options.description.replace(text(&key, input)?).is_some(),
                "default" => options.default.replace(value(&key, input)?).is_some(),
                other => {
                    return Err(syn::Error::new(
                        key.span(),
                        format!(
                            "an argument has no option `{other}`: it has description and default"
                        ),
                    ));
                }
            };
            if is_again {
                let message = format!("`{key}` is given twice: remove one");
                return Err(syn::Error::new(key.span(), message));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Field {
    /// Returns what is said about an argument; `None` if nothing is. `container` has the attributes of its struct.
    pub(crate) fn read(
        name: &Ident,
        kind: &Type,
        attributes: &[Attribute],
        container: &[Attribute],
    ) -> Result<Option<Self>> {
        let mut found = None;
        for attribute in attributes.iter().filter(|attribute| is_tool(attribute)) {
            let options = attribute.parse_args::<FieldOptions>()?;
            if found.replace(options).is_some() {
                return Err(syn::Error::new_spanned(
                    attribute,
                    "#[tool(…)] is given twice: join them",
                ));
            }
        }
        let Some(options) = found else {
            return Ok(None);
        };
        let has_default = options.default.is_some();
        Ok(Some(Self {
            name: property_name(name, attributes, container, has_default)?,
            kind: kind.clone(),
            options,
        }))
    }

    fn tokens(&self) -> Result<TokenStream> {
        let name = &self.name;
        let description = match &self.options.description {
            Some(text) => quote!(::core::option::Option::Some(#text)),
            None => quote!(::core::option::Option::None),
        };
        let default = match &self.options.default {
            Some(default) => {
                let default = json(default)?;
                quote!(::core::option::Option::Some(#default))
            }
            None => quote!(::core::option::Option::None),
        };
        Ok(quote! {
            ::neuron_tool::__private::Field {
                name: #name,
                description: #description,
                default: #default,
            }
        })
    }

    /// Makes the compiler report that a default is of another type than its field, where that type is a plain one.
    fn check(&self) -> Option<TokenStream> {
        let default = self.options.default.as_ref()?;
        let kind = inner(&self.kind);
        let Type::Path(path) = kind else {
            return None;
        };
        let name = path.path.get_ident()?.to_string();
        let kind = match name.as_str() {
            "String" => quote!(&::core::primitive::str),
            "bool" | "f32" | "f64" | "i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16"
            | "u32" | "u64" | "usize" => quote!(#kind),
            _ => return None,
        };
        Some(quote_spanned!(default.span()=> const _: #kind = #default;))
    }
}

/// Adds to a definition what is said about its arguments.
pub(crate) fn described(fields: &[Field], definition: TokenStream) -> Result<TokenStream> {
    if fields.is_empty() {
        return Ok(definition);
    }
    let fields = fields.iter().map(Field::tokens);
    let fields = fields.collect::<Result<Vec<_>>>()?;
    Ok(quote!(::neuron_tool::__private::described(#definition, [#(#fields),*])))
}

/// Returns the method of the tool that fills in what a call leaves out; nothing if no argument has a default.
pub(crate) fn filled(fields: &[Field]) -> Result<Option<TokenStream>> {
    let defaults = || {
        let fields = fields.iter();
        fields.filter(|field| field.options.default.is_some())
    };
    if defaults().next().is_none() {
        return Ok(None);
    }
    let checks = defaults().filter_map(Field::check);
    let values = defaults().map(Field::tokens).collect::<Result<Vec<_>>>()?;
    Ok(Some(quote! {
        fn fill_in(
            &self,
            input: ::neuron_tool::__private::serde_json::Value,
        ) -> ::neuron_tool::__private::serde_json::Value {
            #(#checks)*
            ::neuron_tool::__private::filled(input, [#(#values),*])
        }
    }))
}

/// Returns whether this is `#[tool(…)]`.
pub(crate) fn is_tool(attribute: &Attribute) -> bool {
    attribute.path().is_ident("tool")
}

/// Returns `T` of `Option<T>`, and any other type itself.
fn inner(kind: &Type) -> &Type {
    let Type::Path(path) = kind else {
        return kind;
    };
    let Some(last) = path.path.segments.last() else {
        return kind;
    };
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) if last.ident == "Option" => {
            match arguments.args.first() {
                Some(GenericArgument::Type(kind)) => kind,
                _ => kind,
            }
        }
        _ => kind,
    }
}

fn text(key: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
    input
        .parse::<Token![=]>()
        .and_then(|_| input.parse())
        .map_err(|error| {
            let message = format!("`{key}` takes a text: write {key} = \"…\"");
            syn::Error::new(error.span(), message)
        })
}

fn value(key: &Ident, input: ParseStream<'_>) -> Result<Expr> {
    input.parse::<Token![=]>().map_err(|error| {
        let message = format!("`{key}` takes a value: write {key} = 10, for one");
        syn::Error::new(error.span(), message)
    })?;
    let value: Expr = input.parse()?;
    json(&value).map(|_| value)
}

/// Returns a default as the JSON that a model would write.
fn json(value: &Expr) -> Result<TokenStream> {
    let error = || {
        syn::Error::new(
            value.span(),
            "a default is a text, a number, true, false or a list of them, as a model would write it",
        )
    };
    let json = quote!(::neuron_tool::__private::serde_json::Value);
    match value {
        Expr::Lit(literal) => literal_json(literal, "").ok_or_else(error),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => match &**expr {
            Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_) | Lit::Float(_)) => {
                literal_json(literal, "-").ok_or_else(error)
            }
            _ => Err(error()),
        },
        Expr::Array(list) => {
            let elements = list.elems.iter().map(self::json);
            let elements = elements.collect::<Result<Vec<_>>>()?;
            Ok(quote!(#json::Array(::std::vec![#(#elements),*])))
        }
        _ => Err(error()),
    }
}

/// Returns `None` where the literal is nothing that JSON has, or a number that it has not.
fn literal_json(literal: &ExprLit, sign: &str) -> Option<TokenStream> {
    let json = quote!(::neuron_tool::__private::serde_json::Value);
    match &literal.lit {
        Lit::Str(text) => Some(quote!(#json::from(#text))),
        Lit::Bool(flag) => Some(quote!(#json::from(#flag))),
        Lit::Int(number) => {
            let digits = format!("{sign}{}", number.base10_digits());
            let whole = digits.parse::<i64>();
            let whole = whole.map(|number| quote!(#json::from(#number)));
            whole.ok().or_else(|| {
                let number = digits.parse::<u64>().ok()?;
                Some(quote!(#json::from(#number)))
            })
        }
        Lit::Float(number) => {
            let number = format!("{sign}{}", number.base10_digits());
            let number = number.parse::<f64>().ok()?;
            number.is_finite().then(|| quote!(#json::from(#number)))
        }
        _ => None,
    }
}
