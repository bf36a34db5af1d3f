//! What is read by default is what the book lists.

use std::{
    fs,
    path::{Path, PathBuf},
};

use neuron_sandbox::{Sandbox, SandboxRules};

use crate::place::{Place, places};

/// The paths in an entry of the list, home directories left as `~`.
fn listed(entry: &str) -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/src/sandbox.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, list) = page.split_once("### What is read by default").unwrap();
    let (_, text) = list.split_once(&format!("- **{entry}**")).unwrap();
    let text = text.split("\n- **").next().unwrap();
    let text = text.split("\n\n").next().unwrap();
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

/// Runs a script in a project, without variables that say where toolchains are.
fn run(place: &Place, script: &str) -> String {
    let mut worker = place.worker(&Sandbox::Workspace, script);
    for name in [
        "CARGO_HOME",
        "RUSTUP_HOME",
        "GOPATH",
        "PYENV_ROOT",
        "JAVA_HOME",
    ] {
        worker.env_remove(name);
    }
    let output = worker.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// For each path, whether a command can read it: the directory's entries, or the start of the file.
fn reads(place: &Place, paths: &[PathBuf]) -> Vec<bool> {
    let words: Vec<_> = paths
        .iter()
        .map(|path| format!("'{}'", path.display()))
        .collect();
    let script = format!(
        "for each in {}; do if [ -d $each ]; then [ -n \"$(ls -A $each 2>/dev/null)\" ]; else [ -n \"$(head -c 9 $each \
         2>/dev/null | tr '\\0' z)\" ]; fi && echo yes || echo no; done",
        words.join(" ")
    );
    let said = run(place, &script);
    let found: Vec<_> = said.lines().map(|line| line == "yes").collect();
    assert_eq!(found.len(), paths.len(), "{said}");
    found
}

/// Those that this process can read, and that are not empty.
fn is_there(path: &Path) -> bool {
    match path.is_dir() {
        true => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()),
        false => path.is_file() && fs::read(path).is_ok_and(|text| !text.is_empty()),
    }
}

#[test]
fn what_the_book_lists_of_the_home_directory_is_read_and_nothing_beside_it() {
    for place in places() {
        let home = place.home();
        let mut paths: Vec<_> = listed("Toolchains")
            .iter()
            .map(|path| home.join(path.strip_prefix("~/").unwrap()))
            .collect();
        let conda = listed("Conda");
        let (roots, parts) = conda.split_at(2);
        for root in roots {
            let root = home.join(root.strip_prefix("~/").unwrap());
            paths.extend(parts.iter().map(|part| root.join(part)));
        }
        let mut beside = vec![home.join(".ssh/id")];
        for path in &paths {
            fs::create_dir_all(path).unwrap();
            fs::write(path.join("file"), "text").unwrap();
        }
        let listed: Vec<_> = paths.iter().map(|path| path.join("file")).collect();
        for name in [
            ".aws/credentials",
            ".cargo/credentials.toml",
            ".cargo/credentials.toml.bak",
            ".rustup/token",
            ".nvm/.git/config",
            ".pyenv/.git/config",
            ".local/share/uv/credentials",
            ".local/share/keyrings/login",
            ".m2/settings.xml",
            ".bun/token",
            "miniconda3/.condarc",
            "anaconda3/token",
            "go/src/main.go",
            "Documents/letter",
        ] {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "text").unwrap();
            beside.push(path);
        }
        let backend = place.backend();
        for (path, read) in listed.iter().zip(reads(&place, &listed)) {
            assert!(read, "{backend:?}: {}", path.display());
        }
        for (path, read) in beside.iter().zip(reads(&place, &beside)) {
            assert!(!read, "{backend:?}: {}", path.display());
        }
    }
}

#[test]
fn what_the_book_lists_of_the_system_is_read_and_nothing_beside_it() {
    for place in places() {
        let there = |entry: &str| {
            let paths = listed(entry).into_iter().map(PathBuf::from);
            let named = paths.filter(|path| path.is_absolute());
            named.collect::<Vec<_>>()
        };
        let mut read = there("The system");
        read.retain(|path| is_there(path));
        read.push("/etc/passwd".into());
        read.extend(there("The kernel"));
        // It holds nothing.
        read.retain(|path| path != Path::new("/dev/null"));
        let mut never = there("Never");
        let keys = never.pop().unwrap();
        assert_eq!(keys, Path::new("/etc/ssh/ssh_host_*_key"));
        let found = fs::read_dir("/etc/ssh").into_iter().flatten().flatten();
        let found = found.map(|entry| entry.path());
        never.extend(found.filter(|path| path.to_string_lossy().ends_with("_key")));
        let others = [
            "/var/log", "/var/lib", "/srv", "/boot", "/run", "/mnt", "/home", "/root",
        ];
        never.extend(others.map(PathBuf::from));
        never.retain(|path| is_there(path));
        assert!(!never.is_empty());
        let backend = place.backend();
        for (path, found) in read.iter().zip(reads(&place, &read)) {
            assert!(found, "{backend:?}: {}", path.display());
        }
        for (path, found) in never.iter().zip(reads(&place, &never)) {
            let names = path.is_dir() && found && holds_only_names(&place, path);
            assert!(!found || names, "{backend:?}: {}", path.display());
        }
    }
}

/// Returns whether no file can be read in the directory: Landlock reveals names under what is granted in parts, and
/// bubblewrap has directories on the way to what is read.
fn holds_only_names(place: &Place, path: &Path) -> bool {
    let script = format!(
        "find {} -xdev -maxdepth 2 -type f -exec head -qc 1 {{}} + 2>/dev/null",
        path.display()
    );
    run(place, &script).is_empty()
}

#[test]
fn a_toolchain_in_what_is_read_shows_its_parts_alone() {
    for place in places() {
        let tools = place.home().join("tools");
        for name in ["cargo/bin/tool", "cargo/credentials.toml.bak", "other"] {
            let path = tools.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let rules = SandboxRules::new().read("~/tools");
        let script = "cd ~/tools; cat cargo/bin/tool other cargo/credentials.toml.bak";
        let mut worker = place.worker(&Sandbox::Custom(rules), script);
        worker.env("CARGO_HOME", tools.join("cargo"));
        let output = worker.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text, "cargo/bin/toolother", "{:?}", place.backend());
    }
}
