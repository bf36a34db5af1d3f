//! Registration of a worker with Restate.

use neuron_harness::{http, until};
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_takes_the_place_of_another_only_where_it_is_forced_to() {
    let turns = json!([{"text": "Done."}]);
    let known = Place::new("known-here", &turns).await;
    drop(known.worker().await);
    let place = Place::new("new-here", &turns).await.listening_at(&known);
    let admin = place.address.admin_url.trim_start_matches("http://");
    let admin = admin.trim_end_matches('/');
    let status =
        |service: &str| http::get(admin, &format!("/services/{service}")).map(|(status, _)| status);

    let polite = place.registering("--register");
    let url = format!("http://{}", place.listen);
    let refusal = until(async || {
        let refused = place.client.register(&url).await.err()?;
        let refused = refused.to_string();
        refused.contains("another version").then_some(refused)
    })
    .await;
    assert!(refusal.contains("an address of its own"), "{refusal}");
    assert_eq!(http::get(&polite.health, "/readyz").unwrap().0, 503);
    assert_eq!(
        (status("known-here"), status("new-here")),
        (Some(200), Some(404))
    );
    drop(polite);

    let _forced = place.worker().await;
    assert_eq!(status("new-here"), Some(200));
    let run = place.start("forced").await;
    assert_eq!(place.wait(&run).await.output.as_deref(), Some("Done."));
}
