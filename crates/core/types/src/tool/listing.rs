//! The servers and names of many tools, in little room.

use std::collections::BTreeSet;

use crate::{ToolDefinition, json_bytes};

/// What stands where not all names of a server do.
const MORE: &str = ", …";

/// The tools of one server, or those of none.
struct Group<'a> {
    server: Option<&'a str>,
    names: Vec<&'a str>,
}

/// Returns how many tools these are, their servers, and their names, as far as they take no more than this number of
/// bytes in a JSON text.
///
/// All servers come before any name, and the first name of each before the second of any.
pub(crate) fn listing(tools: &[&ToolDefinition], room: usize) -> String {
    let groups = groups(tools);
    let intro = format!(
        " There are {}; the name of a tool is SERVER__NAME.",
        tools.len()
    );
    let Some(mut room) = room.checked_sub(length(&intro)) else {
        return String::new();
    };
    let headings: Vec<String> = groups.iter().map(Group::heading).collect();
    let mut shown = Vec::new();
    // Each may need to say that there is more.
    for (group, heading) in groups.iter().zip(&headings) {
        let Some(left) = room.checked_sub(length(heading) + MORE.len()) else {
            break;
        };
        room = left;
        shown.push((group, heading));
    }
    let hidden = groups.len() - shown.len();
    let mut named = BTreeSet::new();
    let longest = shown.iter().map(|(group, _)| group.names.len()).max();
    'rounds: for nth in 0..longest.unwrap_or_default() {
        for (at, (group, _)) in shown.iter().enumerate() {
            let Some(name) = group.names.get(nth) else {
                continue;
            };
            let Some(left) = room.checked_sub(length(name) + ", ".len()) else {
                break 'rounds;
            };
            room = left;
            named.insert((at, nth));
        }
    }
    let mut text = intro;
    for (at, (group, heading)) in shown.iter().enumerate() {
        text.push_str(heading);
        let names = group.names.iter().enumerate();
        let names: Vec<&str> = names
            .filter(|(nth, _)| named.contains(&(at, *nth)))
            .map(|(_, name)| *name)
            .collect();
        if !names.is_empty() {
            text.push_str(": ");
            text.push_str(&names.join(", "));
            if names.len() < group.names.len() {
                text.push_str(MORE);
            }
        }
    }
    let more = format!("\nand {hidden} other servers");
    if hidden > 0 && length(&more) <= room {
        text.push_str(&more);
    }
    text
}

impl Group<'_> {
    fn heading(&self) -> String {
        let count = self.names.len();
        match self.server {
            Some(server) => format!("\n{server} ({count})"),
            None => format!("\nof no server, without SERVER__ ({count})"),
        }
    }
}

/// The tools by their servers, in the order in which these come first.
fn groups<'a>(tools: &[&'a ToolDefinition]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for tool in tools {
        let server = tool.server();
        let name = tool.own_name();
        match groups.iter_mut().find(|group| group.server == server) {
            Some(group) => group.names.push(name),
            None => groups.push(Group {
                server,
                names: vec![name],
            }),
        }
    }
    groups
}

/// Returns how many bytes a text takes within a JSON text.
fn length(text: &str) -> usize {
    json_bytes(text).unwrap_or(usize::MAX).saturating_sub(2)
}
