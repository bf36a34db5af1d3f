//! The modules of a crate, what each one defines and what it imports.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenTree;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, Ident, Item, ItemMod, ItemUse, Lit, Meta, UseTree, Visibility};

use crate::error::Error;

/// The namespaces that a name can be in, as bits.
pub(super) type Spaces = u8;
pub(super) const TYPES: Spaces = 1;
pub(super) const VALUES: Spaces = 2;
pub(super) const MACROS: Spaces = 4;
pub(super) const ALL: Spaces = TYPES | VALUES | MACROS;

/// The root module.
pub(super) const ROOT: usize = 0;

/// The modules and files of one library or binary. Both are known by their numbers.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) modules: Vec<Module>,
    pub(super) files: Vec<File>,
}

/// A file and the module that it is.
pub(super) struct File {
    path: PathBuf,
    pub(super) module: usize,
    pub(super) items: Vec<Item>,
}

#[derive(Debug)]
pub(super) struct Module {
    /// `None` for the root.
    pub(super) parent: Option<usize>,
    pub(super) file: usize,
    pub(super) names: BTreeMap<String, Vec<Name>>,
    /// The modules from which `*` is imported.
    pub(super) globs: Vec<Written>,
}

/// The meaning of a name in a module.
#[derive(Debug)]
pub(super) enum Name {
    Item(Spaces),
    Module(usize),
    Import(Written),
    /// A macro of the module with this number.
    Exported(usize),
}

/// A path as it is written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Written {
    /// Whether it begins with `::`.
    pub(super) absolute: bool,
    pub(super) segments: Vec<String>,
}

/// One name of a `use`, or all names if it has none.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Import {
    pub(super) path: Written,
    pub(super) name: Option<String>,
}

impl Tree {
    /// Reads a crate from its root file. Modules for tests are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read or is not Rust.
    pub(super) fn read(root: &Path) -> Result<Self, Error> {
        let mut tree = Self::default();
        tree.read_file(root, root.parent().unwrap_or(Path::new("")), None)?;
        Ok(tree)
    }

    /// Returns the path of a file.
    pub(super) fn file(&self, file: usize) -> &Path {
        self.files
            .get(file)
            .map_or(Path::new(""), |file| &file.path)
    }

    /// Reads a file and returns the number of its module, whose own modules are in `folder`.
    fn read_file(
        &mut self,
        path: &Path,
        folder: &Path,
        parent: Option<usize>,
    ) -> Result<usize, Error> {
        let text = fs::read_to_string(path).map_err(|source| Error::File {
            path: path.to_path_buf(),
            action: "read",
            source,
        })?;
        let syntax = syn::parse_file(&text).map_err(|source| Error::Syntax {
            path: path.to_path_buf(),
            source,
        })?;
        let file = self.files.len();
        let module = self.new_module(parent, file);
        self.files.push(File {
            path: path.to_path_buf(),
            module,
            items: Vec::new(),
        });
        self.read_items(module, folder, &syntax.items)?;
        if let Some(file) = self.files.get_mut(file) {
            file.items = syntax.items;
        }
        Ok(module)
    }

    fn new_module(&mut self, parent: Option<usize>, file: usize) -> usize {
        self.modules.push(Module {
            parent,
            file,
            names: BTreeMap::new(),
            globs: Vec::new(),
        });
        self.modules.len() - 1
    }

    fn read_items(&mut self, module: usize, folder: &Path, items: &[Item]) -> Result<(), Error> {
        for item in items {
            if is_for_tests(attributes(item)) {
                continue;
            }
            match item {
                Item::Mod(item) => {
                    let child = self.read_module(module, folder, item)?;
                    self.define(module, plain(&item.ident), Name::Module(child));
                }
                Item::Use(item) => {
                    for import in imports(item) {
                        match import.name {
                            Some(name) => self.define(module, name, Name::Import(import.path)),
                            None => {
                                if let Some(module) = self.modules.get_mut(module) {
                                    module.globs.push(import.path);
                                }
                            }
                        }
                    }
                }
                Item::Macro(item) => match &item.ident {
                    Some(name) => {
                        let name = plain(name);
                        if item.attrs.iter().any(|a| a.path().is_ident("macro_export")) {
                            self.define(ROOT, name.clone(), Name::Exported(module));
                        }
                        self.define(module, name, Name::Item(MACROS));
                    }
                    None => {
                        for name in made(item.mac.tokens.clone()) {
                            self.define(module, name, Name::Item(TYPES | VALUES));
                        }
                    }
                },
                other => {
                    if let Some((name, spaces)) = defined(other) {
                        self.define(module, plain(name), Name::Item(spaces));
                    }
                }
            }
        }
        Ok(())
    }

    fn read_module(
        &mut self,
        parent: usize,
        folder: &Path,
        item: &ItemMod,
    ) -> Result<usize, Error> {
        let name = plain(&item.ident);
        let inner = folder.join(&name);
        if let Some((_, items)) = &item.content {
            let file = self.modules.get(parent).map_or(0, |parent| parent.file);
            let module = self.new_module(Some(parent), file);
            self.read_items(module, &inner, items)?;
            return Ok(module);
        }
        if let Some(odd) = odd_path(&item.attrs) {
            let here = self.modules.get(parent).map_or(0, |parent| parent.file);
            let path = self.file(here).with_file_name(odd);
            let folder = path.parent().unwrap_or(Path::new(""));
            return self.read_file(&path, folder, Some(parent));
        }
        let in_folder = inner.join("mod.rs");
        let path = if in_folder.is_file() {
            in_folder
        } else {
            folder.join(format!("{name}.rs"))
        };
        self.read_file(&path, &inner, Some(parent))
    }

