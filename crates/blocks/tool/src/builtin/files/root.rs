//! The working directory, and which paths are inside it.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use neuron_sandbox::Protection;
use neuron_types::ToolError;

use crate::{BuiltinOptions, builtin::files::error::cannot};

/// The working directory of one call.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    confine: bool,
    protection: Protection,
}

/// Where a path leads.
struct Resolved {
    /// Absolute, and free of links and `..` as far as it exists.
    path: PathBuf,
    /// Why the whole path could not be followed, if it could not.
    missing: Option<io::Error>,
    /// The part that could not be followed is not just names to be created.
    broken: bool,
}

impl Root {
    pub(crate) fn new(cwd: &Path, options: &BuiltinOptions) -> Result<Self, ToolError> {
        let path = cwd.canonicalize().map_err(cannot(
            "use the working directory",
            &cwd.display().to_string(),
        ))?;
        let protection = Protection::new(&options.protected, &path, &options.sandbox);
        Ok(Self {
            path,
            confine: options.confine,
            protection,
        })
    }

    /// Returns the real path of something that exists.
    pub(crate) fn existing(&self, path: &str) -> Result<PathBuf, ToolError> {
        let resolved = self.resolve(path)?;
        if self.protection.hides(&resolved.path) {
            return Err(denied(path, "cannot be read by tools"));
        }
        match resolved.missing {
            None => Ok(resolved.path),
            Some(error) if error.kind() == io::ErrorKind::NotFound => Err(not_found(path)),
            Some(error) => Err(cannot("open", path)(error)),
        }
    }

    /// Returns the real path of something that exists and may be changed.
    pub(crate) fn editable(&self, path: &str) -> Result<PathBuf, ToolError> {
        let real = self.existing(path)?;
        self.check_write(path, &real)?;
        Ok(real)
    }

    /// Returns what tools leave alone here.
    pub(crate) fn protection(&self) -> &Protection {
        &self.protection
    }

    fn check_write(&self, path: &str, real: &Path) -> Result<(), ToolError> {
        match self.protection.keeps(real) {
            true => Err(denied(path, "is protected and cannot be changed by tools")),
            false => Ok(()),
        }
    }

    /// Returns the real path of something that exists or can be created.
    pub(crate) fn target(&self, path: &str) -> Result<PathBuf, ToolError> {
        let resolved = self.resolve(path)?;
        self.check_write(path, &resolved.path)?;
        match resolved.missing {
            Some(_) if resolved.broken => Err(ToolError::ModelRetry(format!(
                "{path} goes through something that does not exist; name the place itself"
            ))),
            Some(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(cannot("open", path)(error))
            }
            _ => Ok(resolved.path),
        }
    }

    /// Returns a path as the model should write it: relative to the working directory where that is possible.
    pub(crate) fn show(&self, path: &Path) -> String {
        match path.strip_prefix(&self.path) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => inside.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }

    /// Follows a path from its longest part that exists. A path that leads outside gets the same answer, whether its
    /// target exists or not.
    fn resolve(&self, path: &str) -> Result<Resolved, ToolError> {
        if path.is_empty() {
            return Err(ToolError::ModelRetry(
                "the path is empty; use . for the working directory".to_owned(),
            ));
        }
        let full = self.path.join(path);
        let mut head = full.as_path();
        let mut names: Vec<&OsStr> = Vec::new();
        let mut missing = None;
        let mut broken = false;
        let mut resolved = loop {
            match head.canonicalize() {
                Ok(resolved) => break resolved,
                Err(error) => {
                    missing.get_or_insert(error);
                }
            }
            // A link that leads nowhere, and a `..` after what is not there, are not names to create.
            broken |= head.is_symlink() || head.file_name().is_none();
            names.extend(head.file_name());
            match head.parent() {
                Some(parent) => head = parent,
                None => break self.path.clone(),
            }
        };
        resolved.extend(names.iter().rev());
        if self.confine && !resolved.starts_with(&self.path) {
            return Err(ToolError::PermissionDenied(format!(
                "{path} is outside the working directory; use a path inside it"
            )));
        }
        Ok(Resolved {
            path: resolved,
            missing,
            broken,
        })
    }
}

