//! Checks that the table of contents lists all pages of the documentation, and that its links lead somewhere.

mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use page::Link;

use crate::error::Error;

/// Checks all Markdown pages: those at the root, the book and the crates' READMEs.
///
/// # Errors
///
/// Returns an error that lists every page that is not in `docs/src/SUMMARY.md` and every link into this repository that
/// leads to no file or to no heading, or names a file that cannot be read.
pub(crate) fn check(root: &Path) -> Result<(), Error> {
    let book = Path::new("docs/src");
    let mut pages = BTreeMap::new();
    for page in markdown(root, Path::new(""))? {
        let text = read(root, &page)?;
        pages.insert(page, text);
    }

    let mut problems = Vec::new();
    for (page, text) in &pages {
        for link in page::links(text) {
            if let Some(missing) = missing(root, page, &link, &pages) {
                problems.push(format!("{}:{}: no {missing}", page.display(), link.line));
            }
        }
    }

    let summary = book.join("SUMMARY.md");
    if let Some(contents) = pages.get(&summary) {
        let of_book = pages.keys().filter(|page| page.starts_with(book));
        for page in unlisted(contents, &summary, of_book) {
            problems.push(format!(
                "{}: not listed in {}",
                page.display(),
                summary.display()
            ));
        }
    } else if root.join(book).is_dir() {
        problems.push(format!("{}: missing", summary.display()));
    }

    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Docs(problems))
    }
}

/// Returns the target of a link, if it is missing.
fn missing(
    root: &Path,
    page: &Path,
    link: &Link,
    pages: &BTreeMap<PathBuf, String>,
) -> Option<String> {
    let target = if link.path.is_empty() {
        page.to_path_buf()
    } else {
        resolve(page, &link.path)
    };
    if !root.join(&target).exists() {
        return Some(target.display().to_string());
    }
    let anchor = link.anchor.as_ref()?;
    let is_there = page::anchors(pages.get(&target)?).contains(anchor);
    (!is_there).then(|| format!("{}#{anchor}", target.display()))
}

/// Returns where a link leads, from the root of the repository.
fn resolve(page: &Path, target: &str) -> PathBuf {
    let path = match target.strip_prefix('/') {
        Some(from_root) => PathBuf::from(from_root),
        None => page.parent().unwrap_or(Path::new("")).join(target),
    };
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // Above the root there is nothing to link to, so the dots stay and the path is not found.
            Component::ParentDir if clean.file_name().is_some() => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// Returns the pages of the book that its table of contents does not list.
fn unlisted<'a>(
    contents: &str,
    summary: &Path,
    pages: impl Iterator<Item = &'a PathBuf>,
) -> Vec<&'a PathBuf> {
    let listed: BTreeSet<PathBuf> = page::links(contents)
        .into_iter()
        .map(|link| resolve(summary, &link.path))
        .collect();
    pages
        .filter(|page| *page != summary && !listed.contains(*page))
        .collect()
}

/// Returns the Markdown files under a folder, as paths from the root, in order.
fn markdown(root: &Path, folder: &Path) -> Result<BTreeSet<PathBuf>, Error> {
    let path = root.join(folder);
    let failed = |source| Error::File {
        path: path.clone(),
        action: "read",
        source,
    };
    let mut pages = BTreeSet::new();
    for entry in fs::read_dir(&path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = folder.join(entry.file_name());
        if entry.path().is_dir() {
            if !is_of_others(&name) {
                pages.extend(markdown(root, &name)?);
            }
        } else if name.extension().is_some_and(|extension| extension == "md") {
            pages.insert(name);
        }
    }
    Ok(pages)
}

/// Returns whether a folder contains what programs put there: built or fetched files, and hidden folders.
fn is_of_others(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    // mdBook makes `docs/book` from `docs/src`.
    let is_made = ["target", "node_modules"].contains(&&*name) || folder == Path::new("docs/book");
    is_made || name.starts_with('.')
}

fn read(root: &Path, page: &Path) -> Result<String, Error> {
    let path = root.join(page);
    fs::read_to_string(&path).map_err(|source| Error::File {
        path,
        action: "read",
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_a_link_from_its_page() {
        let page = Path::new("docs/src/guide/start.md");

        assert_eq!(resolve(page, "../intro.md"), Path::new("docs/src/intro.md"));
        assert_eq!(
            resolve(page, "./next.md"),
            Path::new("docs/src/guide/next.md")
        );
        assert_eq!(resolve(page, "/README.md"), Path::new("README.md"));
        assert_eq!(
            resolve(Path::new("README.md"), "../x.md"),
            Path::new("../x.md")
        );
    }

    #[test]
    fn names_the_pages_that_the_contents_leave_out() {
        let pages = ["SUMMARY.md", "intro.md", "guide/start.md", "lost.md"]
            .map(|page| Path::new("docs/src").join(page));
        let contents = "[Intro](intro.md)\n- [Start](./guide/start.md)\n";

        let unlisted = unlisted(contents, Path::new("docs/src/SUMMARY.md"), pages.iter());

        assert_eq!(unlisted, [&Path::new("docs/src").join("lost.md")]);
    }

    #[test]
    fn lists_every_problem_of_a_repository() {
        let root = tempfile::tempdir().expect("a folder");
        let book = root.path().join("docs/src");
        fs::create_dir_all(&book).expect("a folder");
        let page = "# Here\n[x](docs/src/a.md#part) [y](gone.md) [z](#here) [w](#there)";
        fs::write(root.path().join("README.md"), page).expect("a file");
        fs::write(
            book.join("a.md"),
            "[r](../../README.md#here) [s](b.md#part)\n## Part",
        )
        .expect("a file");
        for (folder, is_looked_at) in [("crates/a", true), ("target/a", false), (".b", false)] {
            let folder = root.path().join(folder);
            fs::create_dir_all(&folder).expect("a folder");
            let text = if is_looked_at {
                "[r](../R.md)"
            } else {
                "[r](x.md)"
            };
            fs::write(folder.join("README.md"), text).expect("a file");
        }
        fs::write(book.join("b.md"), "").expect("a file");
        fs::write(book.join("SUMMARY.md"), "- [A](a.md)").expect("a file");

        let Err(Error::Docs(problems)) = check(root.path()) else {
            unreachable!("five problems");
        };

        assert_eq!(
            problems,
            [
                "README.md:2: no gone.md",
                "README.md:2: no README.md#there",
                "crates/a/README.md:1: no crates/R.md",
                "docs/src/a.md:1: no docs/src/b.md#part",
                "docs/src/b.md: not listed in docs/src/SUMMARY.md"
            ]
        );
    }
}
