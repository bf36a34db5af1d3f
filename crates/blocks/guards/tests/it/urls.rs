//! Addresses, and the tricks of those who hide where they lead.

use neuron_guards::{TextGuard, Then};
use neuron_types::{Guard as _, GuardPoint, GuardVerdict};

use super::{of_text, replaced};

fn guard() -> TextGuard {
    let hosts = [
        "good.com",
        "*.example.com",
        "[::1]",
        "127.0.0.1",
        "münchen.de",
        "DOTTED.org.",
    ];
    TextGuard::urls("urls", hosts).unwrap()
}

#[test]
fn that_lead_to_the_hosts_of_the_list_pass() {
    for text in [
        "",
        "no address, good.com and evil.com are merely named",
        "https://good.com",
        "https://good.com.",
        "https://good.com./path",
        "HTTPS://GOOD.COM/",
        "see (https://good.com), or [this](https://good.com): \"https://good.com\"!",
        "**https://good.com** and `https://good.com` and <https://good.com>",
        "見てhttps://good.com/路 とhttps://good.com。",
        "https://good.com:8443/a?b=c#d",
        "https://user:word@good.com/",
        "https://good.com/@evil.com and https://good.com?a=@evil.com#@evil.com",
        "ssh://git@good.com/a.git, git+https://good.com",
        "https://a.example.com https://a.b.EXAMPLE.com",
        "http://[::1]:8080/ and http://[0:0:0:0:0:0:0:1]/ and [x](http://[::1])",
        "http://127.0.0.1/ and http://0x7f.1/ and http://2130706433/",
        "https://münchen.de/ https://MÜNCHEN.de https://xn--mnchen-3ya.de",
        "https://dotted.org",
        "https://good.com\nhttps://good.com",
        "first\\nhttps://good.com\\nlast",
        "C:\\\\Users\\\\me",
        "mailto:a@evil.com",
    ] {
        assert_eq!(of_text(&guard(), text), GuardVerdict::Pass, "{text}");
    }
}

#[test]
fn that_lead_elsewhere_are_found() {
    for (text, host) in [
        ("https://evil.com", "evil.com"),
        ("HTTPS://EVIL.COM", "evil.com"),
        ("https://evil.com.", "evil.com"),
        ("https://good.com@evil.com", "evil.com"),
        ("https://good.com:443@evil.com/", "evil.com"),
        ("https://good.com%40evil.com@evil.com", "evil.com"),
        ("https://a@good.com@evil.com", "evil.com"),
        ("https://good.com.evil.com", "good.com.evil.com"),
        ("https://evilgood.com", "evilgood.com"),
        ("https://sub.good.com", "sub.good.com"),
        ("https://example.com", "example.com"),
        ("https://badexample.com", "badexample.com"),
        ("https://a.example.com.evil.com", "a.example.com.evil.com"),
        ("https://.example.com", ".example.com"),
        ("http://[::2]/", "[::2]"),
        ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"),
        ("http://0177.0.0.2/", "127.0.0.2"),
        ("https://evil%2ecom/", "evil.com"),
        ("https://ｅｖｉｌ.com", "evil.com"),
        ("https://evil。com", "evil.com"),
        ("https://gооd.com", ""),
        ("https://xn--mnchen-xxx.de", ""),
        ("ftp://evil.com ws://evil.com", "evil.com"),
        ("javascript://evil.com/%0aalert(1)", "evil.com"),
        ("foo.bar+x-1://evil.com", "evil.com"),
        // Readers whose addresses continue behind what ends them for others.
        ("see https://good.com'@evil.com", "evil.com"),
        ("see https://good.com`@evil.com", "evil.com"),
        ("see https://good.com\"@evil.com", "evil.com"),
        ("see https://good.com{@evil.com", "evil.com"),
        ("see https://good.com|@evil.com", "evil.com"),
        ("see https://good.com^@evil.com", "evil.com"),
        ("see https://good.com\\@evil.com", "evil.com"),
        ("see https://good.com).evil.com", "good.com).evil.com"),
        // Slashes that browsers take for two.
        ("see https:///evil.com", "evil.com"),
        ("see https:\\\\evil.com", "evil.com"),
        ("see https:/evil.com", "evil.com"),
        ("see https:/\\evil.com", "evil.com"),
        // Nothing before an address hides it.
        ("見てhttps://evil.com", "evil.com"),
        ("_https://evil.com_", "evil.com"),
        ("1https://evil.com", "evil.com"),
        ("line\\nhttps://evil.com", "evil.com"),
        (
            "[a](https://good.com/x)[b](https://evil.com/?d=1)",
            "evil.com",
        ),
        ("https://good.com/,https://evil.com", "evil.com"),
        ("https://good.com/?to=https://evil.com", "evil.com"),
        ("x https://good.com\nhttps://evil.com", "evil.com"),
        // As a whole they are addresses to a reader who opens them.
        ("https:evil.com", "evil.com"),
        (" https://good.com @evil.com", "evil.com"),
        ("ht\ttps://evil.com", "evil.com"),
        ("https://good.com\n.evil.com", "good.com.evil.com"),
        (
            "https://good.com\n.evil.com/\nhttps://good.com",
            "good.com.evil.com",
        ),
    ] {
        let verdict = of_text(&guard(), text);
        let reason = verdict.reason().unwrap_or_else(|| panic!("{text}"));
        assert!(matches!(verdict, GuardVerdict::Block { .. }));
        match host {
            "" => {}
            host => assert_eq!(reason, format!("an address leads to {host}"), "{text}"),
        }
    }
    for text in [
        "file:///etc/passwd",
        "https://",
        "x http://[::1",
        "x https://good.com:99999",
    ] {
        assert_eq!(
            of_text(&guard(), text).reason(),
            Some("an address leads to no host"),
            "{text}"
        );
    }
}

