//! The targets of paths in a module.

use super::tree::{ALL, MACROS, Module, Name, ROOT, Spaces, TYPES, Tree, Written};

/// The target of a path in the crate. The rest of a path, a variant or an associated item, is left out.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Found {
    Item { module: usize, name: String },
    Module(usize),
}

/// The names that are being looked up, so that lookups of imports in a circle end.
type Open = Vec<(usize, String, Spaces)>;

/// Returns the targets of a path in a module: empty if they are not in this crate.
///
/// An item without a definition, because a macro makes it, counts as one of the module that should have it.
pub(super) fn resolve(tree: &Tree, module: usize, path: &Written, spaces: Spaces) -> Vec<Found> {
    let mut open = Open::new();
    let mut found = walk(tree, module, path, spaces, &mut open);
    found.sort();
    found.dedup();
    found
}

fn walk(tree: &Tree, from: usize, path: &Written, spaces: Spaces, open: &mut Open) -> Vec<Found> {
    let mut segments = path.segments.iter().map(String::as_str).peekable();
    if path.absolute {
        return Vec::new();
    }
    let mut here = from;
    let mut is_relative = true;
    while let Some(word) = segments.next_if(|word| matches!(*word, "crate" | "self" | "super")) {
        is_relative = false;
        here = match word {
            "crate" => ROOT,
            "super" => parent(tree, here).unwrap_or(here),
            _ => here,
        };
    }
    let mut found = vec![Found::Module(here)];
    while let Some(name) = segments.next() {
        let spaces = if segments.peek().is_some() {
            TYPES
        } else {
            spaces
        };
        let mut next = Vec::new();
        for place in found {
            match place {
                Found::Item { .. } => next.push(place),
                Found::Module(module) => match look_up(tree, module, name, spaces, open) {
                    Some(found) => next.extend(found),
                    None if is_relative => {}
                    None => next.extend(made(tree, module, name, open)),
                },
            }
        }
        is_relative = false;
        found = next;
    }
    found
}

/// Returns the meaning of a name that is not found in its namespace: an item of another one, or made by a macro.
fn made(tree: &Tree, module: usize, name: &str, open: &mut Open) -> Vec<Found> {
    look_up(tree, module, name, ALL, open).unwrap_or_else(|| {
        vec![Found::Item {
            module,
            name: name.to_owned(),
        }]
    })
}

/// Returns the meaning of a name in a module: `None` if it has none, an empty list if it is in another crate.
fn look_up(
    tree: &Tree,
    module: usize,
    name: &str,
    spaces: Spaces,
    open: &mut Open,
) -> Option<Vec<Found>> {
    let place = tree.modules.get(module)?;
    let key = (module, name.to_owned(), spaces);
    if open.contains(&key) {
        return None;
    }
    open.push(key);
    let found = named(tree, module, place, name, spaces, open)
        .or_else(|| in_globs(tree, module, place, name, spaces, open))
        .or_else(|| macro_before(tree, place, name, spaces, open));
    open.pop();
    found
}

fn named(
    tree: &Tree,
    module: usize,
    place: &Module,
    name: &str,
    spaces: Spaces,
    open: &mut Open,
) -> Option<Vec<Found>> {
    let mut found = None;
    let item = |module| Found::Item {
        module,
        name: name.to_owned(),
    };
    for what in place.names.get(name)? {
        let these = match what {
            Name::Item(its) if its & spaces != 0 => vec![item(module)],
            Name::Exported(home) if spaces & MACROS != 0 => vec![item(*home)],
            Name::Module(child) if spaces & TYPES != 0 => vec![Found::Module(*child)],
            Name::Import(path) => walk(tree, module, path, spaces, open),
            _ => continue,
        };
        found.get_or_insert_with(Vec::new).extend(these);
    }
    found
}

fn in_globs(
    tree: &Tree,
    module: usize,
    place: &Module,
    name: &str,
    spaces: Spaces,
    open: &mut Open,
) -> Option<Vec<Found>> {
    let mut is_elsewhere = false;
    for glob in &place.globs {
        let sources = walk(tree, module, glob, TYPES, open);
        is_elsewhere |= sources.is_empty();
        // The variants of an enum are not looked up: the import itself is the arrow.
        let found = sources.into_iter().find_map(|source| match source {
            Found::Module(source) => look_up(tree, source, name, spaces, open),
            Found::Item { .. } => None,
        });
        if found.is_some() {
            return found;
        }
    }
    // The items of another crate are not known.
    is_elsewhere.then(Vec::new)
}

/// Returns the macro of this name that an outer module defines: those reach into the modules after them.
fn macro_before(
    tree: &Tree,
    place: &Module,
    name: &str,
    spaces: Spaces,
    open: &mut Open,
) -> Option<Vec<Found>> {
    if spaces != MACROS {
        return None;
    }
    look_up(tree, place.parent?, name, MACROS, open)
}

fn parent(tree: &Tree, module: usize) -> Option<usize> {
    tree.modules.get(module)?.parent
}
