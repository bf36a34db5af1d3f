use std::{
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use globset::{GlobBuilder, GlobMatcher};
use neuron_types::{Tool, ToolContext, ToolDefinition, ToolError};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{
    BuiltinOptions,
    builtin::definition::reader,
    builtin::files::blocking::{blocking, check},
    builtin::files::error::cannot,
    builtin::files::open::{self, look},
    builtin::files::root::Root,
    builtin::files::walk::{files, unreadable_note},
    builtin::text::LimitedLines,
    text::first_chars,
};

/// How much of a matching line is shown: minified files have one line.
const MAX_LINE_CHARS: usize = 500;
/// How much of a file is looked at to find out whether it is binary.
const BINARY_CHECK_BYTES: usize = 8 * 1024;

/// `grep`: the lines of files that match a regular expression.
///
/// One `path:line: text` a match, sorted by path, paths relative to the working directory. Hidden, binary
/// and very large files, links and what `.gitignore` names are left out.
#[derive(Debug, Clone)]
pub struct Grep {
    options: Arc<BuiltinOptions>,
}

/// The arguments of [`Grep`].
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepArgs {
    /// The regular expression, in the syntax of Rust and RE2. It is matched against one line at a time.
    pub pattern: String,
    /// The directory or file to search, relative to the working directory. Default is the working
    /// directory.
    #[serde(default)]
    #[schemars(extend("format" = "path"))]
    pub path: Option<String>,
    /// Only files that match this pattern: `*.rs` for names, `src/**/*.rs` for paths relative to `path`.
    #[serde(default)]
    pub glob: Option<String>,
    /// Take upper and lower case for the same. Default is false.
    #[serde(default)]
    pub ignore_case: bool,
}

impl Grep {
    /// Makes the tool with these options.
    pub fn new(options: impl Into<Arc<BuiltinOptions>>) -> Self {
        Self {
            options: options.into(),
        }
    }
}

impl Tool for Grep {
    const NAME: &'static str = "grep";
    type Args = GrepArgs;
    type Output = String;
    type Error = ToolError;

    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Searches files for lines that match a regular expression: one path:line: text a match, \
             sorted by path, at most {}. Hidden files, binary files and what .gitignore names are left \
             out.",
            self.options.max_entries
        );
        reader::<GrepArgs>(Self::NAME, "Search files", description)
    }

    async fn call(&self, args: GrepArgs, ctx: &ToolContext) -> Result<String, ToolError> {
        let options = Arc::clone(&self.options);
        let cwd = ctx.cwd.clone();
        blocking(ctx, move |stop| {
            let root = Root::new(&cwd, &options)?;
            grep(&root, &args, &options, stop)
        })
        .await
    }
}

fn grep(
    root: &Root,
    args: &GrepArgs,
    options: &BuiltinOptions,
    stop: &CancellationToken,
) -> Result<String, ToolError> {
    let pattern = RegexBuilder::new(&args.pattern)
        .case_insensitive(args.ignore_case)
        .build()
        .map_err(|error| ToolError::ModelRetry(format!("{error}; mend the pattern")))?;
    let filter = args.glob.as_deref().map(Filter::new).transpose()?;
    let path = args.path.as_deref().unwrap_or(".");
    let start = root.existing(path)?;
    let mut search = Search {
        root,
        pattern,
        limit: options.max_file_bytes,
        lines: LimitedLines::new(options.max_entries, options.max_output_bytes),
        buffer: Vec::new(),
        found: false,
        too_large: 0,
    };
    let mut more = false;
    let start_is_dir = look(&start).map_err(cannot("open", path))?.is_dir();
    let base = if start_is_dir {
        Some(start.as_path())
    } else {
        start.parent()
    };
    let unreadable = files(root, &start, stop, |file| {
        let inside = base
            .and_then(|base| file.strip_prefix(base).ok())
            .unwrap_or(file);
        let accepted = filter.as_ref().is_none_or(|filter| filter.accepts(inside));
        if accepted {
            more = !search.file(file, stop)?;
        }
        Ok(!more)
    })?;
    let mut notes = Vec::new();
    if more {
        notes.push("there are more; use a narrower pattern, a path or a glob".to_owned());
    } else if !search.found {
        notes.push("no line matches".to_owned());
    }
    if search.too_large > 0 {
        notes.push(format!(
            "{} files of more than {} bytes were not searched",
            search.too_large, options.max_file_bytes
        ));
    }
    notes.extend(unreadable_note(unreadable));
    Ok(search.lines.finish(&notes))
}

/// Which files are searched.
struct Filter {
    matcher: GlobMatcher,
    names_only: bool,
}

impl Filter {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let matcher = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| ToolError::ModelRetry(format!("{error}; mend the glob")))?
            .compile_matcher();
        Ok(Self {
            matcher,
            names_only: !pattern.contains('/'),
        })
    }

    fn accepts(&self, path: &Path) -> bool {
        let subject = match path.file_name() {
            Some(name) if self.names_only => Path::new(name),
            _ => path,
        };
        self.matcher.is_match(subject)
    }
}

struct Search<'a> {
    root: &'a Root,
    pattern: Regex,
    limit: u64,
    lines: LimitedLines,
    /// The file that is searched; kept for its memory.
    buffer: Vec<u8>,
    found: bool,
    too_large: usize,
}

impl Search<'_> {
    /// Returns false if a match found no room.
    fn file(&mut self, path: &Path, stop: &CancellationToken) -> Result<bool, ToolError> {
        match self.load(path) {
            Ok(true) => {}
            // A file that vanished or may not be read is passed over, as the walk does.
            Ok(false) | Err(_) => return Ok(true),
        }
        let content = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let mut shown_path = None;
        for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
            if index % 4096 == 4095 {
                check(stop)?;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !self.pattern.is_match(line) {
                continue;
            }
            self.found = true;
            let shown_path = shown_path.get_or_insert_with(|| self.root.show(path));
            let text = String::from_utf8_lossy(line);
            let text = first_chars(&text, MAX_LINE_CHARS);
            if !self
                .lines
                .push(&format!("{shown_path}:{}: {text}", index + 1))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads a file into the buffer. Returns false if the file is empty, binary or too large.
    fn load(&mut self, path: &Path) -> io::Result<bool> {
        self.buffer.clear();
        let mut file = open::file(path)?;
        let start = BINARY_CHECK_BYTES as u64;
        file.by_ref().take(start).read_to_end(&mut self.buffer)?;
        if self.buffer.is_empty() || self.buffer.contains(&0) {
            return Ok(false);
        }
        let rest = self
            .limit
            .saturating_add(1)
            .saturating_sub(self.buffer.len() as u64);
        file.take(rest).read_to_end(&mut self.buffer)?;
        if self.buffer.len() as u64 > self.limit {
            self.too_large += 1;
            return Ok(false);
        }
        Ok(true)
    }
}
