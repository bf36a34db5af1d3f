//! The book is checked as far as a compiler can: its Rust runs, and its agent files are valid.

/// Each page is the documentation of something here, so its examples are doctests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/src/introduction.md")]
    struct Introduction;

    #[doc = include_str!("../../../docs/src/concepts.md")]
    struct Concepts;

    #[doc = include_str!("../../../docs/src/running-locally.md")]
    struct RunningLocally;

    #[doc = include_str!("../../../docs/src/agent-file.md")]
    struct AgentFile;

    #[doc = include_str!("../../../docs/src/tools.md")]
    struct Tools;

    #[doc = include_str!("../../../docs/src/sandbox.md")]
    struct Sandbox;

    #[doc = include_str!("../../../docs/src/middleware.md")]
    struct Middleware;

    #[doc = include_str!("../../../docs/src/mcp.md")]
    struct Mcp;

    #[doc = include_str!("../../../docs/src/temporal.md")]
    struct Temporal;

    #[doc = include_str!("../../../docs/src/restate.md")]
    struct Restate;

    #[doc = include_str!("../../../docs/src/telemetry.md")]
    struct Telemetry;

    #[doc = include_str!("../../../docs/src/people.md")]
    struct People;

    #[doc = include_str!("../../../docs/src/signing.md")]
    struct Signing;

    #[doc = include_str!("../../../docs/src/trust.md")]
    struct Trust;

    #[doc = include_str!("../../../docs/src/retries.md")]
    struct Retries;

    #[doc = include_str!("../../../docs/src/client.md")]
    struct Client;

    #[doc = include_str!("../../../docs/src/trees.md")]
    struct Trees;

    #[doc = include_str!("../../../docs/src/guards.md")]
    struct Guards;

    #[doc = include_str!("../../../docs/src/own-workflow.md")]
    struct OwnWorkflow;

    #[doc = include_str!("../../../docs/src/testing.md")]
    struct Testing;

    #[doc = include_str!("../../../docs/src/versions.md")]
    struct Versions;
}

#[cfg(test)]
mod tests {
    use std::fs;

    use neuron_config::{AgentFile, ScriptModel};

    /// Returns the blocks of a page in this language.
    fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
        let fence = format!("```{language}\n");
        page.split(fence.as_str())
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap())
            .collect()
    }

    #[test]
    fn every_agent_file_in_the_book_is_valid() {
        // The files that they name exist, too.
        let folder = tempfile::tempdir().unwrap();
        let agents = folder.path().join("agents");
        fs::create_dir(&agents).unwrap();
        fs::write(agents.join("other.toml"), "[agents.other]").unwrap();
        for page in [
            include_str!("../../../docs/src/agent-file.md"),
            include_str!("../../../docs/src/guards.md"),
            include_str!("../../../docs/src/mcp.md"),
            include_str!("../../../docs/src/restate.md"),
            include_str!("../../../docs/src/sandbox.md"),
        ] {
            let files = blocks(page, "toml");
            assert!(!files.is_empty());
            for file in files {
                AgentFile::parse(file, folder.path().join("neuron.toml")).unwrap();
            }
        }
    }

    #[test]
    fn every_script_in_the_book_is_one() {
        for (page, count) in [
            (include_str!("../../../docs/src/agent-file.md"), 1),
            (include_str!("../../../docs/src/restate.md"), 1),
            (include_str!("../../../docs/src/testing.md"), 2),
        ] {
            let scripts = blocks(page, "json").into_iter();
            let scripts: Vec<&str> = scripts.filter(|json| json.contains("\"turns\"")).collect();
            assert_eq!(scripts.len(), count);
            for script in scripts {
                ScriptModel::parse(script).unwrap();
            }
        }
    }

    #[test]
    fn every_json_in_the_book_is_json() {
        let page = include_str!("../../../docs/src/running-locally.md");
        let values = blocks(page, "json");
        assert!(!values.is_empty());
        for value in values {
            serde_json::from_str::<serde_json::Value>(value).unwrap();
        }
    }
}
