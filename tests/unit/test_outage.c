#include "unit.h"

#include "base/log.h"
#include "base/outage.h"

static struct outage outage;
static struct po_error error;
static unsigned alarms;

static void count_alarm(const char *code)
{
        ck_assert_str_eq(code, "SYSTEMIC");
        alarms++;
}

static void note(enum po_class kind)
{
        po_fail(&error, kind, 1142, "INSERT command denied");
        outage_note(&outage, &error);
}

START_TEST(a_systemic_one_reds_readiness_at_once_and_is_alarmed_once)
{
        log_set_alarm_observer(count_alarm);
        note(PO_SYSTEMIC);
        note(PO_SYSTEMIC);
        ck_assert_int_eq(outage.kind, PO_SYSTEMIC);
        ck_assert_uint_eq(outage.tries, 2);
        ck_assert_uint_eq(alarms, 1);
        ck_assert_ptr_nonnull(outage_reason(&outage));
}
END_TEST

START_TEST(a_transient_one_leaves_readiness_green_at_first)
{
        note(PO_TRANSIENT);
        note(PO_UNCERTAIN);
        ck_assert_int_eq(outage.kind, PO_TRANSIENT);
        ck_assert_ptr_null(outage_reason(&outage));
}
END_TEST

START_TEST(a_transient_error_does_not_make_a_systemic_outage_less)
{
        log_set_alarm_observer(count_alarm);
        note(PO_SYSTEMIC);
        note(PO_TRANSIENT);
        ck_assert_int_eq(outage.kind, PO_SYSTEMIC);
        note(PO_SYSTEMIC);
        ck_assert_uint_eq(alarms, 1);
}
END_TEST

START_TEST(its_end_makes_ready_and_the_next_one_begins_anew)
{
        log_set_alarm_observer(count_alarm);
        note(PO_SYSTEMIC);
        outage_over(&outage);
        ck_assert_int_eq(outage.kind, PO_OK);
        ck_assert_ptr_null(outage_reason(&outage));
        note(PO_SYSTEMIC);
        ck_assert_uint_eq(outage.tries, 1);
        ck_assert_uint_eq(alarms, 2);
}
END_TEST

START_TEST(none_is_no_reason)
{
        outage_over(&outage);
        ck_assert_ptr_null(outage_reason(&outage));
}
END_TEST

UNIT_MAIN("outage", a_systemic_one_reds_readiness_at_once_and_is_alarmed_once,
          a_transient_one_leaves_readiness_green_at_first,
          a_transient_error_does_not_make_a_systemic_outage_less,
          its_end_makes_ready_and_the_next_one_begins_anew, none_is_no_reason)
