//! The spelling of the whole tree, checked by typos. `_typos.toml` says what is right nevertheless.

use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::{command, engines, workspace};

/// Checks every file that is not ignored by Git.
///
/// # Errors
///
/// Returns an error that lists what is misspelt and how it is spelt, or says why typos cannot be had.
pub(crate) fn check() -> Result<(), Error> {
    check_with(&engines::ensure("typos")?, &workspace::root())
}

fn check_with(typos: &Path, root: &Path) -> Result<(), Error> {
    let mut typos = Command::new(typos);
    command::quiet(typos.current_dir(root).args(["--format", "brief"]))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn shows_what_is_found() {
        let root = tempfile::tempdir().expect("a folder");
        let program = root.path().join("typos");
        fs::write(
            &program,
            "#!/bin/sh\ngrep -n raed page.md && exit 2 || exit 0\n",
        )
        .expect("a file");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
        let page = root.path().join("page.md");

        fs::write(&page, "I read it.").expect("a file");
        assert!(check_with(&program, root.path()).is_ok());

        fs::write(&page, "I raed it.").expect("a file");
        let error = check_with(&program, root.path()).expect_err("a slip");
        assert!(error.to_string().contains("1:I raed it."), "{error}");
    }
}