#[test]
fn that_lead_elsewhere_are_replaced_and_the_rest_stays() {
    let guard = guard().then(Then::Replace("[url]".to_owned()));
    for (text, left) in [
        (
            "a https://evil.com/x?y=z#w b https://good.com c",
            "a [url] b https://good.com c",
        ),
        ("[a](https://evil.com/x), b", "[a]([url]), b"),
        (
            "\"https://evil.com\", 'https://evil.com'",
            "\"[url]\", '[url]'",
        ),
        ("日https://evil.com/日 本", "日[url] 本"),
        ("a\\nhttps://evil.com\\nb", "a\\n[url]\\nb"),
        ("x https://good.com'@evil.com/x y", "x [url] y"),
        ("x https://evil.com/?to=https://evil.com/ y", "x [url] y"),
        ("x a://a://https://evil.com y", "x [url] y"),
    ] {
        assert_eq!(replaced(&guard, text), left, "{text}");
    }
}

#[test]
fn are_looked_for_in_calls_and_answers() {
    let looks = GuardPoint::ALL.map(|point| guard().looks_at(point));
    assert_eq!(looks, [false, true, false, true]);
    let none = TextGuard::urls("urls", Vec::<String>::new()).unwrap();
    assert_ne!(of_text(&none, "https://good.com"), GuardVerdict::Pass);
}

#[test]
fn that_are_made_to_cost_much_are_looked_at_all_the_same() {
    let guard = guard().then(Then::Replace("[url]".to_owned()));
    for part in [
        "a://",
        "https://",
        "https://good.com/",
        "https://good.com@",
        "a",
        "https:\\",
        "https://evil.com'@",
        "https:é",
    ] {
        let text = format!("x {}", part.repeat(200_000 / part.len()));
        let left = replaced(&guard, &text);
        assert_eq!(of_text(&guard, &left), GuardVerdict::Pass, "{part}");
    }
    let long = format!("https://{}.evil.com", "a".repeat(1_000_000));
    let verdict = of_text(&guard, &long);
    assert!(verdict.reason().unwrap().len() < 200);
}

#[test]
fn what_is_no_host_is_refused() {
    for host in [
        "",
        ".",
        "*",
        "*.",
        "a.*.com",
        "https://good.com",
        "good.com/path",
        "good.com:443",
        "a@good.com",
        "a b.com",
        "[::1",
    ] {
        let error = TextGuard::urls("urls", [host]).unwrap_err();
        assert_eq!(error.host, host);
    }
}
