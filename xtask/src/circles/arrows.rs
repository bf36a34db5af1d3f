//! The arrows between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};

use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Generics, Item, ItemUse, Meta, Path, QSelf, Stmt, Token};

use super::scope::{Found, resolve};
use super::tokens;
use super::tree::{
    ALL, MACROS, Name, Spaces, TYPES, Tree, VALUES, Written, attributes, defined, imports,
    is_for_tests, is_re_export, plain, written,
};

/// The arrows, each from a file to another, with the items that cause it.
pub(super) type Arrows = BTreeMap<(usize, usize), BTreeSet<String>>;

/// The attributes that contain no code.
const PLAIN: [&str; 7] = [
    "allow", "cfg", "derive", "doc", "expect", "must_use", "warn",
];

/// Returns the arrows of a crate.
pub(super) fn of(tree: &Tree) -> Arrows {
    let mut arrows = Arrows::new();
    for (number, file) in tree.files.iter().enumerate() {
        let mut reader = Reader {
            tree,
            file: number,
            module: file.module,
            locals: Vec::new(),
            arrows: &mut arrows,
        };
        for item in &file.items {
            reader.visit_item(item);
        }
    }
    arrows
}

/// The meaning of a name inside a function or an item.
#[derive(Clone)]
enum Local {
    /// A variable: a path of several names does not begin with it.
    Variable,
    /// An item of the function, or a parameter for a type.
    Item,
    Import(Written),
}

type Locals = BTreeMap<String, Local>;

struct Reader<'a> {
    tree: &'a Tree,
    file: usize,
    module: usize,
    locals: Vec<Locals>,
    arrows: &'a mut Arrows,
}

