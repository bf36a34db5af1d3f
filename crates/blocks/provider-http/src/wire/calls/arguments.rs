use std::mem;

use serde_json::Value;

use super::nesting::Nesting;

/// The arguments of one call, as far as their fragments have come.
///
/// Most servers send each letter once. Some send all that there is again with each fragment, or once more at the end: a
/// fragment that begins with all that came before it, where what came and the fragment in one would be no JSON, stands for
/// both. As long as it can be either, both are kept. The same value once more, in other letters, counts once too.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    came: Text,
    /// What came if the newest fragment that began with everything stands for everything.
    resent: Option<Text>,
    /// How much had come when it was last checked whether it can be JSON.
    checked: usize,
    /// How much a reader has received.
    told: usize,
    is_plain: bool,
    /// More came behind an object or list that had ended.
    is_held: bool,
    /// What all this cost, in bytes that were looked at.
    #[cfg(test)]
    pub(super) looked_at: usize,
}

#[derive(Debug, Clone, Default)]
struct Text {
    text: String,
    nesting: Nesting,
}

impl Text {
    fn push(&mut self, more: &str) {
        self.text.push_str(more);
        self.nesting.read(more);
    }
}

impl Arguments {
    /// Notes that they are a text of the tool's own, and no JSON.
    pub(super) const fn set_plain(&mut self) {
        self.is_plain = true;
    }

    /// Takes one more fragment.
    pub fn take(&mut self, more: &str) {
        #[cfg(test)]
        {
            self.looked_at += more.len();
        }
        if more.is_empty() || self.is_plain {
            self.came.push(more);
            return;
        }
        // Empty arguments that stood in for those to come.
        if self.is_empty_object() && more.trim_start().starts_with('{') {
            self.forget(more);
        }
        self.is_held |= self.came.nesting.is_whole() && !more.trim_ascii().is_empty();
        let text = self.resent.as_ref().unwrap_or(&self.came);
        let is_again = text.nesting.has_begun() && more.starts_with(&text.text);
        match &mut self.resent {
            Some(resent) if !is_again => resent.push(more),
            None if !is_again => {}
            resent => {
                let mut text = Text::default();
                text.push(more);
                *resent = Some(text);
            }
        }
        self.came.push(more);
        // Often enough, and in all no more than what came.
        if is_again && self.came.text.len() >= 2 * self.checked {
            self.choose();
        }
    }

    /// Takes the place of others, which a reader has received already.
    pub(super) fn stand_in_for(mut self, others: &mut Self) {
        let told = others.came.text.get(..others.told).unwrap_or_default();
        let is_more = self.came.text.starts_with(told);
        self.told = if is_more { others.told } else { 0 };
        *others = self;
    }

    /// Begins anew with what this begins with.
    fn forget(&mut self, more: &str) {
        let told = self.came.text.get(..self.told).unwrap_or_default();
        if !more.starts_with(told) {
            self.told = 0;
        }
        self.came = Text::default();
        self.is_held = false;
    }

    /// Decides whether the newest fragment stands for all, if that can be known.
    fn choose(&mut self) {
        let Some(resent) = self.resent.take() else {
            return;
        };
        #[cfg(test)]
        {
            self.looked_at += self.came.text.len() + resent.text.len();
        }
        if !can_be_json(&resent.text) {
            return;
        }
        if can_be_json(&self.came.text) {
            self.checked = self.came.text.len();
            self.resent = Some(resent);
        } else {
            self.checked = 0;
            self.came = resent;
        }
    }

    /// Decides it at the end.
    fn settle(&mut self) {
        if let Some(resent) = self.resent.take()
            && !is_json(&self.came.text)
            && is_json(&resent.text)
        {
            self.came = resent;
        }
        let end = self.once().len();
        self.came.text.truncate(end);
        self.is_held = false;
    }

    /// Returns what came, without the same value once more behind it.
    pub(super) fn once(&self) -> &str {
        let text = self.as_str();
        let end = self.is_held.then(|| end_of_first(text)).flatten();
        end.and_then(|end| text.get(..end)).unwrap_or(text)
    }

    /// Returns what a reader has not received yet, as far as it is sure.
    pub(super) fn tell(&mut self) -> String {
        if self.resent.is_some() || self.is_held || self.is_empty_object() {
            return String::new();
        }
        self.tell_all()
    }

    /// Returns what a reader has not received yet, when no more comes.
    pub(super) fn tell_rest(&mut self) -> String {
        self.settle();
        self.tell_all()
    }

    fn tell_all(&mut self) -> String {
        let told = mem::replace(&mut self.told, self.came.text.len());
        self.came.text.get(told..).unwrap_or_default().to_owned()
    }

    /// Returns the text as far as it came.
    pub(super) fn as_str(&self) -> &str {
        &self.came.text
    }

