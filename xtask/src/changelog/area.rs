//! The areas that the changelog is divided into.

/// An area: a part of the project as its users know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Area {
    /// The prefix of a fragment's name.
    pub(crate) slug: &'static str,
    /// The heading in the changelog.
    pub(crate) heading: &'static str,
}

const fn area(slug: &'static str, heading: &'static str) -> Area {
    Area { slug, heading }
}

/// All areas, in the order in which a release has them.
pub(crate) const ALL: [Area; 10] = [
    area("run", "Run"),
    area("approve", "Approve"),
    area("tools", "Tools"),
    area("trees", "Trees"),
    area("providers", "Providers"),
    area("mcp", "MCP"),
    area("temporal", "Temporal"),
    area("restate", "Restate"),
    area("library", "Library"),
    area("operating", "Operating"),
];

impl Area {
    /// Returns the area of a fragment's name.
    pub(crate) fn of_slug(slug: &str) -> Option<Self> {
        ALL.into_iter().find(|area| area.slug == slug)
    }

    /// Returns the place of a heading in the order of all areas.
    pub(crate) fn rank(heading: &str) -> Option<usize> {
        ALL.iter().position(|area| area.heading == heading)
    }
}

/// Returns the slugs of all areas, for messages.
pub(crate) fn slugs() -> String {
    ALL.map(|area| area.slug).join(", ")
}

/// Returns the headings of all areas, for messages.
pub(crate) fn headings() -> String {
    ALL.map(|area| area.heading).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_all_in_the_instructions() {
        let instructions = include_str!("../../../changelog.d/README.md");
        for area in ALL {
            let name = format!("`{}`", area.slug);
            assert!(instructions.contains(&name), "{name}");
        }
    }
}
