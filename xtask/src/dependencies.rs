//! What dependencies bring in: licences, sources and versions, by the rules of `deny.toml`.

mod licence;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use licence::Expression;
use rules::{Level, Rules};

use crate::error::Error;
use crate::metadata::{self, Package};
use crate::workspace;

/// The source of what comes from the default registry.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The text of the MIT licence.
const MIT: &str = include_str!("../../LICENSE-MIT");

/// Checks all dependencies, those of tests and of other platforms too.
///
/// # Errors
///
/// Returns an error that lists what breaks a rule, or says which file cannot be read.
pub(crate) fn check() -> Result<(), Error> {
    let rules = Rules::read(&workspace::root().join("deny.toml"))?;
    let packages = metadata::packages()?;
    let mut report = Report::default();
    for package in &packages {
        licences(package, &rules, &mut report);
        source(package, &rules, &mut report);
        bans(package, &rules, &mut report);
    }
    versions(&packages, &rules, &mut report);
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
    if report.problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Dependencies(report.problems))
    }
}

#[derive(Debug, Default)]
struct Report {
    problems: Vec<String>,
    warnings: Vec<String>,
}

impl Report {
    fn add(&mut self, level: Level, text: String) {
        match level {
            Level::Allow => {}
            Level::Warn => self.warnings.push(text),
            Level::Deny => self.problems.push(text),
        }
    }
}

fn licences(package: &Package, rules: &Rules, report: &mut Report) {
    let is_private = package.publish.as_ref().is_some_and(Vec::is_empty);
    if is_private && rules.licenses.private.ignore {
        return;
    }
    let problem = match expression(package) {
        None => "says no licence that is known here".to_owned(),
        Some(text) => match Expression::parse(&text) {
            None => format!("has the licence `{text}`, which is not an expression"),
            Some(licence) if licence.holds(&|id| rules.allows(&package.name, id)) => return,
            Some(_) => format!("has the licence `{text}`, which is not allowed"),
        },
    };
    report.add(Level::Deny, format!("{} {problem}", title(package)));
}

/// Returns the licence, by its text if the package has no name for it.
fn expression(package: &Package) -> Option<String> {
    if package.license.is_some() {
        return package.license.clone();
    }
    let file = package.license_file.as_ref()?;
    let text = fs::read_to_string(package.manifest_path.with_file_name(file)).ok()?;
    is_mit(&text).then(|| "MIT".to_owned())
}

/// Returns whether a text is that of the MIT licence, whoever has the copyright.
fn is_mit(text: &str) -> bool {
    let words = |text: &str| -> Option<Vec<String>> {
        let start = text.find("Permission is hereby granted")?;
        let words = text.get(start..)?.split_whitespace();
        Some(words.map(str::to_owned).collect())
    };
    words(text).is_some_and(|found| Some(found) == words(MIT))
}

fn source(package: &Package, rules: &Rules, report: &mut Report) {
    let Some(source) = &package.source else {
        return;
    };
    if source != REGISTRY {
        let is_git = source.starts_with("git+");
        let level = if is_git {
            rules.sources.unknown_git
        } else {
            rules.sources.unknown_registry
        };
        report.add(level, format!("{} comes from {source}", title(package)));
    }
}

fn bans(package: &Package, rules: &Rules, report: &mut Report) {
    for dependency in &package.dependencies {
        let is_path = dependency.path.is_some() && rules.bans.allow_wildcard_paths;
        if dependency.req == "*" && !is_path {
            let text = format!(
                "{} takes any version of {}",
                title(package),
                dependency.name
            );
            report.add(rules.bans.wildcards, text);
        }
    }
    if rules.bans.deny.contains(&package.name) {
        report.add(Level::Deny, format!("{} is banned", title(package)));
    }
}

fn versions(packages: &[Package], rules: &Rules, report: &mut Report) {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        let all = versions.entry(&package.name).or_default();
        all.insert(&package.version);
    }
    versions.retain(|_, all| all.len() > 1);
    if !versions.is_empty() {
        let names = versions.keys().copied().collect::<Vec<_>>().join(", ");
        let text = format!("crates in several versions ({}): {names}", versions.len());
        report.add(rules.bans.multiple_versions, text);
    }
}