    /// Returns the whole text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.settle();
        self.came.text
    }

    /// Returns whether an object or list has begun, and has not ended.
    pub(super) const fn is_open(&self) -> bool {
        self.came.nesting.has_begun() && !self.came.nesting.is_whole()
    }

    /// Returns whether they are JSON, or say nothing.
    pub(super) fn are_complete(&self) -> bool {
        self.is_plain || self.is_nothing() || is_json(self.once())
    }

    /// Returns whether they are JSON, or its beginning.
    pub(super) fn can_be_json(&self) -> bool {
        can_be_json(self.once())
    }

    /// Returns whether they are a text of the tool's own.
    pub(super) const fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns whether an object or list has ended.
    pub(super) fn is_whole(&self) -> bool {
        let resent = self.resent.as_ref();
        self.came.nesting.is_whole() || resent.is_some_and(|text| text.nesting.is_whole())
    }

    pub(super) fn is_empty_object(&self) -> bool {
        !self.is_plain && self.came.nesting.is_empty_object()
    }

    /// Returns whether they say nothing.
    pub(super) fn is_nothing(&self) -> bool {
        self.came.nesting.is_blank() || self.is_empty_object()
    }

    /// Returns whether both say the same in the same letters.
    pub(super) fn are(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() || self.is_nothing() && other.is_nothing()
    }

    /// Returns whether a text is the same value, however it is written.
    pub(super) fn say(&self, said: &str) -> bool {
        // Nothing much longer is parsed, so that many texts cost no more than their bytes.
        if self.is_plain || self.as_str().len() > MOST_LONGER * said.len() {
            return self.as_str() == said;
        }
        let known = self.once();
        known == said || is_same_json(known, said)
    }
}

/// How many times longer than another the same value may be written.
const MOST_LONGER: usize = 8;

fn is_same_json(text: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<Value>(text).ok();
    read(text).is_some_and(|value| read(other) == Some(value))
}

/// Returns where the first value ends, if those behind it are the same.
fn end_of_first(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let first = values.next()?.ok()?;
    let end = values.byte_offset();
    let are_same = values.all(|value| value.is_ok_and(|value| value == first));
    are_same.then_some(end)
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok()
}

/// Returns whether more could follow that makes JSON of it, or it is some.
fn can_be_json(text: &str) -> bool {
    serde_json::from_str::<Value>(text).map_or_else(|error| error.is_eof(), |_| true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Returns the arguments that the fragments become, and what a reader received.
    fn read<'a>(fragments: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut arguments = Arguments::default();
        let mut told = String::new();
        for fragment in fragments {
            arguments.take(fragment);
            told += &arguments.tell();
        }
        told += &arguments.tell_rest();
        (arguments.finish(), told)
    }

    #[test]
    fn what_is_sent_again_counts_once() {
        for fragments in [
            &[r#"{"a""#, r#"{"a":1"#, r#"{"a":1}"#][..],
            &["{", r#"{""#, r#"{"a":"#, r#"{"a":"#, r#"{"a":1}"#],
            &[r#"{"a""#, ":1", "}", r#"{"a":1}"#],
            &[r#"{"a":1}"#, r#"{"a":1}"#, r#"{"a":1}"#],
            &[r#"{"a":"#, r#"{"a":1}"#],
            &["{}", r#"{"a":1}"#],
        ] {
            let one = r#"{"a":1}"#.to_owned();
            let fragments = fragments.iter().copied();
            assert_eq!(read(fragments), (one.clone(), one));
        }
    }

    #[test]
    fn what_is_sent_again_in_other_letters_counts_once() {
        for fragments in [
            &[r#"{"a":1}"#, r#"{"a": 1}"#][..],
            &[r#"{"a":"#, "1}", r#"{ "a""#, ": 1 }"],
            &[r#"{"a":1}"#, "\n", r#"{"a": 1}"#, r#" {"a" :1}"#],
        ] {
            let (all, told) = read(fragments.iter().copied());
            assert_eq!(all, r#"{"a":1}"#);
            assert_eq!(told.trim_end(), all);
        }
        for fragments in [
            &[r#"{"a":1}"#, r#"{"a": 2}"#][..],
            &[r#"{"a":1}"#, r#"{"a": "#],
        ] {
            let all = fragments.concat();
            assert_eq!(read(fragments.iter().copied()), (all.clone(), all));
        }
    }

    #[test]
    fn what_only_looks_like_it_is_not_sent_again() {
        for fragments in [
            &[r#"{"a":"#, r#"{"a":1}"#, "}"][..],
            &[r#"{"#, r#""{"#, r#"":1}"#],
            &[r#"{"a":"#, r#"{"a":"#, "1}", "}"],
            &["[", "[", "]", "]"],
            &["x{", "x{"],
        ] {
            let all = fragments.concat();
            assert_eq!(read(fragments.iter().copied()), (all.clone(), all));
        }
    }

    #[test]
    fn many_fragments_cost_no_more_than_their_bytes() {
        for fragment in ["1,", "[", r#"{"a":"#, " ", "{}", "\"", r#"["#, r#"{"a":["#] {
            let mut arguments = Arguments::default();
            for _ in 0..50_000 {
                arguments.take(fragment);
            }
            let bytes = 50_000 * fragment.len();
            let looked_at = arguments.looked_at;
            assert!(looked_at < 8 * bytes, "{fragment}: {looked_at}");
        }
    }

    proptest! {
        #[test]
        fn any_json_is_read_in_any_pieces(
            key in "[\\[{\"a]{0,4}", text in "[\\[{\"a:]{0,12}", depth in 0..4_usize, piece in 1..6_usize
        ) {
            let mut value = json!(text);
            for _ in 0..depth {
                value = json!({ &key: value });
            }
            let letters: Vec<char> = json!({ &key: [value] }).to_string().chars().collect();
            let once: String = letters.iter().collect();
            let pieces: Vec<String> = letters.chunks(piece).map(String::from_iter).collect();
            let read_once = read(pieces.iter().map(String::as_str));
            prop_assert_eq!(read_once, (once.clone(), once.clone()));

            let again: Vec<String> = (1..=pieces.len()).map(|end| pieces.iter().take(end).map(String::as_str).collect()).collect();
            let read_again = read(again.iter().map(String::as_str));
            prop_assert_eq!(read_again, (once.clone(), once));
        }
    }
}
