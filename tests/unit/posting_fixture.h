/* What the tests of the ledger share: rules from a text, and postings of payments. */
#ifndef POSTING_FIXTURE_H
#define POSTING_FIXTURE_H

#include "unit.h"

#include "ledger/claim.h"
#include "ledger/rules.h"

#ifndef FIXTURE_ROWS
#define FIXTURE_ROWS 16
#endif
enum { FIXTURE_MAX = FIXTURE_ROWS };

/* 32 bytes that are a text, too, for the fake's cells. */
#define FINGERPRINT_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define FINGERPRINT_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
/* FINGERPRINT_A as sql_binary() writes it. */
#define FINGERPRINT_A_HEX "X'6161616161616161616161616161616161616161616161616161616161616161'"
/* The same as bulk_binary() gives it, for UNHEX(?). */
#define FINGERPRINT_A_UNHEX                                                                        \
        "UNHEX('6161616161616161616161616161616161616161616161616161616161616161')"
#define FINGERPRINT_B_HEX "X'6262626262626262626262626262626262626262626262626262626262626262'"

static struct po_notification notifications[FIXTURE_MAX];
static struct record records[FIXTURE_MAX];
static struct posting postings[FIXTURE_MAX];
static struct posting *open_postings[FIXTURE_MAX];
static struct po_error error;

#define PAYMENT_RULE                                                                               \
        "PAYMENT_RECEIVED:\n"                                                                      \
        "  order: { from: [PENDING_PAY], to: PAID, already: [PAID, SHIPPED], wait: [DRAFT] }\n"    \
        "  post:\n"                                                                                \
        "    - { debit: 'channel:{channel}:clearing', credit: 'merchant:{tenant}:payable',"        \
        " amount: amount }\n"                                                                      \
        "  outbox: ORDER_PAID\n"
#define FEE_RULE                                                                                   \
        "FEE_CHARGED:\n"                                                                           \
        "  post: [ { debit: fees, credit: 'channel:{channel}:clearing', amount: amount } ]\n"

static inline struct rules *fixture_rules(const char *orders, const char *events)
{
        struct document *of_orders = NULL, *of_events;
        struct rules *rules;
        if (orders != NULL)
                ck_assert_int_eq(
                        document_parse(&of_orders, "orders", orders, strlen(orders), &error),
                        PO_OK);
        ck_assert_int_eq(document_parse(&of_events, "events", events, strlen(events), &error),
                         PO_OK);
        ck_assert_msg(rules_read(of_orders != NULL ? document_root(of_orders) : NULL,
                                 document_root(of_events), &rules, &error) == PO_OK,
                      "%s", error.text);
        document_close(of_orders);
        document_close(of_events);
        return rules;
}

#define ORDERS_WITH_OTHERS "external: [SHIPPED, DRAFT, CLOSED]"

/*
 * The i-th posting: 128.80 CNY for that order under that txn, delivered at offset 100 + i of
 * callbacks/0. open_postings[i] points to it. order_no may be "".
 */
static inline struct posting *fixture_posting(size_t i, const struct event_rule *rule,
                                              const char *txn, const char *order_no)
{
        struct po_notification *notification = &notifications[i];
        struct record *record = &records[i];
        struct posting *posting = &postings[i];
        ck_assert_uint_lt(i, FIXTURE_MAX);
        memset(notification, 0, sizeof *notification);
        const char *event = rule != NULL ? rule->event : "PAYMENT_RECEIVED";
        notification->tenant_id = 1;
        notification->amount_kind = PO_AMOUNT_THIS;
        notification->amount_minor = 12880;
        notification->occurred_at_us = PO_TIME_UNKNOWN;
        snprintf(notification->channel, sizeof notification->channel, "SQB");
        snprintf(notification->txn, sizeof notification->txn, "%s", txn);
        snprintf(notification->event, sizeof notification->event, "%s", event);
        snprintf(notification->order_no, sizeof notification->order_no, "%s", order_no);
        snprintf(notification->currency, sizeof notification->currency, "CNY");
        int bytes = snprintf(notification->key, sizeof notification->key, "SQB:%s:%s", txn, event);
        ck_assert_int_lt(bytes, (int)sizeof notification->key);
        memcpy(notification->fingerprint, FINGERPRINT_A, PO_FINGERPRINT_BYTES);
        notification->fingerprint_version = PO_FINGERPRINT_VERSION;

        *record = (struct record){ .topic = "callbacks",
                                   .offset = 100 + (int64_t)i,
                                   .timestamp_ms = -1,
                                   .value = "SECRET-BODY",
                                   .value_bytes = 11 };
        *posting = (struct posting){ .notification = notification,
                                     .record = record,
                                     .rule = rule,
                                     .turn = (uint32_t)i,
                                     .claim_id = 1000 + (int64_t)i,
                                     .deliveries = 1 };
        memcpy(posting->first_fingerprint, FINGERPRINT_A, PO_FINGERPRINT_BYTES);
        memcpy(posting->subject.order_no, notification->order_no, sizeof notification->order_no);
        memcpy(posting->currency, notification->currency, sizeof posting->currency);
        posting->amount_minor = notification->amount_minor;
        open_postings[i] = posting;
        return posting;
}

#endif
