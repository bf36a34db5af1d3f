//! The words of prose: `cargo xtask words` lists those that are not used here, with what to say instead.
//!
//! Prose is what stands in comments, in Markdown outside of code, and, with `--messages`, in the literals of Rust.

mod list;
mod markdown;
mod rust;

use std::path::Path;

use crate::error::Error;
use crate::{checkout, workspace};

/// Lists the words that prose here does without, and what to say instead.
///
/// Without paths it looks at the whole repository, as `cargo xtask ci` does.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Look at these files and folders, as they are named from the root.
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<String>,

    /// Look at the literals of Rust as well.
    #[arg(long)]
    messages: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let root = workspace::root();
    let paths = args.paths.iter().map(String::as_str).collect::<Vec<_>>();
    check_paths(&root, &files(&root)?, &paths, args.messages)
}

/// Checks the prose of the whole repository.
///
/// # Errors
///
/// Returns an error that lists the words with their places, or names a file that cannot be read.
pub(crate) fn check() -> Result<(), Error> {
    let root = workspace::root();
    check_paths(&root, &files(&root)?, &["."], false)
}

fn check_paths(root: &Path, files: &[String], paths: &[&str], messages: bool) -> Result<(), Error> {
    // A misspelt path would otherwise pass for clean.
    let is_missing = |path: &&&str| !files.iter().any(|name| is_in(name, &[**path]));
    let missing = paths.iter().filter(is_missing);
    let mut found = missing
        .map(|path| format!("{path}: no Rust and no Markdown is here"))
        .collect::<Vec<_>>();
    for name in files.iter().filter(|name| is_in(name, paths)) {
        found.extend(found_in(root, name, messages)?);
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(Error::Words(found))
    }
}

/// Returns the names of the Rust and Markdown files that Git knows or does not ignore.
fn files(root: &Path) -> Result<Vec<String>, Error> {
    checkout::files(root, &["*.rs", "*.md"])
}

/// Returns the words of a file that are not used here: one line for each, with its place.
fn found_in(root: &Path, name: &str, messages: bool) -> Result<Vec<String>, Error> {
    let Some(text) = checkout::read(root, name)? else {
        return Ok(Vec::new());
    };
    let is_markdown = Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "md");
    let found = if is_markdown {
        in_markdown(&text)
    } else {
        in_rust(&text, messages)
    };
    let shown = found.iter().map(|found| format!("{name}:{found}"));
    Ok(shown.collect())
}

fn in_markdown(text: &str) -> Vec<list::Found> {
    let lines = text.lines().zip(1..).map(|(line, number)| (number, line));
    let paragraphs = markdown::paragraphs(lines);
    paragraphs
        .iter()
        .flat_map(|words| list::find(words))
        .collect()
}

fn in_rust(source: &str, messages: bool) -> Vec<list::Found> {
    let blocks = rust::blocks(source);
    let blocks = blocks.iter().filter(|block| messages || !block.is_literal);
    let paragraphs = blocks.flat_map(|block| {
        let lines = block.lines.iter();
        markdown::paragraphs(lines.map(|(number, line)| (*number, line.as_ref())))
    });
    paragraphs.flat_map(|words| list::find(&words)).collect()
}

fn is_in(name: &str, paths: &[&str]) -> bool {
    let name = Path::new(name);
    paths
        .iter()
        .any(|path| *path == "." || name.starts_with(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn lines(found: &[list::Found]) -> Vec<String> {
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn looks_at_comments_and_not_at_code() {
        let source = "/// Whoever asks.\nfn tell() { refuse(\"is told so\"); } // It went on.\n";
        let comments = lines(&in_rust(source, false));
        assert_eq!(comments.len(), 2, "{comments:?}");
        assert!(comments[0].starts_with("1: \"whoever\": "), "{comments:?}");
        assert!(comments[1].starts_with("2: \"went on\": "), "{comments:?}");

        let all = lines(&in_rust(source, true));
        assert_eq!(all.len(), 3, "{all:?}");
        assert!(all[1].starts_with("2: \"told\": "), "{all:?}");
    }

    #[test]
    fn looks_at_markdown_outside_of_code() {
        let page = "# Who is told\n\n```sh\nneuron tell\n```\n\nIt goes\non. `refuse`\n";
        let found = lines(&in_markdown(page));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("1: \"told\": "), "{found:?}");
        assert!(found[1].starts_with("7: \"goes on\": "), "{found:?}");
    }

    #[test]
    fn checks_the_paths_that_are_named() {
        let root = tempfile::tempdir().expect("a folder");
        let files = ["new/page.md", "old/page.md"].map(str::to_owned);
        for name in &files {
            let path = root.path().join(name);
            fs::create_dir(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "Returns the page.").expect("a file");
        }
        fs::write(root.path().join("old/page.md"), "One,\nof which.\n").expect("a file");

        assert!(check_paths(root.path(), &files, &["new"], false).is_ok());
        let error = check_paths(root.path(), &files, &["."], false).expect_err("words");
        assert!(
            error.to_string().contains("old/page.md:2: \"of which\""),
            "{error}"
        );
        let error = check_paths(root.path(), &files, &["ne"], false).expect_err("no path");
        assert!(error.to_string().contains("ne: no Rust"), "{error}");
    }
}
