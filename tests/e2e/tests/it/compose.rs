//! The compose file and the Dockerfile match each other, the workers and the tree.

use std::{collections::BTreeMap, env, fs, path::Path, path::PathBuf, process::Command};

use neuron_harness::workspace;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Compose {
    services: BTreeMap<String, Service>,
    networks: BTreeMap<String, BTreeMap<String, String>>,
    volumes: BTreeMap<String, BTreeMap<String, String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Service {
    image: Option<String>,
    build: Option<Build>,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
    #[serde(default)]
    volumes: Vec<String>,
    #[serde(default)]
    depends_on: BTreeMap<String, Dependency>,
    healthcheck: Option<Healthcheck>,
    #[serde(rename = "user")]
    _user: Option<String>,
    #[serde(default)]
    ports: Vec<String>,
    #[serde(default)]
    networks: Vec<String>,
    #[serde(rename = "restart")]
    _restart: Option<String>,
    #[serde(rename = "stop_grace_period")]
    _stop_grace_period: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Build {
    context: PathBuf,
    target: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dependency {
    condition: Condition,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Condition {
    ServiceStarted,
    ServiceHealthy,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Healthcheck {
    test: Vec<String>,
    #[serde(rename = "interval")]
    _interval: String,
    #[serde(rename = "timeout")]
    _timeout: String,
    #[serde(rename = "retries")]
    _retries: u32,
}

fn compose() -> Compose {
    let text = fs::read_to_string(workspace().join("docker-compose.yml")).unwrap();
    serde_saphyr::from_str(&text).unwrap()
}

/// Returns the Dockerfile's instructions, with continued lines joined.
fn instructions() -> Vec<Vec<String>> {
    let text = fs::read_to_string(workspace().join("Dockerfile")).unwrap();
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let words = |line: &str| line.split_whitespace().map(ToOwned::to_owned).collect();
    lines.map(words).collect()
}

/// Returns the stages by name, each with the program that it starts, if any.
fn stages() -> BTreeMap<String, Option<String>> {
    let mut stages = BTreeMap::new();
    let mut newest = String::new();
    for words in instructions() {
        match words[0].as_str() {
            "FROM" => {
                assert_eq!(words[2], "AS", "every stage has a name: {words:?}");
                newest.clone_from(&words[3]);
                stages.insert(newest.clone(), None);
            }
            "ENTRYPOINT" => {
                let program: Vec<String> = serde_json::from_str(&words[1..].join(" ")).unwrap();
                stages.insert(newest.clone(), program.into_iter().next());
            }
            "COPY" if words[1].starts_with("--from=") => {
                let from = words[1].trim_start_matches("--from=");
                assert!(stages.contains_key(from), "{from} comes before {newest}");
            }
            "COPY" | "RUN" | "WORKDIR" | "USER" | "EXPOSE" => {}
            other => panic!("the Dockerfile has an unknown instruction {other}"),
        }
    }
    stages
}

pub(crate) fn worker_program(name: &str) -> PathBuf {
    let variable = name.to_uppercase().replace('-', "_");
    let beside = || {
        env::current_exe()
            .unwrap()
            .parent()
            .unwrap()
            .with_file_name(name)
    };
    env::var_os(variable).map_or_else(beside, PathBuf::from)
}

#[test]
fn every_service_has_an_image_or_a_stage_that_exists() {
    let stages = stages();
    for (name, service) in compose().services {
        match (service.image, service.build) {
            (Some(image), None) => assert!(image.contains(':'), "{name} has a fixed version"),
            (None, Some(build)) => {
                assert!(stages.contains_key(&build.target), "{name}: {build:?}");
                assert!(workspace().join(build.context).join("Dockerfile").exists());
            }
            both => panic!("{name} needs an image or a build, not {both:?}"),
        }
    }
}

#[test]
fn what_a_service_needs_is_there_and_says_when_it_is_ready() {
    let compose = compose();
    for (name, service) in &compose.services {
        for (needed, dependency) in &service.depends_on {
            let needed = &compose.services[needed];
            if dependency.condition == Condition::ServiceHealthy {
                let check = needed.healthcheck.as_ref().unwrap();
                assert_eq!(check.test[0], "CMD");
            }
        }
        for volume in &service.volumes {
            let (source, _) = volume.split_once(':').unwrap();
            let is_known = source.starts_with('.') || compose.volumes.contains_key(source);
            assert!(is_known, "{name}: {volume}");
        }
        for variable in &service.environment {
            if let Some((_, address)) = variable.split_once('=') {
                let host = address.trim_start_matches("http://").split(':').next();
                let host = host.unwrap();
                assert!(compose.services.contains_key(host), "{name}: {variable}");
            }
        }
    }
}

#[test]
fn nobody_else_reaches_what_is_started() {
    let compose = compose();
    for (name, service) in &compose.services {
        for port in &service.ports {
            assert!(port.starts_with("127.0.0.1:"), "{name} publishes {port}");
        }
        for network in &service.networks {
            assert!(compose.networks.contains_key(network), "{name}: {network}");
        }
    }
    let insecure = |service: &Service| service.command.iter().any(|it| it == "--insecure-listen");
    let (worker, service) = compose
        .services
        .iter()
        .find(|(_, service)| insecure(service))
        .unwrap();
    let neighbours = compose.services.iter().filter(|(name, other)| {
        let shares = other.networks.is_empty()
            || other
                .networks
                .iter()
                .any(|it| service.networks.contains(it));
        *name != worker && shares
    });
    let neighbours: Vec<_> = neighbours.map(|(name, _)| name.as_str()).collect();
    assert_eq!(neighbours, ["restate"], "{worker} takes unsigned requests");
}

#[test]
fn the_workers_take_the_arguments_that_the_compose_file_gives_them() {
    let stages = stages();
    let mut workers = 0;
    for service in compose().services.into_values() {
        let Some(build) = service.build else { continue };
        let program = stages[&build.target].clone().unwrap();
        let help = Command::new(worker_program(&program))
            .args(service.command)
            .arg("--help")
            .output()
            .unwrap();
        assert!(
            help.status.success(),
            "{}",
            String::from_utf8_lossy(&help.stderr)
        );
        workers += 1;
    }
    assert_eq!(workers, 2);
}

#[test]
fn the_build_makes_every_program_that_a_stage_takes() {
    let build = instructions();
    let build = build
        .iter()
        .find(|words| words.iter().any(|word| word == "cargo"));
    let build = build.unwrap().join(" ");
    for words in instructions() {
        if words[0] == "COPY" && words[1] == "--from=build" {
            let program = Path::new(&words[2]).file_name().unwrap().to_str().unwrap();
            assert!(
                build.contains(&format!("target/release/{program}")),
                "{program}"
            );
        }
    }
}
