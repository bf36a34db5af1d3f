//! Paths without what can be spelled in several ways.

use crate::glob::fits;

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Root,
    /// So many directories above the working directory.
    Above(usize),
}

/// A path that was normalised by its text: links are not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LexicalPath {
    start: Start,
    names: Vec<String>,
}

impl LexicalPath {
    pub(crate) fn new(text: &str) -> Self {
        let mut start = match text.starts_with('/') {
            true => Start::Root,
            false => Start::Above(0),
        };
        let mut names: Vec<String> = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    // Nothing is above the root.
                    if let (None, Start::Above(count)) = (names.pop(), &mut start) {
                        *count += 1;
                    }
                }
                name => names.push(name.to_owned()),
            }
        }
        Self { start, names }
    }

    fn is_inside(&self) -> bool {
        self.start == Start::Above(0)
    }

    fn text(&self) -> String {
        let names = self.names.join("/");
        match self.start {
            Start::Root => format!("/{names}"),
            Start::Above(0) if names.is_empty() => ".".to_owned(),
            Start::Above(count) => {
                let above = "../".repeat(count);
                format!("{above}{names}").trim_end_matches('/').to_owned()
            }
        }
    }

    /// The same path from the root, where this one starts in a directory that is given from the root.
    fn rooted_at(&self, directory: &Self) -> Self {
        match self.start {
            Start::Root => self.clone(),
            Start::Above(count) => {
                let kept = directory.names.len().saturating_sub(count);
                let above = directory.names.iter().take(kept);
                Self {
                    start: Start::Root,
                    names: above.chain(&self.names).cloned().collect(),
                }
            }
        }
    }

    /// The same path from a directory, where both are given from the root.
    fn relative_to(&self, directory: &Self) -> Self {
        let both = self.names.iter().zip(&directory.names);
        let shared = both.take_while(|(one, other)| one == other).count();
        Self {
            start: Start::Above(directory.names.len() - shared),
            names: self.names.iter().skip(shared).cloned().collect(),
        }
    }

    /// Returns what may be the same path, where the working directory is unknown: each end of it.
    fn ends(&self) -> impl Iterator<Item = String> + '_ {
        let starts = 0..self.names.len();
        starts.map(|start| {
            let names: Vec<&str> = self.names.iter().skip(start).map(String::as_str).collect();
            names.join("/")
        })
    }
}

/// A path of a call, as rules compare it.
#[derive(Debug, Clone)]
pub(crate) struct CallPath {
    /// From the working directory, as far as it is known.
    path: LexicalPath,
    /// From the root.
    absolute: Option<LexicalPath>,
}

impl CallPath {
    /// `directory` is the working directory, from the root.
    pub(crate) fn new(text: &str, directory: Option<&str>) -> Self {
        let path = LexicalPath::new(text);
        let Some(directory) = directory.map(LexicalPath::new) else {
            return Self {
                path,
                absolute: None,
            };
        };
        let absolute = path.rooted_at(&directory);
        Self {
            path: absolute.relative_to(&directory),
            absolute: Some(absolute),
        }
    }

    /// Returns whether a pattern that allows is for this path. What leaves the working directory is for patterns that
    /// leave it as far, or start at the root.
    pub(crate) fn is_covered(&self, pattern: &str) -> bool {
        let pattern = PathPattern::new(pattern);
        let forms = [Some(&self.path), self.absolute.as_ref()];
        let mut forms = forms.into_iter().flatten();
        forms.any(|path| path.start == pattern.start && fits(&pattern.text, &path.text()))
    }

    /// Returns whether a pattern that restricts is for this path, or may be as far as is known.
    pub(crate) fn is_hit(&self, pattern: &str) -> bool {
        let pattern = PathPattern::new(pattern).text;
        let forms = [Some(&self.path), self.absolute.as_ref()];
        let mut forms = forms.into_iter().flatten();
        if forms.any(|path| fits(&pattern, &path.text())) {
            return true;
        }
        let is_elsewhere = self.absolute.is_none() && !self.path.is_inside();
        is_elsewhere && self.path.ends().any(|end| fits(&pattern, &end))
    }

    /// The directory that it is in, as a path; `None` where it is outside of the working directory, or that itself.
    pub(crate) fn directory(&self) -> Option<String> {
        let (_, above) = self.path.names.split_last()?;
        self.path.is_inside().then(|| above.join("/"))
    }
}

/// A pattern of paths, normalised as they are.
struct PathPattern {
    start: Start,
    text: String,
}

