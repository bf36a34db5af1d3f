//! What the programs of MCP servers are made of, where it is in the working directory.

use std::path::Path;

use neuron_sandbox::Protected;

/// Adds the files that these words of command lines name in the working directory, so that no tool changes a program
/// that is started again with its keys. For a word that is a symbolic link the folder that it is in is added, too.
pub(crate) fn protecting<'a>(
    mut protected: Protected,
    words: impl IntoIterator<Item = &'a String>,
    cwd: &Path,
) -> Protected {
    let Ok(cwd) = cwd.canonicalize() else {
        return protected;
    };
    for word in words {
        let named = cwd.join(word);
        let Some(real) = named.canonicalize().ok().filter(|real| real.is_file()) else {
            continue;
        };
        if real.starts_with(&cwd) {
            protected = protected.read_only(real);
        }
        let folder = named.parent().filter(|_| named.is_symlink());
        let folder = folder.and_then(|folder| folder.canonicalize().ok());
        if let Some(folder) = folder.filter(|folder| *folder != cwd && folder.starts_with(&cwd)) {
            protected = protected.read_only(folder);
        }
    }
    protected
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn files_that_a_command_line_names_are_not_changed() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let cwd = root.join("work");
        fs::create_dir_all(cwd.join("tools/bin")).unwrap();
        for name in [
            "work/tools/server.py",
            "work/main.js",
            "work/free",
            "outside",
        ] {
            fs::write(root.join(name), "").unwrap();
        }
        symlink("/bin/sh", cwd.join("tools/bin/python")).unwrap();
        let absolute = cwd.join("main.js").display().to_string();
        let words = [
            "tools/bin/python",
            "tools/server.py",
            &absolute,
            "../outside",
            "tools",
            "-v",
        ];
        let words = words.map(ToOwned::to_owned);
        let protected = protecting(Protected::new(), &words, &cwd);
        let refuses = |name: &str| protected.refuses_write(&cwd, &cwd.join(name));
        for name in [
            "tools/server.py",
            "main.js",
            "tools/bin/python",
            "tools/bin/new",
        ] {
            assert!(refuses(name), "{name}");
        }
        for name in ["tools/new", "free", "-v"] {
            assert!(!refuses(name), "{name}");
        }
    }
}