impl Reader<'_> {
    fn follow(&mut self, mut path: Written, spaces: Spaces) {
        let local = |first: &String, is_single: bool| {
            let mut scopes = self.locals.iter().rev();
            scopes.find_map(|scope| match scope.get(first)? {
                Local::Variable if !is_single => None,
                local => Some(local.clone()),
            })
        };
        if let Some((first, rest)) = path.segments.split_first()
            && !path.absolute
        {
            match local(first, rest.is_empty()) {
                Some(Local::Variable | Local::Item) => return,
                Some(Local::Import(mut start)) => {
                    start.segments.extend_from_slice(rest);
                    path = start;
                }
                None => {}
            }
        }
        for found in resolve(self.tree, self.module, &path, spaces) {
            self.draw(found);
        }
    }

    fn draw(&mut self, found: Found) {
        if let Found::Item { module, name } = found {
            self.draw_to(module, name);
        }
    }

    fn draw_to(&mut self, module: usize, name: String) {
        if let Some(module) = self.tree.modules.get(module)
            && module.file != self.file
        {
            let arrow = self.arrows.entry((self.file, module.file)).or_default();
            arrow.insert(name);
        }
    }

    fn follow_tokens(&mut self, tokens: proc_macro2::TokenStream) {
        for (path, spaces) in tokens::paths(tokens) {
            self.follow(path, spaces);
        }
    }

    /// Follows a path that may begin with `<Type as Trait>`.
    fn follow_qualified(&mut self, qself: Option<&QSelf>, path: &Path, spaces: Spaces) {
        let mut start = written(path);
        let spaces = match qself {
            Some(qself) => {
                self.visit_type(&qself.ty);
                start.segments.truncate(qself.position);
                TYPES
            }
            None => spaces,
        };
        if !start.segments.is_empty() {
            self.follow(start, spaces);
        }
        visit::visit_path(self, path);
    }

    /// Returns whether a path is one into a child of the module that is being read.
    fn is_into_child(&self, path: &Written) -> bool {
        let mut outer = path.clone();
        outer.segments.pop();
        resolve(self.tree, self.module, &outer, TYPES)
            .iter()
            .any(|found| match found {
                Found::Item { module, .. } => self.is_inside(*module),
                Found::Module(module) => *module != self.module && self.is_inside(*module),
            })
    }

    fn is_inside(&self, module: usize) -> bool {
        let mut above = Some(module);
        while let Some(module) = above {
            if module == self.module {
                return true;
            }
            above = self
                .tree
                .modules
                .get(module)
                .and_then(|module| module.parent);
        }
        false
    }

    fn within(&mut self, locals: Locals, read: impl FnOnce(&mut Self)) {
        self.locals.push(locals);
        read(self);
        self.locals.pop();
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            let locals = generics(item).map(parameters).unwrap_or_default();
            self.within(locals, |this| visit::visit_item(this, item));
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let Some((_, items)) = &item.content else {
            return;
        };
        let modules = &self.tree.modules;
        let names = modules.get(self.module).map(|module| &module.names);
        let child = names
            .and_then(|names| names.get(&plain(&item.ident)))
            .into_iter()
            .flatten()
            .find_map(|name| match name {
                Name::Module(child) => Some(*child),
                _ => None,
            });
        let Some(child) = child else { return };
        let outer = std::mem::replace(&mut self.module, child);
        for item in items {
            self.visit_item(item);
        }
        self.module = outer;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for import in imports(item) {
            if is_re_export(item) && self.is_into_child(&import.path) {
                continue;
            }
            let spaces = if import.name.is_some() { ALL } else { TYPES };
            self.follow(import.path, spaces);
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if item.ident.is_none() {
            return visit::visit_item_macro(self, item);
        }
        // Single names of a definition have the meaning of the place where the definition is used.
        for (path, spaces) in tokens::paths(item.mac.tokens.clone()) {
            if path.segments.first().is_some_and(|first| first == "crate") {
                self.follow(path, spaces);
            }
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let locals = variables(|names| names.visit_item_fn(item));
        self.within(locals, |this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let (attributes, locals) = match item {
            syn::ImplItem::Fn(item) => (&item.attrs, {
                let mut locals = variables(|names| names.visit_impl_item_fn(item));
                locals.extend(parameters(&item.sig.generics));
                locals
            }),
            syn::ImplItem::Const(item) => (&item.attrs, Locals::new()),
            syn::ImplItem::Type(item) => (&item.attrs, Locals::new()),
            syn::ImplItem::Macro(item) => (&item.attrs, Locals::new()),
            _ => return,
        };
        if !is_for_tests(attributes) {
            self.within(locals, |this| visit::visit_impl_item(this, item));
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if !is_for_tests(&item.attrs) {
            let mut locals = variables(|names| names.visit_trait_item_fn(item));
            locals.extend(parameters(&item.sig.generics));
            self.within(locals, |this| visit::visit_trait_item_fn(this, item));
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !is_for_tests(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !is_for_tests(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !is_for_tests(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let mut locals = Locals::new();
        for statement in &block.stmts {
            match statement {
                Stmt::Item(Item::Use(item)) => {
                    let imports = imports(item).into_iter();
                    locals.extend(imports.filter_map(|i| Some((i.name?, Local::Import(i.path)))));
                }
                Stmt::Item(item) => {
                    locals.extend(defined(item).map(|(name, _)| (plain(name), Local::Item)));
                }
                _ => {}
            }
        }
        self.within(locals, |this| visit::visit_block(this, block));
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta
            && !PLAIN.iter().any(|name| list.path.is_ident(name))
        {
            self.follow_tokens(list.tokens.clone());
            for path in tokens::in_strings(list.tokens.clone()) {
                for found in resolve(self.tree, self.module, &path, TYPES | VALUES) {
                    match found {
                        Found::Module(module) => self.draw_to(module, path.segments.join("::")),
                        item => self.draw(item),
                    }
                }
            }
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.follow(written(&item.path), MACROS);
        let expressions =
            item.parse_body_with(Punctuated::<syn::Expr, Token![,]>::parse_terminated);
        match expressions {
            Ok(expressions) => expressions.iter().for_each(|e| self.visit_expr(e)),
            Err(_) => self.follow_tokens(item.tokens.clone()),
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.follow_qualified(None, path, TYPES);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.follow_qualified(path.qself.as_ref(), &path.path, VALUES);
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        self.follow_qualified(path.qself.as_ref(), &path.path, TYPES);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        if is_constant(pattern) {
            let mut path = Written::default();
            path.segments.push(plain(&pattern.ident));
            self.follow(path, VALUES);
        }
        visit::visit_pat_ident(self, pattern);
    }

    // The visibility of an item is not a use of a path.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}
}

/// Returns whether a pattern that looks like a variable is a constant or a unit struct, judged by its letters.
fn is_constant(pattern: &syn::PatIdent) -> bool {
    let name = pattern.ident.unraw().to_string();
    name.starts_with(char::is_uppercase)
}

/// The variables of a function and of all closures in it.
#[derive(Default)]
struct Variables(Locals);

impl<'ast> Visit<'ast> for Variables {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        if !is_constant(pattern) {
            self.0.insert(plain(&pattern.ident), Local::Variable);
        }
        visit::visit_pat_ident(self, pattern);
    }
}

fn variables(read: impl FnOnce(&mut Variables)) -> Locals {
    let mut found = Variables::default();
    read(&mut found);
    found.0
}

fn generics(item: &Item) -> Option<&Generics> {
    Some(match item {
        Item::Enum(item) => &item.generics,
        Item::Fn(item) => &item.sig.generics,
        Item::Impl(item) => &item.generics,
        Item::Struct(item) => &item.generics,
        Item::Trait(item) => &item.generics,
        Item::Type(item) => &item.generics,
        _ => return None,
    })
}

fn parameters(generics: &Generics) -> Locals {
    let types = generics.type_params().map(|parameter| &parameter.ident);
    let constants = generics.const_params().map(|parameter| &parameter.ident);
    types
        .chain(constants)
        .map(|name| (plain(name), Local::Item))
        .collect()
}
