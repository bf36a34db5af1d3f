//! `neuron doctor`

use neuron_config::{Examined, Finding, MAX_REQUESTS};
use neuron_types::TokenUsage;
use serde::Serialize;

use crate::{
    CliError, Exit,
    args::DoctorArgs,
    session::Session,
    terminal::{output::note, shown},
};

/// The findings, in `--json` output.
#[derive(Debug, Serialize)]
struct Report<'a> {
    provider: &'a str,
    model: &'a str,
    /// Whether agents work with the server with the current settings.
    ok: bool,
    checks: &'a [Finding],
    /// The lines that belong into the provider's table.
    settings: &'a [String],
    requests: usize,
    usage: &'a TokenUsage,
}

pub(crate) async fn doctor(session: &Session, args: &DoctorArgs) -> Result<Exit, CliError> {
    let file = session.agent_file().await?;
    let options = session.open_options()?;
    let checkup = file.checkup(&args.provider, args.model.as_deref(), options)?;
    let server = checkup.server();
    note(&format!(
        "asking {}/{}{} at most {MAX_REQUESTS} small requests, which its server may charge for",
        shown::line(&args.provider),
        shown::line(checkup.model()),
        server
            .map(|at| format!(" at {}", shown::line(&at)))
            .unwrap_or_default(),
    ));
    let output = session.output;
    let mut written = Ok(());
    let examined = checkup
        .examine(args.timeout, |finding| {
            if !output.is_json() && written.is_ok() {
                written = output.text(&line(finding));
            }
        })
        .await?;
    let reported = if output.is_json() {
        output.counts(&Report {
            provider: &args.provider,
            model: checkup.model(),
            ok: examined.is_fine(),
            checks: &examined.findings,
            settings: &examined.settings,
            requests: examined.requests,
            usage: &examined.usage,
        })
    } else {
        output.text(&summary(&checkup.table(), &examined))
    };
    match written.and(reported) {
        // A reader who stops early still gets the findings, as the exit code.
        Err(error) if !error.is_broken_pipe() => return Err(error),
        _ => {}
    }
    Ok(match examined.is_fine() {
        true => Exit::Done,
        false => Exit::RunFailed,
    })
}

fn line(finding: &Finding) -> String {
    let verdict = finding.verdict.as_str().replace('_', " ");
    let check = finding.check.as_str().replace('_', " ");
    let says = shown::line(&finding.says);
    format!("{verdict:<14} {check:<15} {says}")
}

fn summary(table: &str, examined: &Examined) -> String {
    let Examined {
        settings,
        requests,
        usage,
        ..
    } = examined;
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    let mut lines = vec![format!(
        "\n{requests} {}, {input} tokens in and {output} out",
        if *requests == 1 {
            "request"
        } else {
            "requests"
        },
    )];
    if !settings.is_empty() {
        lines.push(format!(
            "write into {table} of the agent file, instead of the values there:\n"
        ));
        lines.extend(settings.iter().cloned());
    } else if examined.is_fine() {
        lines.push("agents work with it as it is set up".to_owned());
    }
    lines.join("\n")
}
