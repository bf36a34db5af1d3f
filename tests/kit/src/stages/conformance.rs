//! The scenarios, listed once.

use std::{panic::AssertUnwindSafe, time::Instant};

use futures::{FutureExt as _, future::LocalBoxFuture};

use crate::{Host, scenarios};

/// Passes the names of the scenarios to a macro: `memory`, then `durable`, then `engine`; and those of them that are
/// tried once more with a new segment after every step.
#[doc(hidden)]
#[macro_export]
macro_rules! __scenarios {
    ($with:ident $($arguments:tt)*) => {
        $crate::$with! {
            [$($arguments)*]
            [
                several_tool_turns
                calls_of_one_turn_run_at_the_same_time_and_are_answered_in_order
                sequential_calls_run_one_after_the_other
                what_the_model_can_mend_reaches_the_model
                calls_of_tools_that_the_agent_does_not_list_are_refused
                an_input_that_can_never_be_right_ends_the_run
                a_hook_ends_a_run
                hooks_hear_of_a_run_once
                guards_look_at_every_point
                what_a_guard_asks_about_is_withheld
                guards_look_at_what_people_put_in
                people_see_what_hooks_change
                models_judge_at_every_point
                a_skill_is_read
                a_skill_whose_files_were_changed_is_not_read
                the_status_tells_where_a_run_stands
                failures_of_the_model_are_retried_after_their_delays
                failures_of_a_tool_are_retried_after_their_delays
                delays_grow_no_longer_than_the_longest
                attempts_without_a_result_time_out
                failures_that_cannot_be_mended_end_the_run_at_once
                an_outage_of_the_model_is_waited_out
                an_outage_that_lasts_too_long_ends_the_run
                what_failed_attempts_used_counts
                a_write_is_not_repeated
                a_person_is_asked_about_an_unknown_outcome
                a_tool_is_asked_for_an_unknown_outcome
                writes_of_one_turn_are_made_in_their_order
                a_turn_makes_so_many_calls_and_no_more
                tickets_of_one_turn_are_decided_one_by_one
                decisions_that_fit_no_open_ticket_change_nothing
                of_decisions_that_come_at_once_one_counts
                edits_that_are_denied_or_do_not_fit_leave_the_ticket_open
                edits_that_others_decide_about_are_rejected
                tickets_lapse
                a_remembered_decision_answers_the_same_question
                a_question_is_answered
                a_deferred_result_is_delivered_once
                a_form_has_its_call_made_again
                a_decision_counts_only_as_an_approver_signed_it
                a_flood_of_unsigned_decisions_closes_no_ticket
                a_key_is_replaced_while_a_run_waits
                a_signed_decision_that_is_late_changes_nothing
                two_people_of_a_group_approve
                a_ticket_is_put_to_another_group
                a_deferred_result_is_signed_or_has_the_token
                an_edit_holds_for_the_file_that_was_shown
                queued_messages_are_taken_up_between_turns
                a_message_before_the_start_is_taken_up_first
                a_run_that_waits_for_a_person_waits_on_after_messages
                every_limit_ends_a_run
                a_run_whose_time_is_over_leaves_what_is_in_flight
                the_next_model_of_the_list_answers
                a_failure_is_asked_about
                a_limit_is_raised
                a_deadline_ends_what_hangs
                an_interrupted_call_is_made_again
                cancelling_ends_a_hanging_model_call
                cancelling_ends_a_hanging_tool_call
                cancelling_ends_a_wait
                cancelling_leaves_every_call_in_flight
                an_approved_call_starts_while_its_neighbour_runs
                a_message_is_taken_up_while_a_call_is_in_flight
                answers_end_as_their_stop_reasons_say
                answers_of_another_form_are_asked_for_once_more
                long_conversations_are_made_smaller
                a_summary_is_a_step_of_its_own
                reminders_go_by_what_the_model_counts
                five_calls_of_one_turn_are_under_way_at_once
                fifty_runs_at_once
                large_results
                signals_arrive_while_the_run_rolls_over
                two_thousand_turns
                a_run_is_started_by_name
                a_caller_narrows_an_agent_and_does_not_widen_it
                a_prompt_that_states_no_input_fails_the_run_at_once
                a_run_goes_on_with_the_session_that_it_names
                agents_of_one_turn_work_at_the_same_time
                an_agent_in_the_background_answers_with_a_message
                agents_start_no_deeper_and_no_wider_than_they_may
                cancelling_a_run_cancels_those_below_it
                an_agent_does_no_more_than_the_one_that_started_it
                what_no_run_below_says_is_no_end_of_one
                a_run_below_is_granted_more_of_a_budget
                runs_below_share_a_pool
                runs_below_end_where_a_pool_does
                a_run_below_ends_where_the_budget_does
                a_person_adds_to_a_budget_for_the_runs_below
                nobody_else_grants_what_a_run_may_use
                a_run_that_is_handed_over_goes_on_as_another_agent
                a_run_is_handed_over_to_a_model_of_another_provider
                a_workflow_carries_out_what_a_turn_asks_for
            ]
            [
                killed_in_every_step
                killed_in_quick_tools
                killed_in_model_calls_beside_the_run
                decisions_are_refused_in_the_same_words
                a_tool_is_asked_for_the_outcome_of_a_killed_write
                killed_while_a_person_thinks
                a_deferred_result_comes_after_two_killed_workers
                decided_right_after_a_kill
                killed_again_and_again
                a_step_that_ends_every_worker_is_given_up
                killed_around_a_summary
                killed_between_reminders
                killed_after_a_remembered_decision
                killed_while_calls_and_a_decision_are_in_flight
                cancelled_after_a_kill_with_calls_in_flight
                killed_in_a_run_below_another
                killed_while_guards_look
                killed_while_tools_are_searched
                killed_while_some_tools_are_searched
                killed_while_a_model_judges
                killed_while_a_skill_is_read
                killed_while_a_turn_is_made_and_carried_out
                rolled_over_in_the_middle_of_a_turn
                a_run_adopts_the_current_definition
                a_call_that_the_worker_asks_about_waits_for_a_person
            ]
            [
                the_engine_is_killed_in_a_step
                an_agent_that_no_worker_has_is_waited_for
                a_worker_without_approvers_leaves_the_decisions_of_signed_runs
            ]
            [
                several_tool_turns
                sequential_calls_run_one_after_the_other
                what_the_model_can_mend_reaches_the_model
                hooks_hear_of_a_run_once
                the_status_tells_where_a_run_stands
                failures_of_the_model_are_retried_after_their_delays
                a_person_is_asked_about_an_unknown_outcome
                a_tool_is_asked_for_an_unknown_outcome
                writes_of_one_turn_are_made_in_their_order
                tickets_of_one_turn_are_decided_one_by_one
                decisions_that_fit_no_open_ticket_change_nothing
                edits_that_are_denied_or_do_not_fit_leave_the_ticket_open
                tickets_lapse
                a_remembered_decision_answers_the_same_question
                a_question_is_answered
                a_deferred_result_is_delivered_once
                a_form_has_its_call_made_again
                a_decision_counts_only_as_an_approver_signed_it
                a_flood_of_unsigned_decisions_closes_no_ticket
                a_key_is_replaced_while_a_run_waits
                a_signed_decision_that_is_late_changes_nothing
                two_people_of_a_group_approve
                a_ticket_is_put_to_another_group
                a_deferred_result_is_signed_or_has_the_token
                an_edit_holds_for_the_file_that_was_shown
                queued_messages_are_taken_up_between_turns
                a_run_that_waits_for_a_person_waits_on_after_messages
                every_limit_ends_a_run
                a_run_whose_time_is_over_leaves_what_is_in_flight
                the_next_model_of_the_list_answers
                a_failure_is_asked_about
                a_limit_is_raised
                a_deadline_ends_what_hangs
                an_interrupted_call_is_made_again
                cancelling_ends_a_hanging_tool_call
                cancelling_ends_a_wait
                cancelling_leaves_every_call_in_flight
                an_approved_call_starts_while_its_neighbour_runs
                a_message_is_taken_up_while_a_call_is_in_flight
                answers_end_as_their_stop_reasons_say
                answers_of_another_form_are_asked_for_once_more
                long_conversations_are_made_smaller
                a_summary_is_a_step_of_its_own
                reminders_go_by_what_the_model_counts
                killed_in_every_step
                killed_in_quick_tools
                killed_in_model_calls_beside_the_run
                a_tool_is_asked_for_the_outcome_of_a_killed_write
                killed_while_a_person_thinks
                decided_right_after_a_kill
                killed_again_and_again
                killed_around_a_summary
                killed_between_reminders
                killed_after_a_remembered_decision
                killed_while_calls_and_a_decision_are_in_flight
                cancelled_after_a_kill_with_calls_in_flight
                killed_while_a_model_judges
                killed_while_some_tools_are_searched
                a_run_is_started_by_name
                a_run_adopts_the_current_definition
                a_call_that_the_worker_asks_about_waits_for_a_person
            ]
        }
    };
}

