//! The cases, listed once.

mod a_cancel_counts_before_an_end_that_comes_with_it;
mod a_cancelled_run_waits_for_writes_and_leaves_the_rest;
mod a_deadline_is_kept_across_waits;
mod a_deadline_of_no_time_is_over_at_once;
mod a_message_is_taken_while_the_model_answers;
mod an_approved_call_starts_while_its_neighbour_runs;
mod signals_of_several_names_are_taken_in_their_order;
mod what_ended_and_is_left_never_comes;
mod what_ends_unasked_is_kept;
mod what_is_left_never_comes;
mod what_is_started_in_a_cancelled_run_is_not_made;
mod what_was_observed_never_comes_again;
mod whoever_waits_for_one_call_of_a_cancelled_run_learns_of_it;

use neuron_types::DurableContext;

use super::{Outside, Verdict};

/// Passes the names of the cases to a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __door_cases {
    ($with:ident $($arguments:tt)*) => {
        $crate::$with! {
            [$($arguments)*]
            [
                an_approved_call_starts_while_its_neighbour_runs
                a_message_is_taken_while_the_model_answers
                a_cancelled_run_waits_for_writes_and_leaves_the_rest
                what_is_left_never_comes
                what_ended_and_is_left_never_comes
                what_ends_unasked_is_kept
                what_was_observed_never_comes_again
                a_deadline_is_kept_across_waits
                a_deadline_of_no_time_is_over_at_once
                what_is_started_in_a_cancelled_run_is_not_made
                whoever_waits_for_one_call_of_a_cancelled_run_learns_of_it
                signals_of_several_names_are_taken_in_their_order
                a_cancel_counts_before_an_end_that_comes_with_it
            ]
        }
    };
}

/// Makes a test of each case: the function is called with the name of the case. The crate needs `tokio` with `macros` and
/// `rt-multi-thread`.
///
/// ```no_run
/// # mod tests {
/// async fn trial(case: &str) {}
/// neuron_testing::door_cases!(trial);
/// # }
/// ```
#[macro_export]
macro_rules! door_cases {
    ($trial:ident) => {
        $crate::__door_cases! { __door_tests $trial }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __door_tests {
    ([$trial:ident] [$($case:ident)*]) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                $trial(stringify!($case)).await;
            }
        )*
    };
}

/// Each case is a module: `inside` is its inner half, `outside` its outer one, and `CALLS` are the calls that are made for
/// it, each once.
#[doc(hidden)]
#[macro_export]
macro_rules! __door_modules {
    ([] [$($case:ident)*]) => {
        /// The names of all cases.
        pub const CASES: &[&str] = &[$( stringify!($case) ),*];

        /// Returns the inner half of this case.
        pub(super) async fn inside<D: DurableContext>(case: &str, door: &D) -> Verdict {
            match case {
                $( stringify!($case) => $case::inside(door).await, )*
                _ => Err(format!("there is no case {case:?}")),
            }
        }

        /// Runs the outer half of this case.
        pub(super) async fn outside(case: &str, outside: &Outside) {
            match case {
                $( stringify!($case) => $case::outside(outside).await, )*
                _ => panic!("there is no case {case:?}"),
            }
        }

        /// Returns the calls of this case, in the order of their names.
        pub(super) fn calls(case: &str) -> &'static [&'static str] {
            match case {
                $( stringify!($case) => $case::CALLS, )*
                _ => &[],
            }
        }
    };
}

__door_cases! { __door_modules }
