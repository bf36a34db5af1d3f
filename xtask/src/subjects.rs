//! The subjects of commits are short enough to be read in a list, and begin with a verb that names the change.

use std::path::Path;
use std::process::Command;

use crate::command;
use crate::error::Error;

/// The longest subject, in characters.
const LONGEST: usize = 72;

/// The file that came with this rule. Earlier commits had another rule.
const SINCE: &str = "xtask/src/subjects.rs";

/// Verbs that do not name a change.
const VERBS: [&str; 5] = ["Mend", "Hold", "Let", "Tell", "Say"];

/// The file that came with the rule for verbs.
const VERBS_SINCE: &str = "xtask/src/words.rs";

/// Checks the commits since the rules came, without merges. Nothing is checked outside of a Git repository.
///
/// # Errors
///
/// Returns an error that lists the commits whose subject is too long, or begins with a verb that is not used here.
pub(crate) fn check(root: &Path) -> Result<(), Error> {
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        command::ask(git.current_dir(root).args(args))
    };
    let since = |file: &str| {
        let added = git(&["log", "--diff-filter=A", "--format=%H", "--", file])?;
        let Some(first) = added.lines().last() else {
            return Some(String::new());
        };
        let range = format!("{first}..HEAD");
        git(&["log", &range, "--no-merges", "--format=%h %s"])
    };
    let Some(commits) = since(SINCE) else {
        eprintln!("There is no Git history here.");
        return Ok(());
    };
    let long = too_long(&commits);
    if !long.is_empty() {
        return Err(Error::Subjects(long));
    }
    let vague = vague(&since(VERBS_SINCE).unwrap_or_default());
    if vague.is_empty() {
        Ok(())
    } else {
        Err(Error::Verbs(vague))
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

/// Returns the lines, each a commit's name and subject, whose subject begins with one of [`VERBS`].
fn vague(commits: &str) -> Vec<String> {
    let is_vague = |line: &&str| {
        let verb = line.split(' ').nth(1);
        verb.is_some_and(|verb| VERBS.contains(&verb))
    };
    commits
        .lines()
        .filter(is_vague)
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
    fn finds_verbs_that_name_no_change() {
        let commits = "89ab Mend the lock\n89ac Mention Let\n89ad Let a run end\n89ae Fix it\n";
        assert_eq!(vague(commits), ["89ab Mend the lock", "89ad Let a run end"]);
    }

    #[test]
    fn passes_where_there_is_no_history() {
        let root = tempfile::tempdir().expect("a folder");
        assert!(check(root.path()).is_ok());
    }
}