impl PathPattern {
    fn new(text: &str) -> Self {
        let mut start = match text.starts_with('/') {
            true => Start::Root,
            false => Start::Above(0),
        };
        let mut names: Vec<&str> = Vec::new();
        for name in text.split('/') {
            // A `*` may stand for several names: what is above it is not known.
            let above = names.last().copied();
            let can_go_up = above.is_some_and(|above| above != ".." && !above.contains('*'));
            match name {
                "" | "." => {}
                ".." if can_go_up => {
                    names.pop();
                }
                ".." if names.is_empty() && start == Start::Root => {}
                name => {
                    if let (Start::Above(count), "..") = (&mut start, name)
                        && names.iter().all(|above| *above == "..")
                    {
                        *count += 1;
                    }
                    names.push(name);
                }
            }
        }
        let names = names.join("/");
        let text = match start {
            Start::Root => format!("/{names}"),
            Start::Above(_) if names.is_empty() => ".".to_owned(),
            Start::Above(_) => names,
        };
        Self { start, text }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_path_are_one_path() {
        for text in [
            "src/x",
            "./src/../src/x",
            "src//x",
            "src/x/",
            "src/./x",
            "a/../src/x/.",
        ] {
            let path = CallPath::new(text, None);
            assert!(path.is_covered("src/*") && path.is_hit("src/x"), "{text}");
        }
        let home = Some("/home/ada/work");
        for text in [
            "/home/ada/work/src/x",
            "../work/src/x",
            "/home/ada/../ada/work/src//x",
        ] {
            let path = CallPath::new(text, home);
            assert!(path.is_covered("src/*") && path.is_hit("./src/x"), "{text}");
            assert!(path.is_covered("/home/ada/*"), "{text}");
        }
    }

    #[test]
    fn what_leaves_the_directory_is_not_allowed_by_what_stays_in_it() {
        for text in ["../x", "src/../../x", "/etc/passwd", "..", "/"] {
            for directory in [None, Some("/home/ada/work")] {
                let path = CallPath::new(text, directory);
                assert!(!path.is_covered("*"), "{text}");
                assert!(path.is_hit("*"), "{text}");
            }
        }
        let path = CallPath::new("../shared/x", None);
        assert!(path.is_covered("../shared/*") && path.is_covered("../*"));
        let path = CallPath::new("../shared/../../etc/x", None);
        assert!(!path.is_covered("../shared/*") && !path.is_covered("../*"));
        assert!(path.is_hit("etc/x"));
    }

    #[test]
    fn where_the_directory_is_not_known_a_path_from_the_root_may_lead_into_it() {
        let path = CallPath::new("/home/ada/work/.env", None);
        assert!(path.is_hit(".env") && path.is_hit("work/*") && !path.is_hit("src/*"));
        let path = CallPath::new("/home/ada/work/.env", Some("/home/ada"));
        assert!(!path.is_hit(".env") && path.is_hit("work/*"));
    }

    fn spelled() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just(".."),
            Just("."),
            Just(""),
            Just("a"),
            Just("b"),
            Just("work"),
            Just("*"),
        ];
        proptest::collection::vec(part, 1..8).prop_map(|parts| parts.join("/"))
    }

    proptest! {
        #[test]
        fn what_says_nothing_changes_nothing(path in spelled(), pattern in spelled()) {
            prop_assume!(!path.is_empty());
            let plain = CallPath::new(&path, None);
            for other in [format!("{path}/."), path.replace('/', "//"), format!("{path}/x/..")] {
                let other = CallPath::new(&other, None);
                prop_assert_eq!(plain.is_hit(&pattern), other.is_hit(&pattern));
                prop_assert_eq!(plain.is_covered(&pattern), other.is_covered(&pattern));
            }
        }

        #[test]
        fn what_is_covered_in_a_known_directory_stays_in_it(path in spelled()) {
            let found = CallPath::new(&path, Some("/home/work"));
            let absolute = found.absolute.clone().unwrap().text();
            let is_inside = absolute == "/home/work" || absolute.starts_with("/home/work/");
            prop_assert_eq!(found.is_covered("*"), is_inside, "{}", absolute);
        }

        #[test]
        fn a_hit_in_a_known_directory_is_one_where_it_is_not_known(
            inside in spelled(),
            pattern in "[ab*]{1,2}(/[ab*]{1,2}){0,2}",
        ) {
            prop_assume!(!inside.contains(".."));
            let path = format!("/home/work/{inside}");
            let is_hit = |directory| CallPath::new(&path, directory).is_hit(&pattern);
            prop_assert!(!is_hit(Some("/home/work")) || is_hit(None), "{} {}", path, pattern);
        }
    }
}