fn denied(path: &str, why: &str) -> ToolError {
    ToolError::PermissionDenied(format!("{path} {why}"))
}

fn not_found(path: &str) -> ToolError {
    ToolError::ModelRetry(format!("{path} does not exist; list_files shows what does"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    fn denied<T>(result: &Result<T, ToolError>) -> bool {
        matches!(result, Err(ToolError::PermissionDenied(_)))
    }

    /// `<temp>/work` is the working directory, `<temp>/other` is beside it.
    fn place() -> (tempfile::TempDir, Root) {
        let temp = tempfile::tempdir().unwrap();
        let work = temp.path().join("work");
        std::fs::create_dir_all(work.join("dir")).unwrap();
        std::fs::create_dir(temp.path().join("other")).unwrap();
        std::fs::write(temp.path().join("other/secret"), "s").unwrap();
        std::fs::write(work.join("dir/file"), "f").unwrap();
        symlink("../other", work.join("out")).unwrap();
        symlink("dir", work.join("in")).unwrap();
        symlink("../other/new", work.join("dangling-out")).unwrap();
        symlink("nothing", work.join("dangling-in")).unwrap();
        symlink("loop", work.join("loop")).unwrap();
        let root = Root::new(&work, &BuiltinOptions::default()).unwrap();
        (temp, root)
    }

    #[test]
    fn follows_what_stays_inside() {
        let (_temp, root) = place();
        let file = root.path.join("dir/file");
        for path in [
            "dir/file",
            "./dir/../dir/file",
            "in/file",
            "out/../work/dir/file",
        ] {
            assert_eq!(root.existing(path).unwrap(), file, "{path}");
        }
        assert_eq!(root.existing(file.to_str().unwrap()).unwrap(), file);
        assert_eq!(root.target("a/b").unwrap(), root.path.join("a/b"));
    }

    #[test]
    fn refuses_what_leads_outside_whether_it_exists_or_not() {
        let (temp, root) = place();
        let absolute = temp.path().join("other/secret");
        for path in [
            "..",
            "../other/secret",
            "../other/nothing",
            "../nothing/../x",
            "dir/../../other/secret",
            "out",
            "out/secret",
            "out/nothing",
            "/",
            "/etc/passwd",
            "/nothing/at/all",
            absolute.to_str().unwrap(),
        ] {
            assert!(denied(&root.existing(path)), "{path}");
            assert!(denied(&root.target(path)), "{path}");
        }
    }

    #[test]
    fn a_sibling_with_the_same_prefix_is_outside() {
        let (temp, root) = place();
        std::fs::create_dir(temp.path().join("workshop")).unwrap();
        assert!(denied(&root.existing("../workshop")));
    }

    #[test]
    fn never_creates_through_a_link_that_leads_nowhere() {
        let (_temp, root) = place();
        for path in [
            "dangling-out",
            "dangling-in",
            "loop",
            "dangling-in/x",
            "nothing/../x",
        ] {
            assert!(
                matches!(root.target(path), Err(ToolError::ModelRetry(_))),
                "{path}"
            );
        }
    }

    #[test]
    fn goes_anywhere_without_confinement() {
        let (_temp, root) = place();
        let options = BuiltinOptions {
            confine: false,
            ..BuiltinOptions::default()
        };
        let root = Root::new(&root.path, &options).unwrap();
        assert!(
            root.existing("../other/secret")
                .unwrap()
                .ends_with("other/secret")
        );
        assert!(root.target("../other/new").unwrap().ends_with("other/new"));
    }

    proptest! {
        #[test]
        fn whatever_it_accepts_is_inside(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just(".."), Just("."), Just("dir"), Just("in"), Just("out"), Just("work"),
                    Just("other"), Just("secret"), Just("new"), Just("dangling-out"), Just("/"),
                ],
                1..8,
            ),
        ) {
            let (_temp, root) = place();
            let path = parts.join("/");
            for accepted in [root.existing(&path), root.target(&path)].into_iter().flatten() {
                prop_assert!(accepted.starts_with(&root.path), "{}", path);
                prop_assert!(!accepted.components().any(|part| part == std::path::Component::ParentDir));
            }
        }
    }
}
