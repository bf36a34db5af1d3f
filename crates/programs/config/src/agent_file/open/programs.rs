//! The files of the programs of MCP servers, as far as they are in the working directory.

use std::{env, ffi::OsStr, path::Path};

use neuron_sandbox::Protected;

/// Adds the files in the working directory that these words of command lines name, so that no tool changes a program
/// that is started again with its keys. For a word that is a symbolic link the link's folder is added, too.
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

/// Returns whether the program exists: at its path, which starts in the working directory, or on `PATH`.
pub(crate) fn exists(program: &str, cwd: &Path) -> bool {
    if program.contains('/') {
        return cwd.join(program).is_file();
    }
    is_on(env::var_os("PATH").as_deref(), program, cwd)
}

fn is_on(path: Option<&OsStr>, program: &str, cwd: &Path) -> bool {
    let mut folders = path.into_iter().flat_map(env::split_paths);
    folders.any(|folder| cwd.join(folder).join(program).is_file())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_program_is_at_its_path_or_on_the_search_path() {
        let temp = tempfile::tempdir().unwrap();
        let cwd = temp.path();
        fs::create_dir_all(cwd.join("tools")).unwrap();
        fs::write(cwd.join("tools/server"), "").unwrap();
        assert!(exists("tools/server", cwd));
        assert!(exists("./tools/server", cwd));
        assert!(!exists("tools/gone", cwd));
        assert!(!exists("./tools", cwd));
        let path = |text: &'static str| Some(OsStr::new(text));
        assert!(is_on(path("/nowhere:tools"), "server", cwd));
        assert!(!is_on(path("/nowhere:tools"), "gone", cwd));
        assert!(!is_on(None, "server", cwd));
    }

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