    fn define(&mut self, module: usize, name: String, what: Name) {
        if let Some(module) = self.modules.get_mut(module) {
            module.names.entry(name).or_default().push(what);
        }
    }
}

/// Returns a name without `r#`.
pub(super) fn plain(name: &Ident) -> String {
    name.unraw().to_string()
}

/// Returns the path of syntax.
pub(super) fn written(path: &syn::Path) -> Written {
    Written {
        absolute: path.leading_colon.is_some(),
        segments: path.segments.iter().map(|s| plain(&s.ident)).collect(),
    }
}

/// Returns the imports of a `use`.
pub(super) fn imports(item: &ItemUse) -> Vec<Import> {
    let mut found = Vec::new();
    let start = Written {
        absolute: item.leading_colon.is_some(),
        segments: Vec::new(),
    };
    collect(&item.tree, &start, &mut found);
    found
}

fn collect(tree: &UseTree, before: &Written, found: &mut Vec<Import>) {
    let behind = |name: &Ident| {
        let mut path = before.clone();
        // `x::{self}` is `x`.
        if name != "self" || path.segments.is_empty() {
            path.segments.push(plain(name));
        }
        path
    };
    let named = |path: Written, name: &Ident| Import {
        name: match plain(name) {
            name if name == "self" => path.segments.last().cloned(),
            name => Some(name),
        },
        path,
    };
    match tree {
        UseTree::Path(tree) => collect(&tree.tree, &behind(&tree.ident), found),
        UseTree::Name(tree) => found.push(named(behind(&tree.ident), &tree.ident)),
        UseTree::Rename(tree) => found.push(named(behind(&tree.ident), &tree.rename)),
        UseTree::Glob(_) => found.push(Import {
            path: before.clone(),
            name: None,
        }),
        UseTree::Group(tree) => tree.items.iter().for_each(|t| collect(t, before, found)),
    }
}

/// Returns whether an item only exists in tests.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    let demands_test = |attribute: &Attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            list.parse_args::<Meta>().is_ok_and(|cfg| is_test(&cfg))
        }
        _ => false,
    };
    attributes.iter().any(demands_test)
}

fn is_test(cfg: &Meta) -> bool {
    match cfg {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated)
            .is_ok_and(|all| all.iter().any(is_test)),
        _ => false,
    }
}

/// Returns the attributes of an item.
pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns the name that an item defines in its module, if it is a plain one.
pub(super) fn defined(item: &Item) -> Option<(&Ident, Spaces)> {
    Some(match item {
        Item::Const(item) => (&item.ident, VALUES),
        Item::Enum(item) => (&item.ident, TYPES),
        Item::Fn(item) => (&item.sig.ident, VALUES),
        Item::Static(item) => (&item.ident, VALUES),
        Item::Struct(item) => (&item.ident, TYPES | VALUES),
        Item::Trait(item) => (&item.ident, TYPES),
        Item::TraitAlias(item) => (&item.ident, TYPES),
        Item::Type(item) => (&item.ident, TYPES),
        Item::Union(item) => (&item.ident, TYPES),
        _ => return None,
    })
}

/// Returns the names of the items that stand in a macro's arguments.
fn made(tokens: proc_macro2::TokenStream) -> Vec<String> {
    const KEYWORDS: [&str; 7] = ["const", "enum", "fn", "static", "struct", "trait", "type"];
    let mut found = Vec::new();
    let mut is_behind_keyword = false;
    for token in tokens {
        match token {
            TokenTree::Ident(name) if is_behind_keyword => {
                found.push(plain(&name));
                is_behind_keyword = false;
            }
            TokenTree::Ident(name) => is_behind_keyword = KEYWORDS.iter().any(|word| name == word),
            _ => is_behind_keyword = false,
        }
    }
    found
}

/// Returns the path of `#[path = "…"]`.
fn odd_path(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let value = &attribute.meta.require_name_value().ok()?;
        match &value.value {
            Expr::Lit(literal) if value.path.is_ident("path") => match &literal.lit {
                Lit::Str(path) => Some(path.value()),
                _ => None,
            },
            _ => None,
        }
    })
}

/// Returns whether a `use` exports names.
pub(super) fn is_re_export(item: &ItemUse) -> bool {
    !matches!(item.vis, Visibility::Inherited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_use_apart() {
        let item = syn::parse_str("use a::{self, b::*, c as d, r#type::{self as e}};");
        let found: Vec<_> = imports(&item.expect("a use"))
            .into_iter()
            .map(|import| (import.path.segments.join("::"), import.name))
            .collect();
        let expected = [
            ("a", Some("a")),
            ("a::b", None),
            ("a::c", Some("d")),
            ("a::type", Some("e")),
        ];
        assert_eq!(
            found,
            expected.map(|(path, name)| (path.to_owned(), name.map(str::to_owned)))
        );
    }

    #[test]
    fn knows_what_is_for_tests() {
        let is_for_tests = |text: &str| {
            let item: Item = syn::parse_str(&format!("{text} fn f() {{}}")).expect("an item");
            is_for_tests(attributes(&item))
        };
        for yes in ["#[cfg(test)]", "#[cfg(all(unix, all(test)))]"] {
            assert!(is_for_tests(yes), "{yes}");
        }
        for no in [
            "",
            "#[cfg(any(test, unix))]",
            "#[cfg(not(test))]",
            "#[test]",
        ] {
            assert!(!is_for_tests(no), "{no}");
        }
    }

    #[test]
    fn says_which_file_is_not_rust() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("lib.rs");
        fs::write(&path, "fn {").expect("a file");
        let error = Tree::read(&path).err().expect("no crate").with_causes();
        assert!(error.contains("lib.rs"), "{error}");
    }
}
