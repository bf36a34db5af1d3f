//! Checks that no files of a crate form a circle, and no rooms of a crate of the lower floors: a room is a folder or a file
//! beside the crate's root file.
//!
//! An arrow leads from a file to another one that defines an item to which the first one's code has a path, whichever
//! re-exports the path goes through. Declarations of modules, a parent's re-exports of its children and code for tests
//! are no arrows.

mod arrows;
mod components;
mod scope;
mod tokens;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use arrows::Arrows;
use tree::Tree;

use crate::error::Error;
use crate::metadata::{self, Package};
use crate::workspace;

/// The floors whose crates have rooms without circles.
const FLOORS: [&str; 2] = ["crates/core", "crates/blocks"];

/// Checks the sources of every library and binary of the workspace.
///
/// # Errors
///
/// Returns an error that shows every circle with its arrows, or names a file that cannot be read.
pub(crate) fn check() -> Result<(), Error> {
    let mut circles = Vec::new();
    for root in roots()? {
        let tree = Tree::read(&root)?;
        let arrows = arrows::of(&tree);
        circles.extend(circles_of(&tree, &arrows, &workspace::root()));
        let source = root.with_file_name("");
        if let Ok(path) = source.strip_prefix(workspace::root())
            && FLOORS.iter().any(|floor| path.starts_with(floor))
        {
            circles.extend(circles_of_rooms(&tree, &arrows, &source, path));
        }
    }
    if circles.is_empty() {
        Ok(())
    } else {
        Err(Error::Circles(circles))
    }
}

/// Returns each circle of a crate, as text of several lines.
fn circles_of(tree: &Tree, arrows: &Arrows, root: &Path) -> Vec<String> {
    let mut edges: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        edges.entry(*from).or_default().insert(*to);
    }
    components::circles(&edges)
        .iter()
        .map(|files| describe(files, arrows, tree, root))
        .collect()
}

fn describe(files: &BTreeSet<usize>, arrows: &Arrows, tree: &Tree, root: &Path) -> String {
    let name = |file: &usize| {
        let path = tree.file(*file);
        path.strip_prefix(root).unwrap_or(path).display()
    };
    let mut text = format!("{} files:", files.len());
    for ((from, to), items) in arrows {
        if files.contains(from) && files.contains(to) {
            let items = items.iter().map(String::as_str).collect::<Vec<_>>();
            text.push_str(&format!(
                "\n    {} -> {}: {}",
                name(from),
                name(to),
                items.join(", ")
            ));
        }
    }
    text
}

/// Returns each circle of the rooms of a crate, which are the folders and files beside its root file.
fn circles_of_rooms(tree: &Tree, arrows: &Arrows, source: &Path, shown: &Path) -> Vec<String> {
    let room = |file: &usize| {
        let path = tree.file(*file).strip_prefix(source).ok()?;
        let first = Path::new(path.iter().next()?);
        Some(first.with_extension("").display().to_string())
    };
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        if let (Some(from), Some(to)) = (room(from), room(to))
            && from != to
        {
            edges.entry(from).or_default().insert(to);
        }
    }
    let circles = components::circles(&edges).into_iter();
    let described = circles.map(|rooms| {
        let rooms = Vec::from_iter(rooms);
        format!(
            "{} rooms of {}: {}",
            rooms.len(),
            shown.display(),
            rooms.join(", ")
        )
    });
    described.collect()
}

/// Returns the root file of each target under a `src` folder of the workspace.
fn roots() -> Result<Vec<PathBuf>, Error> {
    Ok(metadata::members()?.iter().flat_map(sources).collect())
}

