#include "ledger/outbox.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

#include "base/text.h"
#include "ledger/rows.h"

enum { PAYLOAD_BYTES = 2048, AGGREGATE_BYTES = 256 };

/* Namespace of outbox ids: UUIDv5 of "claim id:line", so a retry tells of the same event again. */
static const uuid_t OUTBOX_NAMESPACE = { 0x5b, 0x0e, 0x5a, 0x0a, 0x2d, 0x1c, 0x4d, 0x5e,
                                         0x9d, 0x3a, 0x6f, 0x41, 0x70, 0x0c, 0x9e, 0x51 };

const struct bulk_form OUTBOX_FORM = {
        .insert = "INSERT INTO outbox (id, aggregatetype, aggregateid, type, payload, created_at)"
                  " VALUES ",
        .row = "(?,'" OUTBOX_AGGREGATE "',?,?,?,UTC_TIMESTAMP(6))",
        .types = "ttTt",
        .ending = "",
};

static void put_member(struct text *text, const char *name, const char *value)
{
        if (value[0] == '\0')
                return;
        text_put(text, ",\"");
        text_put(text, name);
        text_put(text, "\":");
        text_put_json(text, value);
}

/* schema/outbox.schema.json says what each member means. */
static void write_payload(struct text *text, const struct posting *posting, const char *type,
                          const char *status)
{
        const struct po_notification *notification = posting->notification;
        text_put(text, "{\"claim_id\":");
        text_put_integer(text, posting->claim_id);
        text_put(text, ",\"tenant_id\":");
        text_put_integer(text, notification->tenant_id);
        put_member(text, "type", type);
        put_member(text, "key", notification->key);
        put_member(text, "channel", notification->channel);
        put_member(text, "event", notification->event);
        put_member(text, "order_no", posting->subject.order_no);
        put_member(text, "refund_no", notification->refund_no);
        put_member(text, "status", status);
        /* What was posted; of a rule that posts nothing what the notice says. */
        if (posting->amount_minor != 0) {
                text_put(text, ",\"amount_minor\":");
                text_put_integer(text, posting->amount_minor);
                put_member(text, "currency", posting->currency);
        } else if (notification->amount_kind == PO_AMOUNT_THIS) {
                text_put(text, ",\"amount_minor\":");
                text_put_integer(text, notification->amount_minor);
                put_member(text, "currency", notification->currency);
        }
        if (notification->occurred_at_us != PO_TIME_UNKNOWN) {
                text_put(text, ",\"occurred_at\":\"");
                text_put_time(text, notification->occurred_at_us);
                text_put(text, "\"");
        }
        text_put(text, "}");
}

/*
 * Messages of one aggregate are told in order, so it must be one order of one tenant, which the
 * posting has locked; where it has locked none, be an order named or not, it is the movement of
 * money, which only its channel numbers. Injective: no ':' stands in a tenant or a channel.
 */
static void add_aggregate(struct bulk *bulk, const struct posting *posting)
{
        const struct po_notification *notification = posting->notification;
        char buffer[AGGREGATE_BYTES];
        struct text id;
        text_init(&id, buffer, sizeof buffer);
        text_put_integer(&id, notification->tenant_id);
        text_put(&id, ":");
        if (rows_locks_order(posting)) {
                text_put(&id, posting->subject.order_no);
        } else {
                text_put(&id, notification->channel);
                text_put(&id, ":");
                text_put(&id, notification->txn);
        }
        bulk_text(bulk, buffer);
}

void outbox_add(struct bulk *bulk, const struct posting *posting, const char *type,
                const char *status)
{
        char name[48], id[37], buffer[PAYLOAD_BYTES];
        int length = snprintf(name, sizeof name, "%lld:0", (long long)posting->claim_id);
        uuid_t uuid;
        uuid_generate_sha1(uuid, OUTBOX_NAMESPACE, name, (size_t)length);
        uuid_unparse_lower(uuid, id);

        struct text payload;
        text_init(&payload, buffer, sizeof buffer);
        write_payload(&payload, posting, type, status);
        assert(!payload.cut);

        bulk_text(bulk, id);
        add_aggregate(bulk, posting);
        bulk_text(bulk, type);
        bulk_text(bulk, buffer);
}
