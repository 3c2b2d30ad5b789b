#include "ledger/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/rules.h"

enum po_class rows_open(struct rows *rows, size_t capacity, struct po_error *error)
{
        rows->capacity = capacity;
        rows->ids = calloc(capacity, sizeof *rows->ids);
        rows->orders = calloc(capacity, sizeof *rows->orders);
        rows->refunds = calloc(capacity, sizeof *rows->refunds);
        if (rows->ids == NULL || rows->orders == NULL || rows->refunds == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu orders", capacity);
        return PO_OK;
}

void rows_close(struct rows *rows)
{
        free(rows->ids);
        free(rows->orders);
        free(rows->refunds);
        memset(rows, 0, sizeof *rows);
}

static int compare_ids(const void *left, const void *right)
{
        return order_id_compare(left, right);
}

static int compare_refunds(const void *left, const void *right)
{
        return refund_compare(left, right);
}

bool rows_locks_order(const struct posting *posting)
{
        return posting->rule->subject != RULE_POSTS_ONLY && posting->subject.order_no[0] != '\0';
}

/* Sorted, each once. */
static size_t collect_orders(struct rows *rows, struct posting *const *set, size_t count)
{
        size_t found = 0, kept = 0;
        for (size_t i = 0; i < count; i++)
                if (rows_locks_order(set[i]))
                        rows->ids[found++] = (struct order_id){ set[i]->notification->tenant_id,
                                                                set[i]->subject.order_no };
        qsort(rows->ids, found, sizeof *rows->ids, compare_ids);
        for (size_t i = 0; i < found; i++)
                if (kept == 0 || order_id_compare(&rows->ids[kept - 1], &rows->ids[i]) != 0)
                        rows->ids[kept++] = rows->ids[i];
        return kept;
}

static void name_refund(struct refund *refund, const struct posting *posting)
{
        memset(refund, 0, sizeof *refund);
        refund->tenant_id = posting->notification->tenant_id;
        snprintf(refund->refund_no, sizeof refund->refund_no, "%s",
                 refund_no_of(posting->notification));
}

static void collect_refunds(struct rows *rows, struct posting *const *set, size_t count)
{
        size_t found = 0, kept = 0;
        for (size_t i = 0; i < count; i++)
                if (set[i]->rule->subject == RULE_REFUND)
                        name_refund(&rows->refunds[found++], set[i]);
        qsort(rows->refunds, found, sizeof *rows->refunds, compare_refunds);
        for (size_t i = 0; i < found; i++)
                if (kept == 0 || refund_compare(&rows->refunds[kept - 1], &rows->refunds[i]) != 0)
                        rows->refunds[kept++] = rows->refunds[i];
        rows->refunds_count = kept;
}

enum po_class rows_lock(struct rows *rows, struct db *db, struct sql *sql,
                        struct posting *const *set, size_t count, struct po_error *error)
{
        size_t orders = collect_orders(rows, set, count);
        if (orders_lock(db, sql, rows->ids, orders, rows->orders, &rows->orders_count, error) !=
            PO_OK)
                return error->kind;
        collect_refunds(rows, set, count);
        return refunds_lock(db, sql, rows->refunds, rows->refunds_count, error);
}

static int compare_to_order(const void *key, const void *element)
{
        const struct order *order = element;
        const struct order_id here = { order->tenant_id, order->order_no };
        return order_id_compare(key, &here);
}

struct order *rows_order(struct rows *rows, const struct posting *posting)
{
        const struct order_id wanted = { posting->notification->tenant_id,
                                         posting->subject.order_no };
        if (!rows_locks_order(posting) || rows->orders_count == 0)
                return NULL;
        return bsearch(&wanted, rows->orders, rows->orders_count, sizeof *rows->orders,
                       compare_to_order);
}

struct refund *rows_refund(struct rows *rows, const struct posting *posting)
{
        struct refund wanted;
        name_refund(&wanted, posting);
        return bsearch(&wanted, rows->refunds, rows->refunds_count, sizeof *rows->refunds,
                       compare_refunds);
}

size_t rows_touched(struct rows *rows)
{
        size_t count = 0;
        for (size_t i = 0; i < rows->orders_count; i++)
                if (rows->orders[i].touched)
                        rows->ids[count++] = (struct order_id){ rows->orders[i].tenant_id,
                                                                rows->orders[i].order_no };
        return count;
}
