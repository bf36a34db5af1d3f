//! The soaks in their short form.

use neuron_patience::seed;
use neuron_soak::{Chaos, EngineName, Outage, Parked, Report, Trees};

fn keeps_its_promises(report: &Report) {
    assert_eq!(report.figures.len(), EngineName::ALL.len());
    assert!(report.breaches.is_empty(), "{report:#?}");
}

#[test]
fn an_outage_of_the_model_is_waited_out_by_all_runs() {
    keeps_its_promises(&Outage::short().run(&EngineName::ALL));
}

#[test]
fn parked_runs_are_all_listed_and_others_go_on() {
    keeps_its_promises(&Parked::short().run(&EngineName::ALL));
}

#[test]
fn promises_are_kept_under_faults() {
    keeps_its_promises(&Chaos::short(seed()).run(&EngineName::ALL));
}

#[test]
fn trees_of_runs_complete_and_end_to_the_last_run() {
    keeps_its_promises(&Trees::short(seed()).run(&EngineName::ALL));
}
