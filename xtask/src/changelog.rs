//! The changelog, and the fragments that become its entries.
//!
//! A change that users notice comes with a file in `changelog.d`, so that two changes do not meet in one page.

mod area;
mod fragment;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use fragment::Fragment;
use page::Page;

use crate::error::Error;
use crate::workspace;

const PAGE: &str = "CHANGELOG.md";
const FOLDER: &str = "changelog.d";

/// The file that keeps the folder when it has no fragments, and describes how to write one.
const README: &str = "README.md";

/// Joins the fragments of `changelog.d` into CHANGELOG.md, and deletes them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Check the fragments and the page, and change nothing.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let root = workspace::root();
    if args.check {
        return check(&root);
    }
    let count = join(&root)?;
    println!("{count} fragment(s) joined into {PAGE}");
    Ok(())
}

/// Checks the fragments, and the page that they would be joined into.
///
/// # Errors
///
/// Returns an error that lists everything that is wrong, or names a file that cannot be read.
pub(crate) fn check(root: &Path) -> Result<(), Error> {
    joined(root).map(|_| ())
}

/// Joins the fragments into the page and deletes them. Returns how many there were.
///
/// # Errors
///
/// Returns the errors of [`check`], with nothing changed, or names a file that cannot be written or deleted.
fn join(root: &Path) -> Result<usize, Error> {
    let (page, fragments) = joined(root)?;
    let path = root.join(PAGE);
    fs::write(&path, page.text()).map_err(failed(&path, "written"))?;
    for path in &fragments {
        fs::remove_file(path).map_err(failed(path, "deleted"))?;
    }
    Ok(fragments.len())
}

/// Returns the page with all fragments, and the fragments' files.
fn joined(root: &Path) -> Result<(Page, Vec<PathBuf>), Error> {
    let path = root.join(PAGE);
    let text = fs::read_to_string(&path).map_err(failed(&path, "read"))?;
    let mut page = Page::parse(&text);
    let mut problems = Vec::new();
    let files = files(&root.join(FOLDER))?;
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(path).map_err(failed(path, "read"))?;
        match Fragment::parse(&name, &text) {
            Ok(fragment) => page.add(&fragment),
            Err(problem) => problems.push(format!("{FOLDER}/{name}: {problem}")),
        }
    }
    problems.extend(
        page.problems()
            .iter()
            .map(|problem| format!("{PAGE}: {problem}")),
    );
    if problems.is_empty() {
        Ok((page, files))
    } else {
        Err(Error::Changelog(problems))
    }
}

/// Returns the files of the folder except its README, by name. A missing folder has none.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed(folder, "read"))? {
        let entry = entry.map_err(failed(folder, "read"))?;
        if entry.file_name() != README {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

fn failed(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::File {
        path,
        action,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "# Changelog\n\n## [Unreleased]\n\n### Run\n\n- One.\n";

    /// Returns a repository with these fragments.
    fn repository(fragments: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        fs::write(root.path().join(PAGE), START).expect("a file");
        let folder = root.path().join(FOLDER);
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join(README), "How to write one.").expect("a file");
        for (name, text) in fragments {
            fs::write(folder.join(name), text).expect("a file");
        }
        root
    }

    fn page(root: &tempfile::TempDir) -> String {
        fs::read_to_string(root.path().join(PAGE)).expect("the page")
    }

    #[test]
    fn joins_fragments_by_their_names_and_deletes_them() {
        let root = repository(&[
            ("tools-b.md", "Four.\n"),
            ("run-c.md", "Three.\nOf more interest to reviewers.\n"),
            ("run-b.md", "Two."),
        ]);
        assert!(check(root.path()).is_ok());
        assert_eq!(page(&root), START);

        assert_eq!(join(root.path()).expect("joined"), 3);

        let expected = format!("{START}- Two.\n- Three.\n\n### Tools\n\n- Four.\n");
        assert_eq!(page(&root), expected);
        let left = fs::read_dir(root.path().join(FOLDER)).expect("the folder");
        assert_eq!(left.count(), 1, "the README");
        assert_eq!(join(root.path()).expect("nothing to do"), 0);
        assert_eq!(page(&root), expected);
    }

    #[test]
    fn lists_every_problem_and_changes_nothing() {
        let root = repository(&[
            ("run-a.md", ""),
            ("run-b.md", "Two."),
            ("sundry-a.md", "X."),
        ]);
        let text = format!("{START}\n### Added\n");
        fs::write(root.path().join(PAGE), &text).expect("a file");

        let Err(Error::Changelog(problems)) = join(root.path()) else {
            unreachable!("three problems");
        };

        let begins: Vec<_> = problems
            .iter()
            .map(|problem| problem.split(';').next().unwrap_or_default())
            .collect();
        assert_eq!(
            begins,
            [
                "changelog.d/run-a.md: the first line is empty, and must be the entry",
                "changelog.d/sundry-a.md: unknown area `sundry`",
                "CHANGELOG.md: line 9: unknown area `Added`",
            ]
        );
        assert_eq!(page(&root), text);
        assert!(root.path().join("changelog.d/run-b.md").exists());
    }

    #[test]
    fn counts_fragments_as_lines_of_the_page() {
        let names: Vec<_> = (0..page::MOST_LINES)
            .map(|number| format!("run-{number}.md"))
            .collect();
        let fragments: Vec<_> = names.iter().map(|name| (name.as_str(), "Two.")).collect();
        let root = repository(&fragments);

        let error = check(root.path()).expect_err("too long");

        assert!(error.to_string().contains("157 lines"), "{error}");
    }

    #[test]
    fn needs_no_folder_of_fragments() {
        let root = tempfile::tempdir().expect("a folder");
        fs::write(root.path().join(PAGE), START).expect("a file");
        assert!(check(root.path()).is_ok());
    }
}