fn title(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    const RULES: &str = r#"
        [licenses]
        allow = ["MIT", "ISC"]
        exceptions = [{ crate = "odd", allow = ["MPL-2.0"] }]
        private.ignore = true
        [bans]
        multiple-versions = "warn"
        wildcards = "deny"
        allow-wildcard-paths = true
        deny = ["bad"]
        [sources]
        unknown-registry = "deny"
        unknown-git = "deny"
    "#;

    fn report(check: impl FnOnce(&Rules, &mut Report)) -> Report {
        let rules = toml::from_str(RULES).expect("rules");
        let mut report = Report::default();
        check(&rules, &mut report);
        report
    }

    fn package(name: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            source: Some(REGISTRY.to_owned()),
            ..Package::default()
        }
    }

    fn problems(package: &Package) -> Vec<String> {
        let check = |rules: &Rules, report: &mut Report| {
            licences(package, rules, report);
            source(package, rules, report);
            bans(package, rules, report);
        };
        report(check).problems
    }

    fn licensed(name: &str, license: &str) -> Package {
        Package {
            license: Some(license.to_owned()),
            ..package(name)
        }
    }

    #[test]
    fn takes_what_is_allowed_and_refuses_what_is_not() {
        let none: [&str; 0] = [];
        assert_eq!(problems(&licensed("a", "MIT OR GPL-3.0-only")), none);
        assert_eq!(problems(&licensed("odd", "MPL-2.0 AND ISC")), none);
        let refused = "a 1.0.0 has the licence `MPL-2.0 AND ISC`, which is not allowed";
        assert_eq!(problems(&licensed("a", "MPL-2.0 AND ISC")), [refused]);
        let not_one = "a 1.0.0 has the licence `MIT OR`, which is not an expression";
        assert_eq!(problems(&licensed("a", "MIT OR")), [not_one]);
        let silent = "a 1.0.0 says no licence that is known here";
        assert_eq!(problems(&package("a")), [silent]);
    }

    #[test]
    fn private_crates_need_no_licence() {
        let mut own = package("own");
        own.publish = Some(Vec::new());
        assert!(problems(&own).is_empty());
        own.publish = Some(vec!["elsewhere".to_owned()]);
        assert_eq!(problems(&own).len(), 1);
    }

    #[test]
    fn knows_the_mit_licence_by_its_words() {
        let body = MIT.split_once("\n\n").expect("a copyright").1;
        let other = format!(
            "The MIT License\n\n(c) Them\n\n{}",
            body.replace('\n', "  ")
        );
        assert!(is_mit(&other));
        assert!(!is_mit(&other.replace("free of charge", "for a fee")));
        assert!(!is_mit(&format!("{other} And one thing more.")));
    }

    #[test]
    fn refuses_other_sources() {
        let mut package = licensed("a", "MIT");
        assert!(problems(&package).is_empty());
        for other in ["git+https://host/a#123", "registry+https://host/index"] {
            package.source = Some(other.to_owned());
            assert_eq!(problems(&package), [format!("a 1.0.0 comes from {other}")]);
        }
    }

    #[test]
    fn refuses_any_version_but_not_of_a_folder() {
        let mut package = licensed("a", "MIT");
        package.dependencies = vec![Dependency {
            name: "b".to_owned(),
            req: "*".to_owned(),
            path: Some("../b".into()),
            ..Dependency::default()
        }];
        assert!(problems(&package).is_empty());
        package.dependencies[0].path = None;
        assert_eq!(problems(&package), ["a 1.0.0 takes any version of b"]);
    }

    #[test]
    fn refuses_what_is_banned() {
        assert_eq!(problems(&licensed("bad", "MIT")), ["bad 1.0.0 is banned"]);
        assert!(problems(&licensed("badly", "MIT")).is_empty());
    }

    #[test]
    fn counts_what_comes_in_several_versions() {
        let mut newer = package("b");
        newer.version = "2.0.0".to_owned();
        let one_each = [package("a"), package("b")];
        let warnings =
            |packages: &[Package]| report(|rules, r| versions(packages, rules, r)).warnings;
        assert!(warnings(&one_each).is_empty());
        let [a, b] = one_each;
        assert_eq!(
            warnings(&[a, b, newer]),
            ["crates in several versions (1): b"]
        );
    }
}
