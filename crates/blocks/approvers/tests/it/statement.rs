use chrono::DateTime;
use neuron_approvers::{DecisionContent, Place, Statement};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::statement;

fn canonical(statement: &Statement) -> String {
    String::from_utf8(statement.canonical()).unwrap()
}

#[test]
fn is_signed_as_canonical_json_with_every_key_that_has_a_value() {
    insta::assert_snapshot!(
        canonical(&statement()),
        @r#"{"always":"call","args":{"command":"cargo test","n":1.0},"at":"2026-11-23T16:27:58.123Z","choice":"retry","comment":"fine, Köchel","definition":"sha256:09ab","digest":"8ed7f00d","nonce":"5f1c7c1e-65a4-4bc2-a4c8-33ccd2dbe2a8","output":[1,2],"place":"temporal:default","run":"q3","text":"blue","ticket":"t2-1","v":1,"verdict":"approve"}"#
    );
    let denial = Statement {
        content: DecisionContent {
            verdict: Some("deny".into()),
            ..DecisionContent::default()
        },
        ..statement()
    };
    insta::assert_snapshot!(
        canonical(&denial),
        @r#"{"at":"2026-11-23T16:27:58.123Z","definition":"sha256:09ab","digest":"8ed7f00d","nonce":"5f1c7c1e-65a4-4bc2-a4c8-33ccd2dbe2a8","place":"temporal:default","run":"q3","ticket":"t2-1","v":1,"verdict":"deny"}"#
    );
}

#[test]
fn null_is_no_value() {
    let of = |args: Option<Value>, output: Option<Value>| Statement {
        content: DecisionContent {
            args,
            output,
            ..DecisionContent::default()
        },
        ..statement()
    };
    let null = of(Some(Value::Null), Some(Value::Null));
    assert_eq!(canonical(&null), canonical(&of(None, None)));
    assert_eq!(serde_json::to_value(&null.content).unwrap(), json!({}));
    let read: DecisionContent = serde_json::from_value(json!({"args": null})).unwrap();
    assert_eq!(read, DecisionContent::default());
}

#[test]
fn a_time_is_kept_as_it_was_written() {
    let time = DateTime::from_timestamp_millis(1_795_451_278_120).unwrap();
    let text = Statement::time_text(time);
    insta::assert_snapshot!(text, @"2026-11-23T16:27:58.120Z");
    let at = |at: &str| Statement {
        at: at.into(),
        ..statement()
    };
    assert_eq!(at(&text).time(), Some(time));
    assert_eq!(at("2026-11-23T17:27:58.12+01:00").time(), Some(time));
    assert_eq!(at("yesterday").time(), None);
    assert!(canonical(&at("2026-11-23T17:27:58.12+01:00")).contains("17:27:58.12+01:00"));
}

#[test]
fn a_place_is_one_text() {
    let texts = [
        Place::Temporal {
            namespace: "default".into(),
        },
        Place::Restate {
            prefix: "neuron".into(),
        },
        Place::Local {
            home: "/home/ada/.neuron".into(),
        },
    ];
    let texts = texts.map(String::from).join("\n");
    insta::assert_snapshot!(texts, @r"
    temporal:default
    restate:neuron
    local:/home/ada/.neuron
    ");
}

fn any_content() -> impl Strategy<Value = DecisionContent> {
    let text = || proptest::option::of(".{0,8}");
    let value = || {
        proptest::option::of(prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ])
    };
    (text(), value(), text(), text(), value(), text(), text()).prop_map(
        |(verdict, args, text, choice, output, comment, always)| DecisionContent {
            verdict,
            args,
            text,
            choice,
            output,
            comment,
            always,
        },
    )
}

fn any_statement() -> impl Strategy<Value = Statement> {
    let text = || "[ab\"\\\\,:{}]{0,3}";
    let texts = (text(), text(), text(), text(), text(), text(), text());
    (texts, any_content()).prop_map(|(texts, content)| {
        let (place, run, nonce, ticket, digest, definition, at) = texts;
        Statement {
            place,
            run,
            nonce,
            ticket,
            digest,
            definition,
            at,
            content,
        }
    })
}

proptest! {
    #[test]
    fn two_statements_are_never_written_alike(a in any_statement(), b in any_statement()) {
        prop_assert_eq!(a == b, a.canonical() == b.canonical());
    }

    #[test]
    fn what_is_signed_reads_back_as_the_content(statement in any_statement()) {
        let read: DecisionContent = serde_json::from_slice(&statement.canonical()).unwrap();
        prop_assert_eq!(read, statement.content);
    }
}
