#include "ledger/outbox.h"

#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

#include "base/text.h"

enum { PAYLOAD_BYTES = 2048 };

/* Namespace of outbox ids: UUIDv5 of "claim id:line", so a retry tells of the same event again. */
static const uuid_t OUTBOX_NAMESPACE = { 0x5b, 0x0e, 0x5a, 0x0a, 0x2d, 0x1c, 0x4d, 0x5e,
                                         0x9d, 0x3a, 0x6f, 0x41, 0x70, 0x0c, 0x9e, 0x51 };

void outbox_reset(struct outbox *outbox)
{
        sql_reset(&outbox->sql);
        sql_raw(&outbox->sql, "INSERT INTO outbox (id, aggregatetype, aggregateid, type, payload,"
                              " created_at) VALUES ");
        outbox->rows = 0;
}

void outbox_free(struct outbox *outbox)
{
        sql_free(&outbox->sql);
}

static void write_payload(struct text *text, const struct posting *posting, const char *type,
                          const char *status)
{
        const struct po_notification *notification = posting->notification;
        text_put(text, "{\"type\":");
        text_put_json(text, type);
        text_put(text, ",\"key\":");
        text_put_json(text, notification->key);
        text_format(text, ",\"claim_id\":%lld,\"tenant_id\":%lld", (long long)posting->claim_id,
                    (long long)notification->tenant_id);
        text_put(text, ",\"channel\":");
        text_put_json(text, notification->channel);
        text_put(text, ",\"event\":");
        text_put_json(text, notification->event);
        text_put(text, ",\"order_no\":");
        text_put_json(text, notification->order_no);
        if (status[0] != '\0') {
                text_put(text, ",\"status\":");
                text_put_json(text, status);
        }
        if (notification->amount_kind != PO_AMOUNT_NONE) {
                text_format(text, ",\"amount_minor\":%lld,\"currency\":",
                            (long long)notification->amount_minor);
                text_put_json(text, notification->currency);
        }
        text_put(text, "}");
}

void outbox_add(struct outbox *outbox, const struct posting *posting, const char *type,
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

        struct sql *sql = &outbox->sql;
        sql_raw(sql, outbox->rows++ == 0 ? "(" : ",(");
        sql_text(sql, id);
        sql_raw(sql, ",'order',");
        const char *order_no = posting->notification->order_no;
        sql_text(sql, order_no[0] != '\0' ? order_no : posting->notification->txn);
        sql_raw(sql, ",");
        sql_text(sql, type);
        sql_raw(sql, ",");
        sql_text(sql, buffer);
        sql_raw(sql, ",UTC_TIMESTAMP(6))");
}

enum po_class outbox_insert(struct outbox *outbox, struct db *db, struct po_error *error)
{
        if (outbox->rows == 0)
                return PO_OK;
        if (db_exec(db, &outbox->sql, NULL, error) != PO_OK)
                return po_within(error, "write %zu outbox rows", outbox->rows);
        return PO_OK;
}
