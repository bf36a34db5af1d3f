//! The stored size of a run.

use neuron_harness::http;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::{EngineName, site::Site};

/// The stored size of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct History {
    /// The number of rows, events or entries.
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

impl History {
    /// Returns the stored size of a run on its engine.
    pub(crate) fn of(site: &Site, run: &str) -> Self {
        match site.engine {
            EngineName::Local => journal(site, run),
            EngineName::Temporal => events(site, run),
            EngineName::Restate => entries(site, run),
        }
    }
}

fn journal(site: &Site, run: &str) -> History {
    const SIZES: &str = "
        SELECT count(*), coalesce(sum(bytes), 0) FROM (
            SELECT run, coalesce(length(label), 0) + coalesce(length(fingerprint), 0)
                + coalesce(length(events), 0) + coalesce(length(result), 0) AS bytes FROM entries
            UNION ALL
            SELECT run, length(label) + length(fingerprint) + coalesce(length(failure), 0)
                FROM attempts
        ) WHERE run = (SELECT run FROM runs WHERE run_id = ?1)";
    let file = site.home().join("neuron.db");
    let journal = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let row = journal.query_row(SIZES, [run], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    });
    let (entries, bytes) = row.unwrap();
    History {
        entries: entries.try_into().unwrap(),
        bytes: bytes.try_into().unwrap(),
    }
}

fn events(site: &Site, run: &str) -> History {
    let path = format!("GET /api/v1/namespaces/default/workflows/{run}");
    let answer = http::try_ask(&site.addresses().http, &path, "").unwrap();
    let described = http::json(&answer).unwrap();
    let info = &described["workflowExecutionInfo"];
    // Numbers of 64 bits are texts.
    let number = |key: &str| info[key].as_str().unwrap().parse().unwrap();
    History {
        entries: number("historyLength"),
        bytes: number("historySizeBytes"),
    }
}

fn entries(site: &Site, run: &str) -> History {
    let query = format!(
        "SELECT count(*) AS entries, sum(j.raw_length) AS bytes FROM sys_journal j \
         JOIN sys_invocation i ON i.id = j.id WHERE i.target_service_key = '{run}'"
    );
    let body = json!({"query": query}).to_string();
    let answer = http::try_ask(&site.addresses().http, "POST /query", &body).unwrap();
    let rows = http::json(&answer).unwrap();
    let number = |key: &str| rows["rows"][0][key].as_u64();
    History {
        entries: number("entries").expect("rows of the journal"),
        bytes: number("bytes").unwrap_or_default(),
    }
}

/// Returns the largest of these.
pub(crate) fn largest(histories: &[History]) -> History {
    let most = |of: fn(&History) -> u64| histories.iter().map(of).max().unwrap_or_default();
    History {
        entries: most(|history| history.entries),
        bytes: most(|history| history.bytes),
    }
}

/// Returns the size as figures.
pub(crate) fn figures(history: History) -> Value {
    json!({"entries": history.entries, "bytes": history.bytes})
}