fn sources(package: &Package) -> impl Iterator<Item = PathBuf> {
    let source = package.manifest_path.with_file_name("src");
    let paths = package.targets.iter().map(|target| target.src_path.clone());
    paths.filter(move |path| path.starts_with(&source))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::metadata::Target;

    /// Writes a crate with these files, and reads it.
    fn written(files: &[(&str, &str)]) -> (TempDir, Tree) {
        let root = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let tree = Tree::read(&root.path().join("lib.rs")).expect("a crate");
        (root, tree)
    }

    /// Returns the circles of a crate with these files.
    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let (root, tree) = written(files);
        circles_of(&tree, &arrows::of(&tree), root.path())
    }

    fn has_circle(files: &[(&str, &str)]) -> bool {
        !circles(files).is_empty()
    }

    #[test]
    fn shows_the_arrows_of_a_circle() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::{Y, Z as W};\npub struct X(Y, W);"),
            (
                "b.rs",
                "pub struct Y; pub struct Z; fn f() { super::c::g(); }",
            ),
            ("c.rs", "pub fn g() -> crate::a::X { todo!() }"),
        ]);
        assert_eq!(
            found,
            ["3 files:\n    a.rs -> b.rs: Y, Z\n    b.rs -> c.rs: g\n    c.rs -> a.rs: X"]
        );
    }

    #[test]
    fn rooms_form_a_circle_where_their_files_form_none() {
        let (root, tree) = written(&[
            ("lib.rs", "mod ids; mod run; mod tool;"),
            ("ids.rs", "pub struct Id;"),
            ("run/mod.rs", "pub mod id; pub mod state;"),
            ("run/id.rs", "pub struct RunId(crate::ids::Id);"),
            ("run/state.rs", "pub struct State(crate::tool::Call);"),
            ("tool.rs", "pub struct Call(crate::run::id::RunId);"),
        ]);
        let arrows = arrows::of(&tree);
        assert!(circles_of(&tree, &arrows, root.path()).is_empty());
        let found = circles_of_rooms(&tree, &arrows, root.path(), Path::new("crates/a/src"));
        assert_eq!(found, ["2 rooms of crates/a/src: run, tool"]);
    }

    #[test]
    fn arrows_that_come_together_are_no_circle() {
        assert!(!has_circle(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::Y; use crate::c::Z; struct X(Y, Z);"),
            ("b.rs", "use crate::c::Z; pub struct Y(Z);"),
            ("c.rs", "pub struct Z;"),
        ]));
    }

    #[test]
    fn a_parent_re_exports_its_children() {
        let child = ("a.rs", "use super::Limit; pub struct X(Limit);");
        for exempt in [
            "mod a; pub use a::X;",
            "mod a; pub(crate) use a::*;",
            "mod a; pub(crate) use self::a::{X as Y};",
        ] {
            let root = format!("{exempt} pub struct Limit;");
            assert!(!has_circle(&[("lib.rs", &root), child]), "{exempt}");
        }
        for used in [
            "mod a; use a::X; fn f(_: X) {}",
            "mod a; pub use a::X; fn f(_: X) {}",
            "mod a; pub use a::*; fn f(_: X) {}",
            "mod a; fn f(_: a::X) {}",
        ] {
            let root = format!("{used} pub struct Limit;");
            assert!(has_circle(&[("lib.rs", &root), child]), "{used}");
        }
    }

    #[test]
    fn a_re_export_leads_to_the_file_that_defines() {
        let root = ("lib.rs", "mod a; mod b; pub use a::X;");
        let a = ("a.rs", "use crate::b::Y; pub struct X(Y);");
        assert!(has_circle(&[
            root,
            a,
            ("b.rs", "use crate::X; pub struct Y;")
        ]));
        assert!(!has_circle(&[
            root,
            a,
            ("b.rs", "pub struct Y; pub struct X;")
        ]));
    }

    #[test]
    fn globs_give_names() {
        let a = ("a.rs", "use crate::b::Y; pub struct X(Y); pub struct Z;");
        let root = ("lib.rs", "mod a; mod b; mod all { pub use crate::a::*; }");
        for used in [
            "use super::all::*; pub struct Y; fn f(_: X) {}",
            "use crate::a::*; pub struct Y; fn f() { let x = Z; }",
        ] {
            assert!(has_circle(&[root, a, ("b.rs", used)]), "{used}");
        }
        let unused = "use super::all::*; pub struct Y; fn f(_: &str) {}";
        assert!(!has_circle(&[root, a, ("b.rs", unused)]));
    }

    #[test]
    fn paths_are_found_wherever_code_has_them() {
        let root = ("lib.rs", "#[macro_use] mod a; mod b;");
        let a = (
            "a.rs",
            "use crate::b::Y; pub struct X(Y); pub fn f() {} pub fn g() {} pub enum E { V } \
             pub mod inner { pub fn h() {} } macro_rules! shout { () => {} } pub(crate) use shout; \
             make! { pub struct Made; }",
        );
        for used in [
            "fn f() { crate::a::f() }",
            "fn f() { use crate::a; a::f() }",
            "fn f() { println!(\"{}\", crate::a::f()) }",
            "use crate::a; fn f() { json!({ \"k\": a::f(), \"l\": 1 }) }",
            "fn f() { crate::a::shout!() }",
            "macro_rules! m { () => { $crate::a::f() } }",
            "#[command(value_parser = crate::a::f)] struct S;",
            "fn f(x: u8) -> bool { matches!(x, super::a::E::V { .. }) }",
            "impl Clone for crate::a::X {}",
            "struct S { #[serde(default = \"crate::a::f\")] x: u8 }",
            "struct S { #[serde(with = \"crate::a\")] x: u8 }",
            "fn f(x: u8) { match x { crate::a::E::V => {} } }",
            "fn f() { <crate::a::X as Clone>::clone() }",
            "fn f() { crate::a::inner::h() }",
            "fn f(_: crate::a::Made) {}",
            "fn f(_: crate::a::FromAnAttribute) {}",
            "mod inline { fn f(_: super::super::a::X) {} }",
        ] {
            let b = format!("pub struct Y; {used}");
            assert!(has_circle(&[root, a, ("b.rs", &b)]), "{used}");
        }
    }

    #[test]
    fn other_things_with_these_names_are_no_arrows() {
        let root = ("lib.rs", "mod a; mod b; pub(crate) use a::*;");
        let a = (
            "a.rs",
            "use crate::b::Y; pub struct X(Y); pub fn f() {} pub fn state() {}",
        );
        for unused in [
            "use super::*; fn g(state: u8) { let f = state; f; }",
            "use super::*; fn g<X>(x: X) { x.f() }",
            "use super::*; fn g() { fn f() {} f() }",
            "use super::*; use std::x::X; fn g(x: X) {}",
            "use ::a::X; fn g(x: X) {}",
            "pub(in crate::a) fn g() {}",
            "struct S { #[serde(rename = \"crate::a::f\")] f: u8 }",
            "/// [`crate::a::X`]\nfn g() { println!(\"crate::a::X\") }",
            "#[cfg(test)] mod tests { use crate::a::X; }",
            "#[cfg(test)] fn test() -> crate::a::X {}",
            "struct S; impl S { #[cfg(all(test, unix))] fn test() -> crate::a::X {} }",
            "#[cfg(test)] mod missing;",
        ] {
            let b = format!("pub struct Y; {unused}");
            let found = circles(&[root, a, ("b.rs", &b)]);
            assert!(found.is_empty(), "{unused}: {found:?}");
        }
    }

    #[test]
    fn modules_are_found_in_files_and_folders() {
        assert!(has_circle(&[
            ("lib.rs", "mod a; mod outer { pub mod b; }"),
            (
                "a/mod.rs",
                "mod c; #[path = \"odd.rs\"] mod d; pub struct X;"
            ),
            ("a/c.rs", "use crate::outer::b::Y; pub(super) struct Z;"),
            ("a/odd.rs", "use super::c::Z; pub(super) struct W;"),
            ("outer/b.rs", "mod e; pub use e::Y;"),
            ("outer/b/e.rs", "use crate::a::d::W; pub struct Y;"),
        ]));
    }

    #[test]
    fn only_what_is_under_src_is_looked_at() {
        let package = Package {
            manifest_path: "/w/one/Cargo.toml".into(),
            targets: ["src/lib.rs", "src/bin/x.rs", "tests/it/main.rs", "build.rs"]
                .map(|path| Target {
                    src_path: Path::new("/w/one").join(path),
                })
                .into(),
            ..Package::default()
        };
        let found: Vec<_> = sources(&package).collect();
        assert_eq!(
            found,
            ["/w/one/src/lib.rs", "/w/one/src/bin/x.rs"].map(PathBuf::from)
        );
    }
}
