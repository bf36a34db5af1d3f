//! What every client does. [`suite!`](crate::suite!) declares the tests.

mod clients;
mod errors;
mod faults;
mod hang_ups;
mod replay;
mod silence;
mod streams;

pub use self::{clients::*, errors::*, faults::*, hang_ups::*, replay::*, silence::*, streams::*};

/// Declares a test for each thing that the clients of all APIs do.
#[macro_export]
macro_rules! suite {
    ($api:ty) => {
        $crate::suite! {
            $api:
            a_stream_that_ends_early_is_a_truncation_wherever_it_ends
            a_connection_that_breaks_is_a_retryable_network_failure_with_its_cause
            a_whole_answer_that_is_cut_is_a_failure_of_the_network_or_of_who_cut_it
            an_error_in_the_stream_ends_it_and_has_its_kind
            an_event_that_is_not_json_is_a_malformed_answer
            a_stalled_stream_is_a_timeout
            an_answer_that_takes_too_long_is_a_timeout
            an_answer_is_there_at_its_end_whatever_the_server_does_then
            a_dropped_stream_hangs_up
            a_dropped_call_hangs_up
            each_error_has_its_kind_whole_and_streamed
            the_wait_the_verdict_and_the_request_id_are_read
            an_error_that_is_not_json_keeps_its_status
            a_key_in_a_message_is_blanked
            a_success_that_is_not_json_is_a_malformed_answer_with_its_cause
            key_and_headers_are_sent_to_the_path
            a_key_is_asked_for_where_one_is_needed
            debug_shows_no_key
            an_answer_goes_back_as_it_came
            a_streamed_answer_equals_the_whole_one_with_an_end_marker_and_without
            a_stream_is_asked_for
            a_server_that_does_not_stream_answers_in_one_piece
            every_form_of_lines_is_read
        }
    };
    ($api:ty: $($behaviour:ident)*) => {
        $(#[tokio::test]
        async fn $behaviour() {
            $crate::suite::$behaviour::<$api>().await;
        })*
    };
}
