//! Which of two sandboxes lets commands do more.

use std::path::{Component, Path, PathBuf};

use crate::{
    kind::Backend,
    sandbox::{Sandbox, SandboxRules},
};

impl Sandbox {
    /// Returns what in it may let commands do more than another sandbox does: one of its keys, or `sandbox` where it is off
    /// and the other is not. `None` if it is certain that they do no more here.
    ///
    /// Paths are compared as they are written, since a link may lead from one that is inside another to anywhere: each
    /// has to be one of the other's. A back end counts as another one if it is named here and not there, except
    /// bubblewrap, which is taken first.
    ///
    /// ```
    /// use neuron_sandbox::Sandbox;
    ///
    /// assert_eq!(Sandbox::ReadOnly.wider_than(&Sandbox::Workspace), None);
    /// assert_eq!(Sandbox::Workspace.wider_than(&Sandbox::ReadOnly), Some("write"));
    /// assert_eq!(Sandbox::Off.wider_than(&Sandbox::Workspace), Some("sandbox"));
    /// ```
    #[must_use]
    pub fn wider_than(&self, other: &Self) -> Option<&'static str> {
        let most = other.rules()?;
        match self.rules() {
            Some(rules) => rules.wider_than(&most),
            None => Some("sandbox"),
        }
    }
}

impl SandboxRules {
    fn wider_than(&self, most: &Self) -> Option<&'static str> {
        let keys = [
            ("write", !holds(&most.written(), &self.written())),
            ("read", !holds(&most.shown(), &self.shown())),
            ("network", self.network && !most.network),
            ("memory", is_above(self.memory, most.memory)),
            ("processes", is_above(self.processes, most.processes)),
            ("backend", !self.is_confined_as(most)),
        ];
        let mut wider = keys.into_iter().filter(|(_, is_wider)| *is_wider);
        wider.next().map(|(key, _)| key)
    }

    fn written(&self) -> Vec<PathBuf> {
        let here = [PathBuf::from(".")];
        let paths = self.write.as_deref().unwrap_or(&here);
        paths.iter().map(|path| plain(path)).collect()
    }

    /// Returns what is read: the working directory is, whatever the rules say, and so is what is written.
    fn shown(&self) -> Vec<PathBuf> {
        let read = self.read.iter().map(|path| plain(path));
        let shown = read.chain([PathBuf::new()]);
        shown.chain(self.written()).collect()
    }

    fn is_confined_as(&self, other: &Self) -> bool {
        self.backend == other.backend
            || (other.backend.is_none() && self.backend == Some(Backend::Bubblewrap))
    }
}

/// Returns whether all of these are among the first ones.
fn holds(paths: &[PathBuf], others: &[PathBuf]) -> bool {
    others.iter().all(|path| paths.contains(path))
}

/// Returns whether a limit, if there is one, is above another.
fn is_above(limit: Option<u64>, most: Option<u64>) -> bool {
    match (limit, most) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(limit), Some(most)) => limit > most,
    }
}

/// Returns a path without the names that lead nowhere: nothing for the working directory.
fn plain(path: &Path) -> PathBuf {
    let names = path.components();
    names.filter(|name| *name != Component::CurDir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox(text: &str) -> Sandbox {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_sandbox_is_not_wider_than_itself_or_than_none() {
        for text in [
            r#""workspace""#,
            r#""read-only""#,
            r#""off""#,
            r#"{"read": ["~/data", "x"], "write": [], "network": true, "memory": "1GiB", "backend": "landlock"}"#,
        ] {
            let sandbox = sandbox(text);
            assert_eq!(sandbox.wider_than(&sandbox), None, "{text}");
            assert_eq!(sandbox.wider_than(&Sandbox::Off), None, "{text}");
        }
    }

    #[test]
    fn each_key_makes_it_wider_by_itself() {
        for (key, text, most) in [
            ("sandbox", r#""off""#, r#"{"network": true}"#),
            ("write", r#""workspace""#, r#""read-only""#),
            ("write", r#"{"write": ["."]}"#, r#"{"write": ["src"]}"#),
            ("write", r#"{"write": ["~/a"]}"#, r#"{"read": ["~/a"]}"#),
            ("read", r#"{"read": ["~/data"]}"#, r#""workspace""#),
            ("network", r#"{"network": true}"#, r#""workspace""#),
            ("memory", r#""workspace""#, r#"{"memory": 5}"#),
            ("memory", r#"{"memory": 6}"#, r#"{"memory": 5}"#),
            ("processes", r#"{"processes": 6}"#, r#"{"processes": 5}"#),
            ("backend", r#"{"backend": "landlock"}"#, r#""workspace""#),
            ("backend", r#""workspace""#, r#"{"backend": "bubblewrap"}"#),
        ] {
            let wider = sandbox(text).wider_than(&sandbox(most));
            assert_eq!(wider, Some(key), "{text} and {most}");
        }
    }

    #[test]
    fn it_is_narrower_where_each_key_is() {
        for (text, most) in [
            (r#""read-only""#, r#""workspace""#),
            (r#"{"write": []}"#, r#""read-only""#),
            (r#"{"write": ["./"]}"#, r#""workspace""#),
            (r#"{"read": ["./data/"]}"#, r#"{"read": ["data", "~/x"]}"#),
            (
                r#"{"read": ["~/a"], "write": []}"#,
                r#"{"write": [".", "~/a"]}"#,
            ),
            (r#"{"memory": 4, "processes": 1}"#, r#"{"memory": 5}"#),
            (r#"{"backend": "bubblewrap"}"#, r#""workspace""#),
            (r#""workspace""#, r#"{"network": true}"#),
        ] {
            assert_eq!(sandbox(text).wider_than(&sandbox(most)), None, "{text}");
        }
    }

    #[test]
    fn a_path_in_another_is_not_taken_for_a_part_of_it() {
        // A link could lead from there to anywhere.
        for (text, most) in [
            (r#"{"write": ["src"]}"#, r#""workspace""#),
            (r#"{"read": ["~/a/b"]}"#, r#"{"read": ["~/a"]}"#),
            (r#"{"read": ["a/../b"]}"#, r#"{"read": ["b"]}"#),
        ] {
            assert!(sandbox(text).wider_than(&sandbox(most)).is_some(), "{text}");
        }
    }

    #[test]
    fn the_means_that_is_taken_first_is_no_wider_than_whichever_works() {
        let bubblewrap = Sandbox::Workspace.with_backend(Backend::Bubblewrap);
        assert_eq!(bubblewrap.wider_than(&Sandbox::Workspace), None);
    }
}
