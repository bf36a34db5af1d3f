//! The decoders, without a server.

use std::fmt;

use neuron_provider_http::{NoAnswer, fuzzing::Streamed};
use neuron_types::CompletionResponse;

use crate::{
    case::{Case, check_all},
    outcome::{Answered, Outcome, check_ids, check_seen},
    wire::Wire,
};

#[test]
fn a_stream_has_its_outcome_wherever_it_is_cut() {
    check_all(|case| {
        let Some(stream) = case.streamed() else {
            return;
        };
        let (wire, name) = (case.wire, &case.name);
        for (ends, body) in line_ends(wire, &stream) {
            // All cuts take their time, and LF and CRLF have all that CR has.
            let cuts = if ends == "CR" { 1 } else { body.len() };
            for cut in 0..cuts {
                let (first, rest) = body.split_at(cut);
                let context = format_args!("{name}, {ends}, cut at {cut}");
                check_stream(case, wire.stream(&[first, rest]), context);
            }
            let bytes: Vec<_> = body.chunks(1).collect();
            let context = format_args!("{name}, {ends}, byte by byte");
            check_stream(case, wire.stream(&bytes), context);
        }
    });
}

#[test]
fn keep_alives_of_other_servers_change_nothing() {
    check_all(|case| {
        let Some(stream) = case.streamed() else {
            return;
        };
        let (wire, name) = (case.wire, &case.name);
        for keep_alive in wire.keep_alives() {
            let body = with_keep_alives(wire, &stream, keep_alive.as_bytes());
            for (ends, body) in line_ends(wire, &body) {
                let context = format_args!("{name}, {ends}, with {keep_alive:?}");
                check_stream(case, wire.stream(&[&body]), context);
                let bytes: Vec<_> = body.chunks(1).collect();
                check_stream(case, wire.stream(&bytes), context);
            }
        }
    });
}

#[test]
fn a_whole_answer_has_the_outcome_of_the_stream() {
    check_all(|case| {
        if let Some(whole) = case.whole().filter(|_| case.status == 200) {
            let end = case.wire.whole(&whole);
            check(case, &end, format_args!("{}, whole", case.name));
        }
    });
}

fn check_stream(case: &Case, (seen, end): Streamed, context: fmt::Arguments<'_>) {
    check(case, &end, context);
    if let Ok(response) = end {
        check_seen(&seen, &response, context);
    }
}

fn check(case: &Case, end: &Result<CompletionResponse, NoAnswer>, context: fmt::Arguments<'_>) {
    match (end, &case.outcome) {
        (Ok(response), Outcome::Answered(expected)) => {
            let answered = Answered::of(response).like(expected);
            assert_eq!(&answered, expected, "{context}");
            check_ids(response, case.repeats_ids, context);
        }
        (Err(NoAnswer::Failed(failure)), Outcome::Failed(expected)) => {
            assert_eq!(failure.kind, expected.failure, "{context}: {failure:?}");
        }
        // The caller decides what that means.
        (Err(NoAnswer::Absent | NoAnswer::Malformed(_)), Outcome::Failed(_)) => {}
        (end, expected) => panic!("{context}: {end:?} and not {expected:?}"),
    }
}

/// The body with each kind of line end that its wire knows.
pub(crate) fn line_ends(wire: Wire, body: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut bodies = vec![
        ("LF", body.to_vec()),
        ("CRLF", replaced(body, b"\n", b"\r\n")),
    ];
    if !wire.is_lines() {
        bodies.push(("CR", replaced(body, b"\n", b"\r")));
    }
    bodies
}

/// The body with this before each of its events.
pub(crate) fn with_keep_alives(wire: Wire, body: &[u8], keep_alive: &[u8]) -> Vec<u8> {
    let end: &[u8] = if wire.is_lines() { b"\n" } else { b"\n\n" };
    let body = replaced(body, end, &[end, keep_alive].concat());
    [keep_alive, &body].concat()
}

fn replaced(body: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(body.len() * 2);
    let mut rest = body;
    while let Some((first, after)) = rest.split_first() {
        match rest.strip_prefix(from) {
            Some(after) => {
                replaced.extend_from_slice(to);
                rest = after;
            }
            None => {
                replaced.push(*first);
                rest = after;
            }
        }
    }
    replaced
}
