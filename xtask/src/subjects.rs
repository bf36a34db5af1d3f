//! The subjects of commits are short enough to be read in a list.

use std::path::Path;
use std::process::Command;

use crate::command;
use crate::error::Error;

/// The longest subject, in characters.
const LONGEST: usize = 72;

/// The file that came with this rule. What was committed before it had another one.
const SINCE: &str = "xtask/src/subjects.rs";

/// Checks the commits since the rule came, merges left aside. Nothing is checked outside of a Git repository.
///
/// # Errors
///
/// Returns an error that lists the commits whose subject is too long.
pub(crate) fn check(root: &Path) -> Result<(), Error> {
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        command::ask(git.current_dir(root).args(args))
    };
    let Some(added) = git(&["log", "--diff-filter=A", "--format=%H", "--", SINCE]) else {
        eprintln!("There is no Git history here.");
        return Ok(());
    };
    let Some(first) = added.lines().last() else {
        return Ok(());
    };
    let range = format!("{first}..HEAD");
    let commits = git(&["log", &range, "--no-merges", "--format=%h %s"]).unwrap_or_default();
    let long = too_long(&commits);
    if long.is_empty() {
        Ok(())
    } else {
        Err(Error::Subjects(long))
    }
}

/// Returns the lines, each a commit's name and subject, whose subject is too long.
fn too_long(commits: &str) -> Vec<String> {
    let is_too_long = |line: &&str| {
        line.split_once(' ')
            .is_some_and(|(_, subject)| subject.chars().count() > LONGEST)
    };
    commits
        .lines()
        .filter(is_too_long)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_characters_of_a_subject() {
        let just_right = format!("0123456 {}", "é".repeat(LONGEST));
        assert!(too_long(&format!("{just_right}\n89ab Short\n")).is_empty());

        let too_much = format!("{just_right}.");
        let commits = format!("89ab Short\n{too_much}\n");
        assert_eq!(too_long(&commits), [too_much]);
    }

    #[test]
    fn passes_where_there_is_no_history() {
        let root = tempfile::tempdir().expect("a folder");
        assert!(check(root.path()).is_ok());
    }
}
