/* What follows from a verdict: what passes, what is counted, which line is written at which level.
 */
#include "unit.h"

#include "base/log.h"
#include "ops/metrics.h"
#include "worker/settlement.h"

enum { POSTINGS = 2 };

static struct unit_capture capture;
static struct po_notification notifications[POSTINGS];
static struct posting postings[POSTINGS];
static struct record record;
static struct parcel parcel;
static struct po_error parcel_error;
static struct batch batch;

/* One record with so many notifications, all of one verdict. */
static void settled(enum verdict verdict, size_t count)
{
        record = (struct record){ .topic = "callbacks", .partition = 2, .offset = 5 };
        for (size_t i = 0; i < POSTINGS; i++) {
                snprintf(notifications[i].key, sizeof notifications[i].key, "SQB:T%zu:PAYMENT", i);
                postings[i] =
                        (struct posting){ .notification = &notifications[i], .record = &record };
                postings[i].verdict = verdict;
        }
        parcel_error = (struct po_error){ 0 };
        parcel = (struct parcel){
                .record = &record, .count = count, .verdict = verdict, .error = &parcel_error
        };
        batch = (struct batch){ .parcels = &parcel,
                                .parcels_count = 1,
                                .postings = postings,
                                .postings_count = count };
        log_set_level(LOG_LEVEL_DEBUG);
}

/* How often the metric is counted for it; what is logged is in capture.text. */
static int64_t reported(bool comes_again, enum metric metric)
{
        int64_t before = metric_get(metric);
        unit_capture_begin(&capture, STDERR_FILENO);
        settlement_report(&batch, &parcel, comes_again);
        unit_capture_end(&capture);
        return metric_get(metric) - before;
}

START_TEST(each_verdict_is_counted_and_logged_as_the_contract_says)
{
        static const struct {
                enum metric metric;
                const char *level;
                bool passes;
        } expected[VERDICT_COUNT] = {
                [VERDICT_POSTED] = { METRIC_POSTED, "debug", true },
                [VERDICT_SKIPPED] = { METRIC_SKIPPED, "info", true },
                [VERDICT_SUSPENSE] = { METRIC_SUSPENSE, "warn", true },
                [VERDICT_DISCARDED] = { METRIC_DISCARDED, "info", true },
                [VERDICT_DUPLICATE] = { METRIC_DUPLICATE, "info", true },
                [VERDICT_PARKED] = { METRIC_PARKED, "info", true },
                [VERDICT_ORPHANED] = { METRIC_ORPHANED, "error", true },
                [VERDICT_CONFLICT] = { METRIC_CONFLICT, "error", true },
                [VERDICT_REJECTED] = { METRIC_REJECTED, "warn", true },
                [VERDICT_HELD] = { METRIC_HELD, "info", false },
        };
        for (int i = VERDICT_POSTED; i < VERDICT_COUNT; i++) {
                enum verdict verdict = (enum verdict)i;
                char line[128];
                settled(verdict, 1);
                ck_assert_int_eq(reported(false, expected[i].metric), 1);
                snprintf(line, sizeof line, "level=%s event=notification", expected[i].level);
                unit_assert_in(capture.text, line);
                snprintf(line, sizeof line, "verdict=%s", verdict_name(verdict));
                unit_assert_in(capture.text, line);
                unit_assert_in(capture.text, "topic=callbacks partition=2 offset=5");
                unit_assert_in(capture.text, "key=SQB:T0:PAYMENT");
                ck_assert_int_eq(settlement_passes(verdict), expected[i].passes);
        }
}
END_TEST

START_TEST(behind_a_hold_only_what_was_settled_just_now_is_told)
{
        settled(VERDICT_POSTED, 1);
        ck_assert_int_eq(reported(true, METRIC_POSTED), 1);
        unit_assert_in(capture.text, "verdict=POSTED");
        postings[0].again = true; /* told by the try that settled it */
        ck_assert_int_eq(reported(true, METRIC_POSTED), 0);
        ck_assert_str_eq(capture.text, "");
        settled(VERDICT_DUPLICATE, 1);
        ck_assert_int_eq(reported(true, METRIC_DUPLICATE), 0);
        ck_assert_str_eq(capture.text, "");
        settled(VERDICT_HELD, 1);
        ck_assert_int_eq(reported(true, METRIC_HELD), 0);
        ck_assert_str_eq(capture.text, "");
}
END_TEST

START_TEST(what_this_delivery_settled_before_is_told_and_not_counted_twice)
{
        settled(VERDICT_POSTED, 2);
        postings[0].again = true;
        snprintf(postings[0].result, sizeof postings[0].result, "{}");
        ck_assert_int_eq(reported(false, METRIC_POSTED), 1);
        unit_assert_in(capture.text, "verdict=POSTED result={} again=true");
        unit_assert_in(capture.text, "key=SQB:T1:PAYMENT");
}
END_TEST

START_TEST(a_record_without_notifications_is_rejected_as_one)
{
        settled(VERDICT_REJECTED, 0);
        po_refuse(parcel.error, "JSON_MALFORMED", "byte 7: no JSON");
        ck_assert_int_eq(reported(false, METRIC_REJECTED), 1);
        unit_assert_in(capture.text, "level=warn event=rejected");
        unit_assert_in(capture.text, "byte 7: no JSON");
        unit_assert_in(capture.text, "offset=5");
        ck_assert_int_eq(reported(true, METRIC_REJECTED), 0);
        ck_assert_str_eq(capture.text, "");
}
END_TEST

START_TEST(a_rejected_record_says_why_once_and_counts_its_notifications)
{
        settled(VERDICT_REJECTED, 2);
        po_refuse(parcel.error, "NO_EVENT_RULE", "no rule");
        ck_assert_int_eq(reported(false, METRIC_REJECTED), 2);
        unit_assert_in(capture.text, "verdict=REJECTED reason=NO_EVENT_RULE");
        const char *first = strstr(capture.text, "event=rejected");
        ck_assert_ptr_nonnull(first);
        ck_assert_ptr_null(strstr(first + 1, "event=rejected"));
}
END_TEST

START_TEST(what_is_not_logged_is_counted_all_the_same)
{
        settled(VERDICT_POSTED, 1);
        log_set_level(LOG_LEVEL_INFO);
        ck_assert_int_eq(reported(false, METRIC_POSTED), 1);
        ck_assert_str_eq(capture.text, "");
}
END_TEST

START_TEST(the_next_line_is_of_no_record_any_more)
{
        settled(VERDICT_HELD, 1);
        ck_assert_int_eq(reported(false, METRIC_HELD), 1);
        unit_capture_begin(&capture, STDERR_FILENO);
        log_info("after", "x=1");
        unit_assert_not_in(unit_capture_end(&capture), "topic=");
}
END_TEST

UNIT_MAIN("settlement", each_verdict_is_counted_and_logged_as_the_contract_says,
          behind_a_hold_only_what_was_settled_just_now_is_told,
          what_this_delivery_settled_before_is_told_and_not_counted_twice,
          a_record_without_notifications_is_rejected_as_one,
          a_rejected_record_says_why_once_and_counts_its_notifications,
          what_is_not_logged_is_counted_all_the_same, the_next_line_is_of_no_record_any_more)
