//! What stands in `#[neuron_tool(…)]` and `#[tool(…)]`, and the definition that comes of it.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Expr, ExprLit, Ident, Lit, LitBool, LitStr, Meta, Path, Result, Token,
    parse::{Parse, ParseStream},
};

const KNOWN: &str = "name, title, description, read_only, idempotent, destructive, open_world, deferred, previews \
                     and outcomes";
const MAX_NAME: usize = 64;

/// What the author says about a tool.
#[derive(Default)]
pub(crate) struct Options {
    name: Option<LitStr>,
    title: Option<LitStr>,
    description: Option<LitStr>,
    read_only: Option<LitBool>,
    idempotent: Option<LitBool>,
    destructive: Option<LitBool>,
    open_world: Option<LitBool>,
    deferred: Option<LitBool>,
    previews: Option<Path>,
    outcomes: Option<Path>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            options.parse_one(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        options.check()?;
        Ok(options)
    }
}

impl Options {
    fn parse_one(&mut self, input: ParseStream<'_>) -> Result<()> {
        let key: Ident = input.parse()?;
        match key.to_string().as_str() {
            "name" => set(&mut self.name, &key, text(&key, input)?),
            "title" => set(&mut self.title, &key, text(&key, input)?),
            "description" => set(&mut self.description, &key, text(&key, input)?),
            "read_only" => set(&mut self.read_only, &key, flag(&key, input)?),
            "idempotent" => set(&mut self.idempotent, &key, flag(&key, input)?),
            "destructive" => set(&mut self.destructive, &key, flag(&key, input)?),
            "open_world" => set(&mut self.open_world, &key, flag(&key, input)?),
            "deferred" => set(&mut self.deferred, &key, flag(&key, input)?),
            "previews" => set(&mut self.previews, &key, function(&key, input)?),
            "outcomes" => set(&mut self.outcomes, &key, function(&key, input)?),
            other => Err(syn::Error::new(
                key.span(),
                format!("a tool has no option `{other}`: it has {KNOWN}"),
            )),
        }
    }

    fn check(&self) -> Result<()> {
        if let Some(name) = &self.name {
            check_name(&name.value(), name.span())?;
        }
        let is = |flag: &Option<LitBool>| flag.as_ref().is_some_and(LitBool::value);
        if let (true, true, Some(flag)) = (
            is(&self.read_only),
            is(&self.destructive),
            &self.destructive,
        ) {
            return Err(syn::Error::new(
                flag.span(),
                "a tool that is read_only changes nothing: remove destructive, or read_only",
            ));
        }
        Ok(())
    }

    /// Returns the tool's name; `default` where none is given.
    pub(crate) fn name(&self, default: &Ident) -> Result<String> {
        match &self.name {
            Some(name) => Ok(name.value()),
            None => {
                let name = default.to_string();
                let name = name.trim_start_matches("r#").to_owned();
                check_name(&name, default.span())?;
                Ok(name)
            }
        }
    }

    /// Returns the description; the doc comment where none is given.
    pub(crate) fn description(&self, attributes: &[Attribute], place: Span) -> Result<String> {
        let text = match &self.description {
            Some(text) => text.value(),
            None => doc_comment(attributes),
        };
        if text.trim().is_empty() {
            return Err(syn::Error::new(
                place,
                "a model must be told what the tool does: write a doc comment, or description = \"…\"",
            ));
        }
        Ok(text)
    }

    pub(crate) fn title(&self) -> TokenStream {
        let title = self.title.as_ref();
        optional(title.map(|title| quote!(::std::string::String::from(#title))))
    }

    /// Returns the function that says what a call would do.
    pub(crate) fn previews(&self) -> Option<&Path> {
        self.previews.as_ref()
    }

    /// Returns the function that says what became of a call.
    pub(crate) fn outcomes(&self) -> Option<&Path> {
        self.outcomes.as_ref()
    }

    /// Returns the fields of the definition that say what the tool is beside a call.
    pub(crate) fn fields(&self) -> TokenStream {
        let (deferred, previews, outcomes) = (
            self.deferred.as_ref().is_some_and(LitBool::value),
            self.previews.is_some(),
            self.outcomes.is_some(),
        );
        quote!(deferred: #deferred, previews: #previews, outcomes: #outcomes)
    }

    /// Returns the annotations; no annotations where nothing is said.
    pub(crate) fn annotations(&self) -> TokenStream {
        let flags = [
            &self.read_only,
            &self.destructive,
            &self.idempotent,
            &self.open_world,
        ];
        if flags.iter().all(|flag| flag.is_none()) {
            return quote!(::core::option::Option::None);
        }
        let [read_only, destructive, idempotent, open_world] =
            flags.map(|flag| optional(flag.as_ref().map(ToTokens::to_token_stream)));
        quote! {
            ::core::option::Option::Some(::neuron_tool::ToolAnnotations {
                read_only_hint: #read_only,
                destructive_hint: #destructive,
                idempotent_hint: #idempotent,
                open_world_hint: #open_world,
            })
        }
    }
}

fn optional(value: Option<TokenStream>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

fn set<T>(place: &mut Option<T>, key: &Ident, value: T) -> Result<()> {
    if place.replace(value).is_some() {
        return Err(syn::Error::new(
            key.span(),
            format!("`{key}` is given twice: remove one"),
        ));
    }
    Ok(())
}

fn text(key: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
    input
        .parse::<Token![=]>()
        .and_then(|_| input.parse())
        .map_err(|error| {
            syn::Error::new(
                error.span(),
                format!("`{key}` takes a text: write {key} = \"…\""),
            )
        })
}

fn function(key: &Ident, input: ParseStream<'_>) -> Result<Path> {
    input
        .parse::<Token![=]>()
        .and_then(|_| input.parse())
        .map_err(|error| {
            syn::Error::new(
                error.span(),
                format!("`{key}` takes a function: write {key} = its_name"),
            )
        })
}

/// Parses `read_only`, `read_only = true` or `read_only = false`.
fn flag(key: &Ident, input: ParseStream<'_>) -> Result<LitBool> {
    if !input.peek(Token![=]) {
        return Ok(LitBool::new(true, key.span()));
    }
    input.parse::<Token![=]>()?;
    input.parse().map_err(|error| {
        syn::Error::new(
            error.span(),
            format!("`{key}` is said or not: write {key}, or {key} = false"),
        )
    })
}

fn check_name(name: &str, place: Span) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(fits) {
        return Ok(());
    }
    Err(syn::Error::new(
        place,
        format!(
            "{name:?} cannot be a tool's name: use 1 to {MAX_NAME} of the characters a-z, A-Z, 0-9, _ and -"
        ),
    ))
}

/// Returns the text of `///` comments, without the space that each line begins with.
fn doc_comment(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(doc_line).collect();
    lines.join("\n").trim().to_owned()
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = &meta.value
    else {
        return None;
    };
    let text = meta.path.is_ident("doc").then(|| text.value())?;
    Some(text.strip_prefix(' ').unwrap_or(&text).to_owned())
}
