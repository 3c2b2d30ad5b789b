/* What libpostonce refuses of a refund before it asks a database: there is none here. */
#include "unit.h"

#include "library/library.h"
#include "postonce/refund.h"

static struct po_ledger nothing; /* no connection: any use of it would crash */
static struct po_error error;

static enum po_class call(const struct po_refund *refund)
{
        struct po_refund_state state;
        return po_refund_register(&nothing, refund, &state, &error);
}

static void assert_malformed(struct po_refund refund)
{
        ck_assert_int_eq(call(&refund), PO_RECORD);
        ck_assert_str_eq(error.reason, "REFUND_MALFORMED");
}

#define SIXTY_FIVE "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

START_TEST(what_no_refund_can_be_is_refused)
{
        assert_malformed((struct po_refund){ 0, "F", "R", 1, "CNY" });
        assert_malformed((struct po_refund){ 1, NULL, "R", 1, "CNY" });
        assert_malformed((struct po_refund){ 1, "", "R", 1, "CNY" });
        assert_malformed((struct po_refund){ 1, " F", "R", 1, "CNY" });
        assert_malformed((struct po_refund){ 1, "F", "R ", 1, "CNY" });
        assert_malformed((struct po_refund){ 1, "F\n", "R", 1, "CNY" });
        assert_malformed((struct po_refund){ 1, "F\xff", "R", 1, "CNY" });
        assert_malformed((struct po_refund){ 1, SIXTY_FIVE, "R", 1, "CNY" });
        assert_malformed((struct po_refund){ 1, "F", SIXTY_FIVE, 1, "CNY" });
        assert_malformed((struct po_refund){ 1, "F", "R", 0, "CNY" });
        assert_malformed((struct po_refund){ 1, "F", "R", -1, "CNY" });
        assert_malformed((struct po_refund){ 1, "F", "R", INT64_C(9007199254740992), "CNY" });
        assert_malformed((struct po_refund){ 1, "F", "R", 1, "cny" });
        assert_malformed((struct po_refund){ 1, "F", "R", 1, NULL });
}
END_TEST

START_TEST(without_rules_no_refund_is_registered)
{
        const struct po_refund refund = { 1, "F", "R", 1, "CNY" };
        ck_assert_int_eq(call(&refund), PO_SYSTEMIC);
}
END_TEST

UNIT_MAIN("library_refund", what_no_refund_can_be_is_refused, without_rules_no_refund_is_registered)
