//! What is read of a server's list of tools, page by page, to its end or to where it is cut off.

use std::collections::BTreeSet;

use rmcp::model::Tool;

use crate::{LeftOut, PaginatedList};

/// How many pages of a list are read.
const MAX_PAGES: usize = 100;
/// How many tools of one server are read.
const MAX_TOOLS: usize = 1000;
/// How many bytes they may have together, as JSON.
const MAX_LIST_BYTES: usize = 16 * 1024 * 1024;

/// The pages so far.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) tools: Vec<Tool>,
    /// What the pages held that cannot be read.
    pub(crate) left_out: Vec<LeftOut>,
    /// Why there is no more, if it was not the end.
    pub(crate) cut_off: Option<LeftOut>,
    last_page: Vec<Tool>,
    cursors: BTreeSet<String>,
    pages: usize,
    size: usize,
}

impl Listed {
    /// Takes the page that was asked for with `cursor`. The cursor to the next one, if it is to be read.
    pub(crate) fn take(
        &mut self,
        page: PaginatedList<Tool>,
        cursor: Option<String>,
    ) -> Option<String> {
        // Some servers lead to the same page under ever new cursors.
        let is_the_last = !page.items.is_empty() && page.items == self.last_page;
        if let Some(cursor) = cursor {
            // One that means the end by an empty cursor may answer it so.
            let means_end = cursor.is_empty();
            self.cursors.insert(cursor);
            if is_the_last {
                return match means_end {
                    true => None,
                    false => self.leads_back(),
                };
            }
        }
        self.pages += 1;
        self.size = self.size.saturating_add(size(&page.items));
        if self.size > MAX_LIST_BYTES {
            return self.cut(
                "further tools",
                &format!("the list has more than {MAX_LIST_BYTES} bytes"),
            );
        }
        self.last_page.clone_from(&page.items);
        self.tools.extend(page.items);
        self.left_out.extend(page.left_out);
        let further = self.tools.len().saturating_sub(MAX_TOOLS);
        self.tools.truncate(MAX_TOOLS);
        let is_full = self.tools.len() == MAX_TOOLS && page.next_cursor.is_some();
        if further > 0 || is_full {
            let name = match is_full {
                true => "further tools".to_owned(),
                false => format!("{further} more"),
            };
            return self.cut(&name, &format!("the list has more than {MAX_TOOLS} tools"));
        }
        let next = page.next_cursor?;
        if self.cursors.contains(&next) {
            return self.leads_back();
        }
        if self.pages == MAX_PAGES {
            return self.cut(
                "further pages",
                &format!("the list has more than {MAX_PAGES} pages"),
            );
        }
        Some(next)
    }

    fn leads_back(&mut self) -> Option<String> {
        let reason = "a page of the list leads to one that was read already: if there are more, they cannot be reached";
        self.cut("further pages", reason)
    }

    fn cut(&mut self, what: &str, reason: &str) -> Option<String> {
        self.cut_off = Some(LeftOut {
            name: format!("({what})"),
            reason: reason.to_owned(),
        });
        None
    }
}

fn size(items: &[Tool]) -> usize {
    serde_json::to_vec(items).map_or(usize::MAX, |json| json.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(names: std::ops::Range<usize>, next: Option<&str>) -> PaginatedList<Tool> {
        let tool = |n: usize| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}});
        PaginatedList {
            items: names
                .map(|n| serde_json::from_value(tool(n)).unwrap())
                .collect(),
            next_cursor: next.map(str::to_owned),
            left_out: Vec::new(),
        }
    }

    /// What is listed of a server that answers so, and after how many questions.
    fn list(answer: impl Fn(Option<&str>) -> PaginatedList<Tool>) -> (Listed, usize) {
        let mut listed = Listed::default();
        let (mut cursor, mut asked) = (None, 0);
        loop {
            asked += 1;
            let page = answer(cursor.as_deref());
            match listed.take(page, cursor) {
                Some(next) => cursor = Some(next),
                None => return (listed, asked),
            }
        }
    }

    fn reason(listed: &Listed) -> &str {
        &listed.cut_off.as_ref().unwrap().reason
    }

    #[test]
    fn pages_are_read_to_their_end() {
        let (listed, asked) = list(|cursor| match cursor {
            None => page(0..2, Some("b")),
            Some("b") => page(2..3, Some("c")),
            _ => page(3..3, None),
        });
        assert_eq!((listed.tools.len(), asked), (3, 3));
        assert!(listed.cut_off.is_none());
    }

    #[test]
    fn a_page_that_leads_back_ends_the_list_with_what_there_is() {
        // To itself, with what it held or with nothing.
        let (listed, asked) = list(|_| page(0..2, Some("a")));
        assert_eq!((listed.tools.len(), asked), (2, 2));
        assert!(reason(&listed).contains("leads to one that was read"));
        let (listed, _) = list(|cursor| match cursor {
            None => page(0..2, Some("a")),
            _ => page(0..0, Some("a")),
        });
        assert_eq!(listed.tools.len(), 2);
        assert!(listed.cut_off.is_some());
        // In a circle.
        let (listed, asked) = list(|cursor| match cursor {
            None => page(0..1, Some("a")),
            Some("a") => page(1..2, Some("b")),
            _ => page(2..3, Some("a")),
        });
        assert_eq!((listed.tools.len(), asked), (3, 3));
        assert!(listed.cut_off.is_some());
    }

    #[test]
    fn the_same_page_under_ever_new_cursors_is_read_once() {
        let (listed, asked) = list(|cursor| {
            let next = format!("{}x", cursor.unwrap_or_default());
            page(0..2, Some(&next))
        });
        assert_eq!((listed.tools.len(), asked), (2, 2));
        assert!(listed.cut_off.is_some());
    }

    #[test]
    fn of_a_list_without_end_the_first_ones_are_kept() {
        let start = |cursor: Option<&str>| cursor.map_or(0, |it| it.parse::<usize>().unwrap());
        let by = |each: usize| {
            list(move |cursor| {
                let at = start(cursor);
                page(at..at + each, Some(&(at + each).to_string()))
            })
        };
        let (listed, asked) = by(1);
        assert_eq!((listed.tools.len(), asked), (100, 100));
        assert_eq!(reason(&listed), "the list has more than 100 pages");
        let (listed, asked) = by(400);
        assert_eq!((listed.tools.len(), asked), (1000, 3));
        assert_eq!(reason(&listed), "the list has more than 1000 tools");
        let (listed, _) = list(|_| page(0..1003, None));
        assert_eq!(listed.tools.len(), 1000);
        assert_eq!(listed.cut_off.unwrap().name, "(3 more)");
        let (listed, _) = list(|_| page(0..1000, None));
        assert!(listed.cut_off.is_none());
    }

    #[test]
    fn a_page_too_large_is_not_kept_and_those_before_it_are() {
        let (listed, _) = list(|cursor| {
            let mut page = page(0..1, Some("b"));
            if cursor.is_some() {
                page.items[0].description = Some("x".repeat(MAX_LIST_BYTES).into());
            }
            page
        });
        assert_eq!(listed.tools.len(), 1);
        assert!(reason(&listed).contains("bytes"));
    }
}
