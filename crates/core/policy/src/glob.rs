//! Patterns with `*` for any characters and `?` for one.

/// A part of a command line. Some of it may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    Char(char),
    /// What stands between two words.
    Gap,
    /// Any text, or none: what the shell makes of a variable or of `*`.
    Unknown,
}

/// How a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// A `*` that is part of a word stays in it, unless it ends the pattern. A blank stands between words only. What is
    /// not known fits a `*` only.
    Narrow,
    /// A `*` stands for any characters. What is not known fits a `*` only.
    Wide,
    /// As wide, and what is not known may be whatever the pattern says.
    Possible,
}

/// Returns whether the whole text fits a pattern. Takes at most the product of their lengths.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let line: Vec<Piece> = text.chars().map(Piece::Char).collect();
    fits_line(pattern, &line, Reach::Wide)
}

/// Returns whether the whole line fits a pattern. Takes at most the product of their lengths.
pub(crate) fn fits_line(pattern: &str, line: &[Piece], reach: Reach) -> bool {
    // By the length of the part of the line: whether it fits the part of the pattern so far.
    let mut fitting = vec![false; line.len() + 1];
    if let Some(first) = fitting.first_mut() {
        *first = true;
    }
    leave_out_unknown(&mut fitting, line, reach);
    let mut before = None;
    let mut rest = pattern.chars().peekable();
    while let Some(wanted) = rest.next() {
        let after = rest.peek().copied();
        let is_alone = before.is_none_or(|c| c == ' ') && after.is_none_or(|c| c == ' ');
        let spans_words = reach != Reach::Narrow || is_alone || after.is_none();
        let mut next = match wanted {
            '*' => after_star(&fitting, line, |piece| spans_words || piece != Piece::Gap),
            wanted => after_one(&fitting, line, reach, |piece| {
                stands_for(wanted, piece, reach)
            }),
        };
        leave_out_unknown(&mut next, line, reach);
        fitting = next;
        before = Some(wanted);
    }
    fitting.last().copied().unwrap_or_default()
}

/// Returns whether a character of a pattern, but `*`, stands for this piece.
fn stands_for(wanted: char, piece: Piece, reach: Reach) -> bool {
    match (wanted, piece) {
        (_, Piece::Unknown) => false,
        ('?', Piece::Gap) => reach != Reach::Narrow,
        ('?', Piece::Char(_)) => true,
        (' ', Piece::Char(' ')) => reach != Reach::Narrow,
        (wanted, Piece::Gap) => wanted == ' ',
        (wanted, Piece::Char(found)) => wanted == found,
    }
}

fn after_star(fitting: &[bool], line: &[Piece], takes: impl Fn(Piece) -> bool) -> Vec<bool> {
    let pieces = std::iter::once(None).chain(line.iter().copied().map(Some));
    let mut fits = false;
    let longer = fitting.iter().zip(pieces);
    longer
        .map(|(here, piece)| {
            fits = *here || (fits && piece.is_some_and(&takes));
            fits
        })
        .collect()
}

fn after_one(
    fitting: &[bool],
    line: &[Piece],
    reach: Reach,
    takes: impl Fn(Piece) -> bool,
) -> Vec<bool> {
    let pieces = std::iter::once(None).chain(line.iter().copied().map(Some));
    let following = line.iter().copied().map(Some).chain([None]);
    let mut before = false;
    let longer = fitting.iter().zip(pieces).zip(following);
    longer
        .map(|((here, piece), next)| {
            // What is not known may have this character, and more.
            let is_in_unknown = reach == Reach::Possible && *here && next == Some(Piece::Unknown);
            let fits = is_in_unknown || (before && piece.is_some_and(&takes));
            before = *here;
            fits
        })
        .collect()
}

/// What is not known may be nothing more.
fn leave_out_unknown(fitting: &mut [bool], line: &[Piece], reach: Reach) {
    if reach != Reach::Possible {
        return;
    }
    let pieces = std::iter::once(None).chain(line.iter().copied().map(Some));
    let mut before = false;
    for (here, piece) in fitting.iter_mut().zip(pieces) {
        *here = *here || (before && piece == Some(Piece::Unknown));
        before = *here;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<Piece> {
        let piece = |c| match c {
            '_' => Piece::Gap,
            '$' => Piece::Unknown,
            c => Piece::Char(c),
        };
        text.chars().map(piece).collect()
    }

    #[test]
    fn a_star_inside_a_word_stays_in_it_where_the_pattern_is_narrow() {
        for (pattern, text, narrow, wide) in [
            ("a b*", "a_b", true, true),
            ("a b*", "a_bc_d", true, true),
            ("a b *", "a_b", false, false),
            ("a b *", "a_b_c_d", true, true),
            ("a * d", "a_b_c_d", true, true),
            ("a b* d", "a_bc_d", true, true),
            ("a b* d", "a_b_c_d", false, true),
            ("a b", "a b", false, true),
            ("a?b", "a_b", false, true),
            ("a $", "a_$", false, false),
            ("a *", "a_$", true, true),
            ("a b*", "a_$", false, false),
        ] {
            let line = line(text);
            let found = |reach| fits_line(pattern, &line, reach);
            assert_eq!(found(Reach::Narrow), narrow, "{pattern} {text}");
            assert_eq!(found(Reach::Wide), wide, "{pattern} {text}");
        }
    }

    #[test]
    fn what_is_not_known_may_be_anything() {
        for (pattern, text, expected) in [
            ("git push*", "git_$", true),
            ("git push*", "git$push", true),
            ("git push*", "g$", true),
            ("git push*", "$", true),
            ("git push*", "git_log$", false),
            ("git push", "git_push$", true),
            ("git push", "git_push_$", false),
            ("?", "$", true),
            ("", "$", true),
            ("ab", "$b$", true),
            ("ab", "$c", false),
        ] {
            let found = fits_line(pattern, &line(text), Reach::Possible);
            assert_eq!(found, expected, "{pattern} {text}");
        }
    }
}
