//! What the parameters of a tool's function are for.

use quote::ToTokens;
use syn::{
    Attribute, FnArg, Ident, ImplItemFn, Pat, PatType, Receiver, Result, ReturnType, Type,
    TypeReference, spanned::Spanned as _,
};

use super::field::{Field, is_tool};

/// A function that can be a tool.
pub(crate) struct Signature {
    /// `&self`.
    pub(crate) is_method: bool,
    pub(crate) parameters: Vec<Parameter>,
    /// What is said about single arguments.
    pub(crate) fields: Vec<Field>,
    pub(crate) output: Type,
}

/// One parameter, in the order of the function's.
pub(crate) enum Parameter {
    /// From the model.
    Argument(Box<Argument>),
    /// `&ToolContext`.
    Context,
    /// `#[state] name: &T`: what all calls share.
    State(Box<Type>),
}

/// An argument that the model gives.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) kind: Type,
    /// Doc comments, and what serde and schemars are given.
    pub(crate) attributes: Vec<Attribute>,
}

impl Signature {
    pub(crate) fn read(function: &ImplItemFn) -> Result<Self> {
        let signature = &function.sig;
        let error = |place: &dyn ToTokens, message: &str| {
            Err(syn::Error::new_spanned(place.to_token_stream(), message))
        };
        if signature.asyncness.is_none() {
            return error(
                &signature.fn_token,
                "a tool is asynchronous: write `async fn`",
            );
        }
        if !signature.generics.params.is_empty() {
            return error(
                &signature.generics,
                "a tool has one set of arguments: remove the generic parameters, or implement `Tool`",
            );
        }
        let ReturnType::Type(_, output) = &signature.output else {
            return error(
                &signature.ident,
                "a tool can fail: return a `Result` of what the model reads and an error",
            );
        };
        let mut read = Self {
            is_method: false,
            parameters: Vec::new(),
            fields: Vec::new(),
            output: (**output).clone(),
        };
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(receiver) => {
                    check_receiver(receiver)?;
                    read.is_method = true;
                }
                FnArg::Typed(typed) => read.add(typed)?,
            }
        }
        Ok(read)
    }

    fn add(&mut self, typed: &PatType) -> Result<()> {
        let parameter = parameter(typed)?;
        let again = self.parameters.iter().any(|other| {
            matches!(
                (other, &parameter),
                (Parameter::Context, Parameter::Context)
                    | (Parameter::State(_), Parameter::State(_))
            )
        });
        if again {
            let message = "a tool has one context and one state: remove this one";
            return Err(syn::Error::new(typed.span(), message));
        }
        if self.is_method && matches!(parameter, Parameter::State(_)) {
            let message = "a method's state is `self`: remove #[state]";
            return Err(syn::Error::new(typed.span(), message));
        }
        match &parameter {
            Parameter::Argument(argument) => {
                let field = Field::read(&argument.name, &argument.kind, &typed.attrs, &[])?;
                self.fields.extend(field);
            }
            _ => {
                if let Some(attribute) = typed.attrs.iter().find(|attribute| is_tool(attribute)) {
                    let message = "the model does not give this one: remove #[tool(…)]";
                    return Err(syn::Error::new(attribute.span(), message));
                }
            }
        }
        self.parameters.push(parameter);
        Ok(())
    }

    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(argument) => Some(&**argument),
                _ => None,
            })
    }

    pub(crate) fn state(&self) -> Option<&Type> {
        self.parameters
            .iter()
            .find_map(|parameter| match parameter {
                Parameter::State(kind) => Some(&**kind),
                _ => None,
            })
    }
}

fn check_receiver(receiver: &Receiver) -> Result<()> {
    if receiver.reference.is_some() && receiver.mutability.is_none() {
        return Ok(());
    }
    let message = "calls run at the same time: take `&self`, with a lock around what changes";
    Err(syn::Error::new(receiver.span(), message))
}

fn parameter(typed: &PatType) -> Result<Parameter> {
    if typed.attrs.iter().any(is_state) {
        return match &*typed.ty {
            Type::Reference(reference) if reference.mutability.is_none() => {
                Ok(Parameter::State(reference.elem.clone()))
            }
            other => Err(syn::Error::new(
                other.span(),
                "calls share the state: take it as `&T`, with a lock around what changes",
            )),
        };
    }
    match &*typed.ty {
        Type::Reference(reference) if is_context(reference) => return Ok(Parameter::Context),
        Type::Reference(reference) => {
            return Err(syn::Error::new(
                reference.span(),
                "an argument is made for the call: take it by value, such as `String`, or mark what \
                 calls share with #[state]",
            ));
        }
        _ => {}
    }
    let Pat::Ident(pattern) = &*typed.pat else {
        return Err(syn::Error::new(
            typed.pat.span(),
            "the model calls an argument by its name: give it one",
        ));
    };
    Ok(Parameter::Argument(Box::new(Argument {
        name: pattern.ident.clone(),
        kind: (*typed.ty).clone(),
        attributes: typed
            .attrs
            .iter()
            .filter(|a| is_for_argument(a))
            .cloned()
            .collect(),
    })))
}

fn is_context(reference: &TypeReference) -> bool {
    let Type::Path(path) = &*reference.elem else {
        return false;
    };
    let last = path.path.segments.last();
    reference.mutability.is_none() && last.is_some_and(|last| last.ident == "ToolContext")
}

fn is_state(attribute: &Attribute) -> bool {
    attribute.path().is_ident("state")
}

fn is_for_argument(attribute: &Attribute) -> bool {
    ["doc", "serde", "schemars"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}

/// Takes away what a compiler does not know on a parameter.
pub(crate) fn clean(function: &mut ImplItemFn) {
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = input {
            typed.attrs.retain(|attribute| {
                !is_state(attribute) && !is_tool(attribute) && !is_for_argument(attribute)
            });
        }
    }
}
