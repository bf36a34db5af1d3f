//! The manifests for Kubernetes match each other and the workers.

use std::{fs, process::Command};

use neuron_harness::workspace;
use serde_json::Value;

use crate::compose::worker_program;

/// The manifests with the program of each.
const WORKERS: [(&str, &str); 2] = [
    ("temporal-worker.yaml", "neuron-temporal-worker"),
    ("restate-worker.yaml", "neuron-restate-worker"),
];

/// Returns the documents of a manifest.
fn documents(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(workspace().join("docs/kubernetes").join(file)).unwrap();
    let documents = text.split("\n---\n");
    documents
        .map(|document| serde_saphyr::from_str(document).unwrap())
        .collect()
}

fn of_kind<'a>(documents: &'a [Value], kind: &str) -> &'a Value {
    let found = documents.iter().find(|document| document["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind}"))
}

fn arguments(container: &Value) -> Vec<&str> {
    let arguments = container["args"].as_array().unwrap();
    arguments.iter().map(|it| it.as_str().unwrap()).collect()
}

fn argument<'a>(container: &'a Value, name: &str) -> &'a str {
    let mut found = arguments(container).into_iter();
    let prefix = format!("--{name}=");
    found.find_map(|it| it.strip_prefix(&prefix)).unwrap()
}

#[test]
fn the_workers_take_the_arguments_of_their_manifests() {
    for (file, program) in WORKERS {
        let documents = documents(file);
        let pod = &of_kind(&documents, "Deployment")["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let help = Command::new(worker_program(program))
            .args(arguments(container))
            .arg("--help")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&help.stderr);
        assert!(help.status.success(), "{said}");
        let grace: u64 = argument(container, "grace")
            .trim_end_matches('s')
            .parse()
            .unwrap();
        let killed = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
        assert!(grace + 5 <= killed, "{file}: {grace} s, {killed} s");
    }
}

#[test]
fn what_a_manifest_names_is_there() {
    for (file, _) in WORKERS {
        let documents = documents(file);
        let deployment = &of_kind(&documents, "Deployment")["spec"];
        let labels = &deployment["template"]["metadata"]["labels"];
        assert_eq!(&deployment["selector"]["matchLabels"], labels);
        let pod = &deployment["template"]["spec"];
        let container = &pod["containers"][0];
        let has = |list: &Value, name: &Value| {
            let list = list.as_array().unwrap();
            list.iter().any(|it| &it["name"] == name)
        };
        for mount in container["volumeMounts"].as_array().unwrap() {
            assert!(has(&pod["volumes"], &mount["name"]), "{file}: {mount}");
        }
        for (probe, path) in [("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")] {
            let probe = &container[probe]["httpGet"];
            assert_eq!(probe["path"], path);
            assert!(has(&container["ports"], &probe["port"]), "{file}: {probe}");
        }
        let agents = &of_kind(&documents, "ConfigMap")["metadata"]["name"];
        let volumes = pod["volumes"].as_array().unwrap();
        assert!(volumes.iter().any(|it| &it["configMap"]["name"] == agents));
        let policy = &of_kind(&documents, "NetworkPolicy")["spec"];
        for (key, value) in policy["podSelector"]["matchLabels"].as_object().unwrap() {
            assert_eq!(&labels[key], value, "{file}");
        }
    }
}

#[test]
fn restate_finds_its_worker_at_the_address_that_it_is_told() {
    let documents = documents("restate-worker.yaml");
    let deployment = &of_kind(&documents, "Deployment")["spec"]["template"];
    let service = of_kind(&documents, "Service");
    let port = &service["spec"]["ports"][0]["port"];
    let name = service["metadata"]["name"].as_str().unwrap();
    let container = &deployment["spec"]["containers"][0];
    assert_eq!(argument(container, "url"), format!("http://{name}:{port}"));
    assert_eq!(
        service["spec"]["selector"],
        deployment["metadata"]["labels"]
    );
}
