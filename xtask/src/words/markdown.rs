//! The words of Markdown outside of code.

use super::list::{Gap, Word};

/// What begins and ends a block of code.
const FENCES: [&str; 2] = ["```", "~~~"];

/// Signs that end a sentence.
const STOPS: [char; 5] = ['.', '?', '!', ';', ':'];

/// Returns the words of each paragraph of numbered lines. Code and the targets of links are left out.
pub(super) fn paragraphs<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<Vec<Word>> {
    let mut done = Vec::new();
    let mut open = Paragraph::default();
    let mut fence: Option<&str> = None;
    for (number, line) in lines {
        let start = line.trim_start();
        let mark = FENCES.into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(close)) if open == close => fence = None,
            (None, None) if !start.is_empty() => {
                open.read(number, line);
                continue;
            }
            _ => {}
        }
        done.push(std::mem::take(&mut open).words);
    }
    done.push(open.words);
    done.retain(|words| !words.is_empty());
    done
}

#[derive(Debug)]
struct Paragraph {
    words: Vec<Word>,
    /// The word that is being read.
    word: String,
    before: Gap,
    /// How many backticks opened the code that is being read. 0 outside of code.
    ticks: usize,
    /// Whether the target of a link is being read.
    is_target: bool,
}

impl Default for Paragraph {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            word: String::new(),
            before: Gap::Stop,
            ticks: 0,
            is_target: false,
        }
    }
}

impl Paragraph {
    fn read(&mut self, number: usize, line: &str) {
        let mut rest = line;
        while let Some(letter) = rest.chars().next() {
            if letter == '`' {
                let count = rest.len() - rest.trim_start_matches('`').len();
                self.end(number, Gap::Sign);
                match self.ticks {
                    0 => self.ticks = count,
                    open if open == count => self.ticks = 0,
                    _ => {}
                }
                rest = rest.get(count..).unwrap_or_default();
                continue;
            }
            if self.ticks > 0 {
                // Code is no prose.
            } else if self.is_target {
                self.is_target = letter != ')';
            } else if let Some(target) = rest.strip_prefix("](") {
                self.end(number, Gap::Sign);
                self.is_target = true;
                rest = target;
                continue;
            } else {
                self.take(number, letter);
            }
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
        self.end(number, Gap::Space);
    }

    fn take(&mut self, number: usize, letter: char) {
        match letter {
            '_' | '-' | '\'' => self.word.push(letter),
            '’' => self.word.push('\''),
            _ if letter.is_alphanumeric() => self.word.extend(letter.to_lowercase()),
            _ if letter.is_whitespace() => self.end(number, Gap::Space),
            _ if STOPS.contains(&letter) => self.end(number, Gap::Stop),
            _ => self.end(number, Gap::Sign),
        }
    }

    /// Ends the word that is being read, if there is one, at what follows it.
    fn end(&mut self, number: usize, gap: Gap) {
        let read = std::mem::take(&mut self.word);
        let text = read.trim_matches(['_', '-', '\'']);
        let text = text.strip_suffix("'s").unwrap_or(text);
        if !text.is_empty() {
            self.words.push(Word {
                line: number,
                text: text.to_owned(),
                before: self.before,
            });
            self.before = Gap::Space;
        } else if !read.is_empty() {
            self.before = self.before.max(Gap::Sign);
        }
        self.before = self.before.max(gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(page: &str) -> Vec<Vec<(usize, String)>> {
        let lines = page.lines().zip(1..).map(|(line, number)| (number, line));
        let of = |paragraph: Vec<Word>| {
            let words = paragraph.into_iter();
            words.map(|word| (word.line, word.text)).collect()
        };
        paragraphs(lines).into_iter().map(of).collect()
    }

    fn flat(page: &str) -> String {
        let words = words(page).into_iter().flatten();
        words.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn keeps_the_lines_of_a_paragraph_together() {
        let word = |line: usize, text: &str| (line, text.to_owned());
        let expected = [
            vec![word(1, "it"), word(2, "goes"), word(3, "on")],
            vec![word(5, "after")],
        ];
        assert_eq!(words("It\n  goes\non.\n\nAfter\n"), expected);
    }

    #[test]
    fn leaves_code_and_targets_out() {
        assert_eq!(flat("a `b` c ``d ` e`` f `g\nh` i"), "a c f i");
        assert_eq!(flat("[a `b`](c/d.md#e) f"), "a f");
        assert_eq!(flat("a\n```md\nb\n~~~\nc\n```\nd"), "a d");
    }

    #[test]
    fn sees_what_stands_between_words() {
        let lines = [(1, "a b, c. d `e` f - g _h_ nobody's")];
        let paragraphs = paragraphs(lines.into_iter());
        let gaps = paragraphs[0].iter().map(|word| word.before);
        let (space, sign, stop) = (Gap::Space, Gap::Sign, Gap::Stop);
        let expected = [stop, space, sign, stop, sign, sign, space, space];
        assert_eq!(gaps.collect::<Vec<_>>(), expected);
        assert_eq!(paragraphs[0][7].text, "nobody");
    }
}
