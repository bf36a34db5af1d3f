use neuron_engine::{Cursor, PageRequest, RunClient as _, RunPage, TicketPage};
use neuron_types::RunPhase;
use serde_json::json;

use crate::fake::{Fake, status};

#[test]
fn a_page_says_of_a_few_runs_why_they_are_left_out_and_of_how_many() {
    let reasons = |count: usize| {
        let reasons = (1..=count).map(|n| format!("no worker answers for run r{n}"));
        RunPage::default().left_out(reasons.collect()).incomplete
    };
    assert_eq!(reasons(0), None);
    assert_eq!(reasons(1).unwrap(), "no worker answers for run r1");
    let many = reasons(103).unwrap();
    assert!(
        many.starts_with("no worker answers for run r1, no worker"),
        "{many}"
    );
    assert!(many.ends_with("and so of 100 more"), "{many}");
}

#[tokio::test]
async fn the_tickets_of_a_page_of_runs_keep_its_place_and_what_it_leaves_out() {
    let runs = vec![
        status(RunPhase::Running),
        status(RunPhase::WaitingForApproval),
    ];
    let page = RunPage::of(runs)
        .next(Some(Cursor::new("here")))
        .left_out(vec!["gone".to_owned()]);
    let tickets = TicketPage::from(page);
    assert_eq!(tickets.tickets.len(), 1);
    assert_eq!(tickets.next.unwrap().as_str(), "here");
    assert_eq!(tickets.incomplete.unwrap(), "gone");

    let client = Fake::new([Ok(RunPhase::WaitingForApproval)]);
    let of_all = client.tickets(None, PageRequest::default()).await.unwrap();
    assert_eq!(of_all.tickets.len(), 1);
    let shown = json!(of_all.tickets);
    assert_eq!(shown[0]["run_id"], "r1");
    assert_eq!(shown[0]["ticket"], "t1-1");
}
