#include "ledger/refund_reserve.h"

#include <stdio.h>
#include <string.h>

#include "base/failpoint.h"
#include "ledger/order.h"
#include "ledger/parked.h"
#include "mysql/again.h"

/* Judged by its affected rows: the order's lock makes a second one wait and count the first. */
static enum po_class reserve_on_order(struct db *db, struct sql *sql, const struct event_rule *rule,
                                      const struct refund *refund, bool *reserved_out,
                                      struct po_error *error)
{
        struct db_result result;
        sql_reset(sql);
        sql_raw(sql, "UPDATE payment_order SET refund_reserved = refund_reserved + ");
        sql_integer(sql, refund->amount_minor);
        sql_raw(sql, ", moved_at = UTC_TIMESTAMP(6) WHERE tenant_id = ");
        sql_integer(sql, refund->tenant_id);
        sql_raw(sql, " AND order_no = ");
        sql_text(sql, refund->order_no);
        sql_raw(sql, " AND currency = ");
        sql_text(sql, refund->currency);
        sql_raw(sql, " AND status IN (");
        for (size_t i = 0; i < rule->from.count; i++) {
                sql_raw(sql, i == 0 ? "" : ",");
                sql_text(sql, rule->from.words[i]);
        }
        sql_raw(sql, ") AND refunded + refund_reserved + ");
        sql_integer(sql, refund->amount_minor);
        sql_raw(sql, " <= paid_amount");
        if (db_exec(db, sql, &result, error) != PO_OK)
                return po_within(error, "reserve");
        *reserved_out = result.affected_rows == 1;
        return PO_OK;
}

/* EXISTS: not reserved, or registered before: what is there tells which. */
static enum po_class reserve(struct db *db, struct sql *sql, const struct event_rule *rule,
                             struct refund *refund, struct po_error *error)
{
        bool reserved = false;
        const struct order_id order = { refund->tenant_id, refund->order_no };
        refund->fresh = refund->registered = true;
        refund->reserved = refund->amount_minor;
        snprintf(refund->status, sizeof refund->status, "%s", rule->refund.create);
        if (PO_FAILPOINT("refund.begun") != PO_OK ||
            reserve_on_order(db, sql, rule, refund, &reserved, error) != PO_OK)
                return error->kind;
        if (!reserved)
                return po_fail(error, PO_EXISTS, 0, "nothing was reserved");
        if (PO_FAILPOINT("refund.reserved") != PO_OK ||
            refunds_write(db, sql, refund, 1, error) != PO_OK ||
            parked_make_due(db, sql, &order, 1, error) != PO_OK)
                return error->kind;
        return PO_FAILPOINT("refund.before_commit");
}

static enum po_class explain_order(struct db *db, struct sql *sql, const struct event_rule *rule,
                                   const struct refund *refund, struct po_error *error)
{
        struct order order;
        bool found = false;
        const struct order_id id = { refund->tenant_id, refund->order_no };
        if (order_read(db, sql, &id, &order, &found, error) != PO_OK)
                return error->kind;
        if (!found)
                return po_refuse(error, "ORDER_UNKNOWN", "no order %s of tenant %lld", id.order_no,
                                 (long long)id.tenant_id);
        if (strcmp(order.currency, refund->currency) != 0)
                return po_refuse(error, "REFUND_DIFFERS", "order %s is in %s, not %s", id.order_no,
                                 order.currency, refund->currency);
        if (!states_have(&rule->from, order.status))
                return po_refuse(error, "STATE_REFUSED", "order %s is %s", id.order_no,
                                 order.status);
        return po_refuse(error, "REFUND_EXCEEDS",
                         "order %s: paid %lld, refunded %lld, reserved %lld: %lld is too much",
                         id.order_no, (long long)order.paid_amount, (long long)order.refunded,
                         (long long)order.refund_reserved, (long long)refund->amount_minor);
}

/* Nothing was written: by the same refund's row, or by the order, it is clear why. */
static enum po_class explain(struct db *db, struct sql *sql, const struct event_rule *rule,
                             struct refund *refund, bool *again_out, struct po_error *error)
{
        struct refund there;
        if (refund_read(db, sql, refund->tenant_id, refund->refund_no, &there, error) != PO_OK)
                return error->kind;
        if (!there.exists)
                return explain_order(db, sql, rule, refund, error);
        if (strcmp(there.order_no, refund->order_no) != 0 ||
            there.amount_minor != refund->amount_minor ||
            strcmp(there.currency, refund->currency) != 0)
                return po_refuse(error, "REFUND_DIFFERS",
                                 "refund %s is registered for order %s with %lld %s, not for %s "
                                 "with %lld %s",
                                 refund->refund_no, there.order_no, (long long)there.amount_minor,
                                 there.currency, refund->order_no, (long long)refund->amount_minor,
                                 refund->currency);
        *refund = there;
        *again_out = true;
        return PO_OK;
}

enum po_class refund_reserve(struct db *db, struct sql *sql, const struct event_rule *rule,
                             struct refund *refund, bool *again_out, struct po_error *error)
{
        enum po_class kind;
        unsigned tries = 0;
        *again_out = false;
        do {
                if (db_begin(db, error) != PO_OK)
                        return error->kind;
                kind = db_end(db, reserve(db, sql, rule, refund, error), error);
        } while (db_try_again(db, kind, &tries));
        if (kind == PO_EXISTS)
                kind = explain(db, sql, rule, refund, again_out, error);
        if (kind != PO_OK)
                return po_within(error, "register refund %s", refund->refund_no);
        return PO_OK;
}
