use crate::KEY;

/// A line of a table of errors.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) code: &'static str,
    /// The name of the kind of failure.
    pub(crate) failure: &'static str,
    pub(crate) again: bool,
    pub(crate) message: String,
    /// The message as it is quoted.
    pub(crate) quoted: String,
}

/// The lines of a table whose errors have a status, or those without one.
pub(crate) fn rows(table: &'static str, with_status: bool) -> impl Iterator<Item = Row> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(move |line| {
        let (columns, message) = match line.split_once('|') {
            Some((columns, message)) => (columns, message.trim().to_owned()),
            None => (line, format!("why, {KEY}")),
        };
        let mut columns = columns.split_whitespace().map(|name| match name {
            "-" => "",
            name => name,
        });
        let status = match with_status {
            true => columns.next().unwrap().parse().unwrap(),
            false => 200,
        };
        let [kind, code, failure, verdict] = [(); 4].map(|()| columns.next().unwrap());
        assert!(["again", "final"].contains(&verdict), "{line}");
        assert_eq!(columns.next(), None, "{line}");
        let words: Vec<_> = message.split_whitespace().collect();
        Row {
            status,
            kind,
            code,
            failure,
            again: verdict == "again",
            quoted: words.join(" ").replace(KEY, "[redacted]"),
            message,
        }
    })
}
