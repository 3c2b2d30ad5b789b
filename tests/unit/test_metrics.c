#include "unit.h"

#include "ops/metrics.h"

static char *printed(void)
{
        char *text = NULL;
        size_t bytes = 0;
        FILE *stream = open_memstream(&text, &bytes);
        metrics_print(stream);
        fclose(stream);
        return text;
}

static int count_of(const char *text, const char *needle)
{
        int count = 0;
        for (; (text = strstr(text, needle)) != NULL; text++)
                count++;
        return count;
}

START_TEST(a_counter_prints_what_was_added)
{
        metric_add(METRIC_RECORDS, 3);
        metric_add(METRIC_RECORDS, 4);
        ck_assert_int_eq(metric_get(METRIC_RECORDS), 7);
        char *text = printed();
        unit_assert_in(text, "# HELP postonce_records_total records taken from the topics\n"
                             "# TYPE postonce_records_total counter\n"
                             "postonce_records_total 7\n");
        free(text);
}
END_TEST

START_TEST(a_family_has_its_help_and_type_once)
{
        char *text = printed();
        ck_assert_int_eq(count_of(text, "# HELP postonce_notifications_total "), 1);
        ck_assert_int_eq(count_of(text, "# TYPE postonce_notifications_total counter\n"), 1);
        ck_assert_int_eq(count_of(text, "\npostonce_notifications_total{verdict=\""), 10);
        /* postonce_partitions_assigned must not pass for the family of postonce_partitions_held */
        ck_assert_int_eq(count_of(text, "# TYPE postonce_partitions_"), 2);
        free(text);
}
END_TEST

START_TEST(every_metric_of_the_list_is_printed)
{
        char *text = printed();
        int lines = count_of(text, "\n") - count_of(text, "# HELP") - count_of(text, "# TYPE");
        ck_assert_int_eq(lines, METRIC_COUNT);
        free(text);
}
END_TEST

START_TEST(lag_is_unknown_until_it_is_set)
{
        char *text = printed();
        unit_assert_in(text, "\npostonce_lag_records -1\n");
        free(text);
        metric_set(METRIC_LAG, 0);
        text = printed();
        unit_assert_in(text, "\npostonce_lag_records 0\n");
        free(text);
}
END_TEST

START_TEST(alarms_are_counted_by_code)
{
        metric_alarm("PAYLOAD_CONFLICT");
        metric_alarm("SYSTEMIC");
        char same[] = "PAYLOAD_CONFLICT";
        metric_alarm(same);
        char *text = printed();
        unit_assert_in(text, "# TYPE postonce_alarms_total counter\n"
                             "postonce_alarms_total{code=\"PAYLOAD_CONFLICT\"} 2\n"
                             "postonce_alarms_total{code=\"SYSTEMIC\"} 1\n");
        free(text);
}
END_TEST

START_TEST(alarms_beyond_the_slots_are_counted_together)
{
        static char codes[40][8];
        for (int i = 0; i < 40; i++) {
                snprintf(codes[i], sizeof codes[i], "C%d", i);
                metric_alarm(codes[i]);
        }
        char *text = printed();
        unit_assert_in(text, "postonce_alarms_total{code=\"C30\"} 1\n");
        unit_assert_in(text, "postonce_alarms_total{code=\"OTHER\"} 9\n");
        free(text);
}
END_TEST

START_TEST(a_worker_is_not_ready_until_it_says_so)
{
        ck_assert_str_eq(readiness_reason(), "starting");
        ck_assert_int_eq(metric_get(METRIC_READY), 0);
        readiness_set(NULL);
        ck_assert_ptr_null(readiness_reason());
        ck_assert_int_eq(metric_get(METRIC_READY), 1);
        readiness_set("database away");
        ck_assert_str_eq(readiness_reason(), "database away");
        ck_assert_int_eq(metric_get(METRIC_READY), 0);
}
END_TEST

START_TEST(a_worker_lives_while_its_last_round_is_young)
{
        ck_assert(!liveness_is_alive(1000000));
        liveness_beat();
        ck_assert(liveness_is_alive(10000));
        ck_assert(!liveness_is_alive(0));
}
END_TEST

UNIT_MAIN("metrics", a_counter_prints_what_was_added, a_family_has_its_help_and_type_once,
          every_metric_of_the_list_is_printed, lag_is_unknown_until_it_is_set,
          alarms_are_counted_by_code, alarms_beyond_the_slots_are_counted_together,
          a_worker_is_not_ready_until_it_says_so, a_worker_lives_while_its_last_round_is_young)
