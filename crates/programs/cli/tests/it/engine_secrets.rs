//! The secrets in a worker's environment stay there: neither a history nor a journal contains them, nor any file of
//! Temporal's server. The same is true of the command's environment.

use neuron_harness::{Engine, FakeModel, Reply, chat, holders};
use serde_json::{Value, json};

use crate::{engine_place::Place, support::eventually};

/// None of the values has a form that could be recognised by itself.
const SECRETS: [(&str, &str); 5] = [
    ("MY_MODEL_LOGIN", "correct-horse-battery-staple"),
    ("ANTHROPIC_API_KEY", "tangerine-lorry-quilted-spoon"),
    ("GITHUB_TOKEN", "velvet-anvil-midnight-otter"),
    // The variable belongs to no service.
    ("DATABASE_PASSWORD", "marble-kettle-distant-harbour"),
    // Restate keeps the headers of the requests that start runs.
    ("RESTATE_AUTH_TOKEN", "copper-lantern-sleeping-ferry"),
];

/// A variable that commands get, as its name begins with `LC_`. It is in the output of a command, and nowhere else.
const PLAIN: (&str, &str) = ("LC_FAVOURITE_PLACE", "the-bench-behind-the-lighthouse");

const MARK: &str = "this-must-be-found";

fn key() -> &'static str {
    SECRETS[0].1
}

/// Returns a model server that quotes the key that it rejects, and one that fails because of it.
fn model() -> FakeModel {
    FakeModel::start(|request| {
        let body = request.body.to_string();
        let calls = |command: &str| {
            Reply::ok(chat::calls(&[(
                "call_1",
                "bash",
                json!({ "command": command }),
            )]))
        };
        match chat::turn(&request.body) {
            _ if request.number == 1 => {
                let message = format!("Cannot use {} now.", key());
                Reply::status(500, chat::error("server_error", &message))
            }
            _ if body.contains("refuse me") => {
                let message = format!("Incorrect API key provided: {}.", key());
                Reply::status(401, chat::error("invalid_api_key", &message))
            }
            1 if body.contains("show me") => calls("env; printenv | sort; set"),
            1 => calls("test -n \"$LC_FAVOURITE_PLACE\" && echo it is set"),
            _ => Reply::ok(chat::text("Done.")),
        }
    })
}

/// Adds the text of a value, and of the bytes that its strings encode.
fn readable(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            for bytes in [from_base64(text), from_hex(text)].into_iter().flatten() {
                into.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| readable(item, into)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            into.push_str(name);
            readable(value, into);
        }),
        scalar => into.push_str(&scalar.to_string()),
    }
    into.push('\n');
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let pairs = digits?;
    Some(
        pairs
            .chunks(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
            .collect(),
    )
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = ALPHABET.iter().position(|letter| *letter == byte)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// Returns everything that the engine stores of this run.
fn kept(place: &Place, engine: Engine, run: &str) -> String {
    let exported = match engine {
        Engine::Temporal => {
            place.temporal(&["workflow", "show", "--workflow-id", run, "--output", "json"])
        }
        Engine::Restate => {
            let url = format!("{}/query", place.admin());
            let tables = [
                format!(
                    "SELECT j.* FROM sys_journal j JOIN sys_invocation i ON i.id = j.id \
                     WHERE i.target LIKE '%{run}%'"
                ),
                format!("SELECT * FROM sys_invocation WHERE target LIKE '%{run}%'"),
                format!("SELECT * FROM state WHERE service_key = '{run}'"),
            ];
            let answers = tables.map(|query| place.curl(&url, &json!({ "query": query })));
            format!("[{}]", answers.join(","))
        }
    };
    let mut text = String::new();
    readable(&serde_json::from_str(&exported).unwrap(), &mut text);
    assert!(text.contains(MARK), "what was asked is found: {text}");
    text
}

fn nothing_of_the_environment_is_kept(engine: Engine) {
    let model = model();
    let mut place = Place::new(engine, &json!([]), "");
    for (name, value) in SECRETS.into_iter().chain([PLAIN]) {
        place.home.set(name, value);
    }
    place.home.write(
        "neuron.toml",
        &format!(
            "[providers.fake]\nkind = \"openai-chat\"\nbase_url = \"{}/v1\"\n\
             api_key_env = \"{}\"\n\n[agents.default]\nmodel = \"fake/fake-1\"\n\
             tools = [\"bash\"]\n\n[agents.default.retry]\ninitial = \"10ms\"\n", // Only so that it does not take long.
            model.url(),
            SECRETS[0].0
        ),
    );
    let _worker = place.worker();
    let home = &place.home;

    // A first attempt that fails, and a command that needs a variable and does not print it.
    let prompt = |what: &str| format!("{what} {MARK}");
    home.neuron(&["submit", "--id", "quiet", "--wait", &prompt("use it")])
        .exits(0);
    let used = kept(&place, engine, "quiet");
    assert!(used.contains("it is set\\n"), "the command ran: {used}");
    assert!(!used.contains(PLAIN.1), "a variable was told: {used}");

    home.neuron(&["submit", "--id", "shown", "--wait", &prompt("show me")])
        .exits(0);
    let shown = kept(&place, engine, "shown");
    assert!(shown.contains(PLAIN.1), "the command ran: {shown}");

    let refused = home
        .neuron(&[
            "submit",
            "--id",
            "refused",
            "--wait",
            "--json",
            &prompt("refuse me"),
        ])
        .exits(1);
    assert_eq!(refused.json()["error"]["kind"], "authentication");
    let refused = kept(&place, engine, "refused");
    assert!(!refused.contains(PLAIN.1), "a variable was told: {refused}");

    let log = home.read("worker.log");
    for (name, secret) in SECRETS {
        for text in [&used, &shown, &refused, &log] {
            assert!(!text.contains(secret), "{name} is told in {text}");
        }
    }
    // Restate's files are compressed: their contents are what its tables show.
    if engine == Engine::Temporal {
        eventually("a file of the server holds what was asked", || {
            !holders(place.data(), MARK).is_empty()
        });
        for (name, secret) in SECRETS {
            assert_eq!(holders(place.data(), secret), [""; 0], "{name} is kept");
        }
    }
    let requests = model.requests();
    let expected = format!("Bearer {}", key());
    assert!(
        requests
            .iter()
            .all(|request| request.headers["authorization"] == expected),
        "the worker has the key"
    );
}

#[test]
fn on_temporal_nothing_of_the_environment_is_kept() {
    nothing_of_the_environment_is_kept(Engine::Temporal);
}

#[test]
fn on_restate_nothing_of_the_environment_is_kept() {
    nothing_of_the_environment_is_kept(Engine::Restate);
}

#[test]
fn what_is_encoded_is_read() {
    assert_eq!(from_base64("aGVsbG8="), Some(b"hello".to_vec()));
    assert_eq!(from_hex("68656c6c6f"), Some(b"hello".to_vec()));
    assert_eq!((from_base64("no-64"), from_hex("xy")), (None, None));
}
