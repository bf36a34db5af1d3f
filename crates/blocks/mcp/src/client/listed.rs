//! What is read of a server's lists, page by page, to their end or to where they are cut off.

use std::collections::BTreeSet;

use futures::future::BoxFuture;
use serde::Serialize;

use crate::{LeftOut, McpError, PaginatedList, wire::harmless::shown};

/// How many pages of a list are read.
const MAX_PAGES: usize = 100;
/// How many entries of one list are read.
const MAX_ENTRIES: usize = 1000;
/// How many bytes they may have together, as JSON.
const MAX_LIST_BYTES: usize = 16 * 1024 * 1024;
/// How much of an error is shown with what it cost.
const MAX_REASON_CHARS: usize = 500;

/// The pages so far.
#[derive(Debug)]
pub(crate) struct Listed<T> {
    /// What it is a list of.
    what: &'static str,
    pub(crate) items: Vec<T>,
    /// What the pages held that cannot be read.
    pub(crate) left_out: Vec<LeftOut>,
    /// Why there is no more, if it was not the end.
    pub(crate) cut_off: Option<LeftOut>,
    last_page: Vec<T>,
    cursors: BTreeSet<String>,
    pages: usize,
    size: usize,
}

impl<T: Serialize + PartialEq + Clone> Listed<T> {
    pub(crate) const fn of(what: &'static str) -> Self {
        Self {
            what,
            items: Vec::new(),
            left_out: Vec::new(),
            cut_off: None,
            last_page: Vec::new(),
            cursors: BTreeSet::new(),
            pages: 0,
            size: 0,
        }
    }

    /// Reads all pages. `page` asks for the one of a cursor. An error after the first one ends the list there.
    pub(crate) async fn read<'a>(
        what: &'static str,
        page: impl Fn(Option<String>) -> BoxFuture<'a, Result<PaginatedList<T>, McpError>>,
    ) -> Result<Self, McpError> {
        let mut listed = Self::of(what);
        let mut cursor = None;
        loop {
            let next = match page(cursor.clone()).await {
                Ok(page) => listed.take(page, cursor),
                Err(error) if listed.pages > 0 => listed.breaks_off(&error),
                Err(error) => return Err(error),
            };
            match next {
                Some(next) => cursor = Some(next),
                None => return Ok(listed),
            }
        }
    }

    /// Takes the page that was asked for with `cursor`. Returns the cursor to the next one, if it is to be read.
    pub(crate) fn take(
        &mut self,
        page: PaginatedList<T>,
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
            let name = format!("further {}", self.what);
            return self.cut(
                &name,
                &format!("the list has more than {MAX_LIST_BYTES} bytes"),
            );
        }
        self.last_page.clone_from(&page.items);
        self.items.extend(page.items);
        self.left_out.extend(page.left_out);
        let further = self.items.len().saturating_sub(MAX_ENTRIES);
        self.items.truncate(MAX_ENTRIES);
        let is_full = self.items.len() == MAX_ENTRIES && page.next_cursor.is_some();
        if further > 0 || is_full {
            let name = match is_full {
                true => format!("further {}", self.what),
                false => format!("{further} more"),
            };
            let reason = format!("the list has more than {MAX_ENTRIES} {}", self.what);
            return self.cut(&name, &reason);
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

    fn breaks_off(&mut self, error: &McpError) -> Option<String> {
        let reason = format!("the list breaks off: {error}");
        self.cut("further pages", &shown(&reason, MAX_REASON_CHARS))
    }

    fn cut(&mut self, what: &str, reason: &str) -> Option<String> {
        self.cut_off = Some(LeftOut {
            name: format!("({what})"),
            reason: reason.to_owned(),
        });
        None
    }
}

fn size<T: Serialize>(items: &[T]) -> usize {
    serde_json::to_vec(items).map_or(usize::MAX, |json| json.len())
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use rmcp::model::Tool;
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

    /// Returns what is listed of a server that answers so, and after how many questions.
    fn list(answer: impl Fn(Option<&str>) -> PaginatedList<Tool>) -> (Listed<Tool>, usize) {
        let mut listed = Listed::of("tools");
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

    fn reason(listed: &Listed<Tool>) -> &str {
        &listed.cut_off.as_ref().unwrap().reason
    }

    #[test]
    fn pages_are_read_to_their_end() {
        let (listed, asked) = list(|cursor| match cursor {
            None => page(0..2, Some("b")),
            Some("b") => page(2..3, Some("c")),
            _ => page(3..3, None),
        });
        assert_eq!((listed.items.len(), asked), (3, 3));
        assert!(listed.cut_off.is_none());
    }

    #[test]
    fn a_page_that_leads_back_ends_the_list_with_what_there_is() {
        // To itself, with what it held or with nothing.
        let (listed, asked) = list(|_| page(0..2, Some("a")));
        assert_eq!((listed.items.len(), asked), (2, 2));
        assert!(reason(&listed).contains("leads to one that was read"));
        let (listed, _) = list(|cursor| match cursor {
            None => page(0..2, Some("a")),
            _ => page(0..0, Some("a")),
        });
        assert_eq!(listed.items.len(), 2);
        assert!(listed.cut_off.is_some());
        // In a circle.
        let (listed, asked) = list(|cursor| match cursor {
            None => page(0..1, Some("a")),
            Some("a") => page(1..2, Some("b")),
            _ => page(2..3, Some("a")),
        });
        assert_eq!((listed.items.len(), asked), (3, 3));
        assert!(listed.cut_off.is_some());
    }

    #[test]
    fn the_same_page_under_ever_new_cursors_is_read_once() {
        let (listed, asked) = list(|cursor| {
            let next = format!("{}x", cursor.unwrap_or_default());
            page(0..2, Some(&next))
        });
        assert_eq!((listed.items.len(), asked), (2, 2));
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
        assert_eq!((listed.items.len(), asked), (100, 100));
        assert_eq!(reason(&listed), "the list has more than 100 pages");
        let (listed, asked) = by(400);
        assert_eq!((listed.items.len(), asked), (1000, 3));
        assert_eq!(reason(&listed), "the list has more than 1000 tools");
        let (listed, _) = list(|_| page(0..1003, None));
        assert_eq!(listed.items.len(), 1000);
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
        assert_eq!(listed.items.len(), 1);
        assert!(reason(&listed).contains("bytes"));
    }

    fn lost() -> McpError {
        McpError::Lost {
            server: "s".to_owned(),
            reason: "it \u{1b} ended".to_owned(),
        }
    }

    #[tokio::test]
    async fn an_error_after_the_first_page_keeps_what_came_and_says_that_there_is_more() {
        let listed = Listed::read("tools", |cursor| {
            let page = match cursor.as_deref() {
                None => Ok(page(0..2, Some("b"))),
                Some("b") => Ok(page(2..3, Some("c"))),
                _ => Err(lost()),
            };
            async { page }.boxed()
        });
        let listed = listed.await.unwrap();
        assert_eq!(listed.items.len(), 3);
        assert_eq!(listed.cut_off.as_ref().unwrap().name, "(further pages)");
        let why =
            "the list breaks off: the MCP server s was lost before it answered: it \u{fffd} ended";
        assert_eq!(reason(&listed), why);
    }

    #[tokio::test]
    async fn an_error_of_the_first_page_is_one_of_the_list() {
        let listed = Listed::<Tool>::read("tools", |_| async { Err(lost()) }.boxed());
        assert!(matches!(listed.await, Err(McpError::Lost { .. })));
    }
}