/// Makes a test of each scenario of a group and of the groups before it: `memory`, `durable`, `engine`. For
/// `durable` and `engine` a module `rolled_over_after_every_step` has many of them again.
///
/// ```no_run
/// # mod tests {
/// neuron_testing::conformance!(durable: neuron_testing::JournaledHost::default());
/// # }
/// ```
///
/// The host is an expression that each test evaluates. The crate needs `tokio` with `macros` and
/// `rt-multi-thread`.
#[macro_export]
macro_rules! conformance {
    ($group:ident: $host:expr) => {
        $crate::__scenarios! { __tests $group: $host }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ([memory: $host:expr] [$($memory:ident)*] $durable:tt $engine:tt $rolling:tt) => {
        $crate::__tests! { @ $host; $($memory)* }
    };
    ([durable: $host:expr] [$($memory:ident)*] [$($durable:ident)*] $engine:tt $rolling:tt) => {
        $crate::__tests! { @ $host; $($memory)* $($durable)* }
        $crate::__tests! { @rolling $host; $rolling }
    };
    ([engine: $host:expr] [$($memory:ident)*] [$($durable:ident)*] [$($engine:ident)*] $rolling:tt) => {
        $crate::__tests! { @ $host; $($memory)* $($durable)* $($engine)* }
        $crate::__tests! { @rolling $host; $rolling }
    };
    (@rolling $host:expr; [$($scenario:ident)*]) => {
        mod rolled_over_after_every_step {
            #[allow(unused_imports, reason = "the host may be named without them")]
            use super::*;

            $(
                #[tokio::test(flavor = "multi_thread")]
                async fn $scenario() {
                    let host = $crate::Host::rolling_over_after(&$host, 1);
                    $crate::scenarios::$scenario(&host).await;
                }
            )*
        }
    };
    (@ $host:expr; $($scenario:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $scenario() {
                $crate::scenarios::$scenario(&$host).await;
            }
        )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __run {
    (
        [$run:ident $host:ident]
        [$($memory:ident)*] [$($durable:ident)*] [$($engine:ident)*] [$($rolling:ident)*]
    ) => {
        $( $run.scenario(stringify!($memory), || Box::pin(scenarios::$memory($host))).await; )*
        if H::SURVIVES {
            $( $run.scenario(stringify!($durable), || Box::pin(scenarios::$durable($host))).await; )*
        }
        if H::HAS_ENGINE {
            $( $run.scenario(stringify!($engine), || Box::pin(scenarios::$engine($host))).await; )*
        }
        if H::ROLLS_OVER {
            let host = &$host.rolling_over_after(1);
            $(
                let name = concat!("rolled_over_after_every_step::", stringify!($rolling));
                $run.scenario(name, || Box::pin(scenarios::$rolling(host))).await;
            )*
        }
    };
}

/// Runs every scenario that applies to the host, one after the other, and prints how long each took.
///
/// With the variable `NEURON_SCENARIO` only those are run whose name contains its value.
///
/// # Panics
///
/// At the end, if any failed: with the names of those that did.
pub async fn run_all<H: Host>(host: &H) {
    run_matching(host, &std::env::var("NEURON_SCENARIO").unwrap_or_default()).await;
}

/// Runs the scenarios whose names contain this, as [`run_all`] does.
///
/// # Panics
///
/// The panics of [`run_all`].
pub async fn run_matching<H: Host>(host: &H, part: &str) {
    let mut all = All {
        part,
        failed: Vec::new(),
    };
    crate::__scenarios! { __run all host }
    assert!(all.failed.is_empty(), "failed: {}", all.failed.join(", "));
}

struct All<'a> {
    part: &'a str,
    failed: Vec<&'static str>,
}

impl All<'_> {
    /// Boxes the future of a scenario: all of them at once are too large for a stack.
    async fn scenario<'h>(
        &mut self,
        name: &'static str,
        scenario: impl FnOnce() -> LocalBoxFuture<'h, ()>,
    ) {
        if !name.contains(self.part) {
            return;
        }
        let start = Instant::now();
        let outcome = AssertUnwindSafe(scenario()).catch_unwind().await;
        let how = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("{how:>6} {:>7.2} s  {name}", start.elapsed().as_secs_f64());
        if outcome.is_err() {
            self.failed.push(name);
        }
    }
}
