//! Every feature compiles by itself, and so does what is left without any.
//!
//! In the whole workspace, features of a crate are on because another crate wants them, or because they are on by
//! default. Whoever depends on one crate has what that one asks for.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::metadata::{self, Package};
use crate::{command, workspace};

/// The clippy calls, as what follows `cargo clippy`.
type Calls = Vec<Vec<String>>;

/// Checks the crates without features, and then with one feature each, tests left aside.
///
/// The crates are checked together, the first features of all in one call, then the second: what they depend on is
/// compiled once. A crate that others use with its default features is checked without them by itself.
///
/// # Errors
///
/// Returns an error that names what does not compile, or does so with warnings.
pub(crate) fn check() -> Result<(), Error> {
    let mut failed = Vec::new();
    for call in calls(&metadata::members()?) {
        let mut clippy = workspace::cargo();
        clippy.arg("clippy").args(call);
        clippy.args(["--no-default-features", "--quiet", "--", "-D", "warnings"]);
        failed.extend(command::show(&mut clippy).err());
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Error::Several(failed))
    }
}

fn calls(members: &[Package]) -> Calls {
    // What turns on features of another member hides what that one is without them.
    let names: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let asks = |member: &&Package| {
        let mut of_members = member.dependencies.iter();
        of_members.any(|of| {
            names.contains(of.name.as_str()) && of.kind.is_none() && !of.features.is_empty()
        })
    };
    let mut everywhere = vec!["--workspace".to_owned()];
    for member in members.iter().filter(asks) {
        everywhere.extend(["--exclude".to_owned(), member.name.clone()]);
    }
    let rounds = members.iter().filter(|member| !asks(member)).map(single);
    let rounds: Vec<Vec<String>> = rounds.collect();
    let longest = rounds.iter().map(Vec::len).max().unwrap_or_default();
    let mut calls = vec![everywhere.clone()];
    for round in 0..longest {
        let features = rounds.iter().filter_map(|features| features.get(round));
        let features: Vec<&str> = features.map(String::as_str).collect();
        let mut call = everywhere.clone();
        call.extend(["--features".to_owned(), features.join(",")]);
        calls.push(call);
    }
    let by_default = |member: &&Package| {
        let used = |by: &Package| {
            by.dependencies
                .iter()
                .any(|of| of.name == member.name && of.kind.is_none())
        };
        member.features.contains_key("default") && members.iter().any(used)
    };
    let alone = members.iter().filter(by_default);
    calls.extend(alone.map(|member| vec!["--package".to_owned(), member.name.clone()]));
    calls
}

/// Returns the features of a crate as `crate/feature`, but for those that only group others.
fn single(package: &Package) -> Vec<String> {
    let is_group = |(name, members): &(&String, &Vec<String>)| {
        let of_features = members.iter().all(|one| package.features.contains_key(one));
        *name == "default" || (of_features && !members.is_empty())
    };
    let single = package.features.iter().filter(|feature| !is_group(feature));
    single
        .map(|(name, _)| format!("{}/{name}", package.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    fn package(
        name: &str,
        features: &[(&str, &[&str])],
        dependencies: &[(&str, &[&str])],
    ) -> Package {
        let owned = |words: &&[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Package {
            name: name.to_owned(),
            features: features
                .iter()
                .map(|(name, members)| ((*name).to_owned(), owned(members)))
                .collect(),
            dependencies: dependencies
                .iter()
                .map(|(name, features)| Dependency {
                    name: (*name).to_owned(),
                    features: owned(features),
                    ..Dependency::default()
                })
                .collect(),
            ..Package::default()
        }
    }

    fn said(members: &[Package]) -> Vec<String> {
        calls(members).iter().map(|call| call.join(" ")).collect()
    }

    #[test]
    fn takes_every_feature_by_itself_and_those_of_several_crates_at_once() {
        let members = [
            package(
                "one",
                &[
                    ("default", &["a", "b"]),
                    ("a", &["dep:x"]),
                    ("b", &["a", "y/z"]),
                ],
                &[],
            ),
            package("other", &[("c", &["dep:z"])], &[]),
        ];
        let calls = [
            "--workspace",
            "--workspace --features one/a,other/c",
            "--workspace --features one/b",
        ];
        assert_eq!(said(&members), calls);
    }

    #[test]
    fn leaves_out_who_turns_features_on_and_takes_by_itself_whose_defaults_others_want() {
        let members = [
            package(
                "tool",
                &[("default", &["macros"]), ("macros", &["dep:m"])],
                &[],
            ),
            package("user", &[], &[("tool", &[])]),
            package("example", &[], &[("tool", &["macros"])]),
        ];
        let calls = [
            "--workspace --exclude example",
            "--workspace --exclude example --features tool/macros",
            "--package tool",
        ];
        assert_eq!(said(&members), calls);
    }

    #[test]
    fn takes_no_feature_twice() {
        let features: [(&str, &[&str]); 2] = [("a", &["dep:x"]), ("also-a", &["a"])];
        assert_eq!(single(&package("one", &features, &[])), ["one/a"]);
    }
}
