//! Attacks that try to reach the network or a service.

use crate::redteam::{
    attack::{Aim, Attack, Door},
    sign::Sign,
};

const AIM: Aim = Aim::ReachOut;

pub(crate) const ALL: &[Attack] = &[
    Attack::new(
        "opens-tcp",
        AIM,
        "connect to a port of this machine",
        r#"echo "$name" > "/dev/tcp/127.0.0.1/$tcp""#,
        Sign::Arrives,
    )
    .by_port(),
    Attack::new(
        "sends-udp",
        AIM,
        "send a datagram",
        r#"echo "$name" > "/dev/udp/127.0.0.1/$udp""#,
        Sign::Arrives,
    )
    .by_port(),
    Attack::new(
        "opens-socket",
        AIM,
        "connect to a service's socket in another directory",
        r#"curl -s -m "$seconds" --unix-socket "$unix" "http://service/$name""#,
        Sign::Arrives,
    ),
    Attack::new(
        "opens-socket-here",
        AIM,
        "connect to a service's socket in the working directory",
        r#"curl -s -m "$seconds" --unix-socket "$unix_here" "http://service/$name""#,
        Sign::Arrives,
    ),
    Attack::new(
        "opens-abstract-socket",
        AIM,
        "connect to a service's socket without a path",
        r#"curl -s -m "$seconds" --abstract-unix-socket "$abstract" "http://service/$name""#,
        Sign::Arrives,
    ),
    Attack::new(
        "asks-restate",
        AIM,
        "ask Restate's admin port",
        r#"curl -s -m "$seconds" "$admin/deployments""#,
        Sign::Shows("\"deployments\""),
    )
    .on(&[Door::Restate])
    .by_port(),
];
