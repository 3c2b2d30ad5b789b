#include "channel/envelope.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <json-c/json_object_iterator.h>

#include "channel/fill.h"
#include "channel/value.h"

enum member {
        MEMBER_CHANNEL,
        MEMBER_TENANT_ID,
        MEMBER_TXN,
        MEMBER_EVENT,
        MEMBER_ORDER_NO,
        MEMBER_PARENT,
        MEMBER_REFUND_NO,
        MEMBER_AMOUNT_MINOR,
        MEMBER_AMOUNT,
        MEMBER_CURRENCY,
        MEMBER_FEE_MINOR,
        MEMBER_FEE,
        MEMBER_OCCURRED_AT,
        MEMBER_BODY,
        MEMBERS
};

static const struct {
        const char *name;
        enum json_type type; /* json_type_null: any */
} members[] = {
        [MEMBER_CHANNEL] = { "channel", json_type_string },
        [MEMBER_TENANT_ID] = { "tenant_id", json_type_int },
        [MEMBER_TXN] = { "txn", json_type_string },
        [MEMBER_EVENT] = { "event", json_type_string },
        [MEMBER_ORDER_NO] = { "order_no", json_type_string },
        [MEMBER_PARENT] = { "parent", json_type_string },
        [MEMBER_REFUND_NO] = { "refund_no", json_type_string },
        [MEMBER_AMOUNT_MINOR] = { "amount_minor", json_type_int },
        [MEMBER_AMOUNT] = { "amount", json_type_string },
        [MEMBER_CURRENCY] = { "currency", json_type_string },
        [MEMBER_FEE_MINOR] = { "fee_minor", json_type_int },
        [MEMBER_FEE] = { "fee", json_type_string },
        [MEMBER_OCCURRED_AT] = { "occurred_at", json_type_string },
        [MEMBER_BODY] = { ENVELOPE_UNREAD, json_type_null },
};
_Static_assert(sizeof members / sizeof members[0] == MEMBERS, "every member has a type");

/* An envelope's members by their place in the table; NULL: absent. */
struct envelope {
        struct json_object *value[MEMBERS];
};

static enum po_class fail_type(enum member member, struct json_object *value,
                               struct po_error *error)
{
        bool money = member == MEMBER_AMOUNT || member == MEMBER_AMOUNT_MINOR ||
                     member == MEMBER_FEE || member == MEMBER_FEE_MINOR;
        if (money && json_object_is_type(value, json_type_double))
                return po_refuse(error, "AMOUNT_NOT_EXACT",
                                 "%s is a JSON number with a fraction or an exponent",
                                 members[member].name);
        return po_refuse(error, "WRONG_TYPE", "%s is no JSON %s", members[member].name,
                         members[member].type == json_type_int ? "integer" : "string");
}

static enum po_class member_take(struct envelope *envelope, const char *name,
                                 struct json_object *value, struct po_error *error)
{
        for (size_t i = 0; i < MEMBERS; i++) {
                /* The first byte tells most of them apart, without a call. */
                if (members[i].name[0] != name[0] || strcmp(members[i].name, name) != 0)
                        continue;
                if (value != NULL && members[i].type != json_type_null &&
                    !json_object_is_type(value, members[i].type))
                        return fail_type((enum member)i, value, error);
                envelope->value[i] = value;
                return PO_OK;
        }
        return po_refuse(error, "UNKNOWN_MEMBER", "the envelope has a member that none has");
}

static enum po_class members_take(struct envelope *envelope, struct json_object *root,
                                  struct po_error *error)
{
        if (!json_object_is_type(root, json_type_object))
                return po_refuse(error, "WRONG_TYPE", "an envelope is a JSON object");
        struct json_object_iterator at = json_object_iter_begin(root);
        struct json_object_iterator end = json_object_iter_end(root);
        for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
                if (member_take(envelope, json_object_iter_peek_name(&at),
                                json_object_iter_peek_value(&at), error) != PO_OK)
                        return error->kind;
        return PO_OK;
}

static enum po_class head_fill(const struct envelope *envelope,
                               struct po_notification *notification, struct po_error *error)
{
        struct json_object *channel = envelope->value[MEMBER_CHANNEL];
        if (channel != NULL && strcmp(json_object_get_string(channel), notification->channel) != 0)
                return po_refuse(error, "CHANNEL_MISMATCH",
                                 "the envelope's channel is not %s, the one of its topic or header",
                                 notification->channel);
        struct json_object *tenant_id = envelope->value[MEMBER_TENANT_ID];
        if (tenant_id == NULL)
                return PO_OK;
        notification->tenant_id = json_object_get_int64(tenant_id);
        if (notification->tenant_id < 1)
                return po_refuse(error, "TENANT_OUT_OF_RANGE", "tenant_id is below 1");
        return PO_OK;
}

static enum po_class event_fill(const struct envelope *envelope,
                                struct po_notification *notification, struct po_error *error)
{
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
        struct json_object *event = envelope->value[MEMBER_EVENT];
        if (event == NULL)
                return po_refuse(error, "EVENT_MISSING", "the envelope has no event");
        if (value_copy(event, "event", "EVENT_MALFORMED", notification->event,
                       sizeof notification->event, error) != PO_OK)
                return error->kind;
        if (notification->event[0] == '\0' ||
            notification->event[strspn(notification->event, letters)] != '\0')
                return po_refuse(error, "EVENT_MALFORMED",
                                 "event is no word of A-Z, 0-9 and _, at most %d of them",
                                 PO_EVENT_BYTES - 1);
        return PO_OK;
}

static enum po_class names_fill(const struct envelope *envelope,
                                struct po_notification *notification, struct po_error *error)
{
        struct json_object *parent = envelope->value[MEMBER_PARENT];
        if (fill_txn_part(notification->txn, envelope->value[MEMBER_TXN], "txn", error) != PO_OK)
                return error->kind;
        if (parent != NULL && json_object_get_string_len(parent) > 0 &&
            fill_txn_part(notification->parent, parent, "parent", error) != PO_OK)
                return error->kind;
        if (fill_order_no(notification, envelope->value[MEMBER_ORDER_NO], "order_no", error) !=
            PO_OK)
                return error->kind;
        return fill_refund_no(notification, envelope->value[MEMBER_REFUND_NO], "refund_no", error);
}

static enum po_class money_fill(const struct envelope *envelope,
                                struct po_notification *notification, struct po_error *error)
{
        struct json_object *minor = envelope->value[MEMBER_AMOUNT_MINOR];
        struct json_object *decimal = envelope->value[MEMBER_AMOUNT];
        struct json_object *currency = envelope->value[MEMBER_CURRENCY];
        if (minor != NULL && decimal != NULL)
                return po_refuse(error, "AMOUNT_TWICE", "both amount and amount_minor are there");
        bool paid = minor != NULL || decimal != NULL;
        if (!paid && currency == NULL)
                return PO_OK;
        if (!paid)
                return po_refuse(error, "AMOUNT_MISSING", "a currency without an amount");
        if (currency == NULL)
                return po_refuse(error, "CURRENCY_MISSING", "an amount without a currency");
        if (fill_currency(notification, json_object_get_string(currency), error) != PO_OK)
                return error->kind;
        const struct amount_form form = {
                .format = minor != NULL ? AMOUNT_MINOR : AMOUNT_DECIMAL,
                .kind = PO_AMOUNT_THIS,
                .exponent = AMOUNT_EXPONENT_ISO,
        };
        return fill_amount(notification, &form, minor != NULL ? minor : decimal, NULL, error);
}

static enum po_class fee_fill(const struct envelope *envelope, struct po_notification *notification,
                              struct po_error *error)
{
        struct json_object *minor = envelope->value[MEMBER_FEE_MINOR];
        struct json_object *decimal = envelope->value[MEMBER_FEE];
        if (minor != NULL && decimal != NULL)
                return po_refuse(error, "FEE_TWICE", "both fee and fee_minor are there");
        const struct amount_form form = {
                .format = minor != NULL ? AMOUNT_MINOR : AMOUNT_DECIMAL,
                .exponent = AMOUNT_EXPONENT_ISO,
        };
        return fill_fee(notification, &form, minor != NULL ? minor : decimal, error);
}

enum po_class envelope_decode(struct json_object *root, struct po_notification *notification,
                              struct po_error *error)
{
        static const struct moment_form rfc3339 = { .format = MOMENT_RFC3339 };
        struct envelope envelope = { 0 };
        notification->occurred_at_us = PO_TIME_UNKNOWN;
        if (members_take(&envelope, root, error) != PO_OK ||
            head_fill(&envelope, notification, error) != PO_OK ||
            event_fill(&envelope, notification, error) != PO_OK ||
            names_fill(&envelope, notification, error) != PO_OK ||
            money_fill(&envelope, notification, error) != PO_OK ||
            fee_fill(&envelope, notification, error) != PO_OK)
                return error->kind;
        return fill_occurred_at(notification, &rfc3339, envelope.value[MEMBER_OCCURRED_AT], error);
}

const char *envelope_channel(struct json_object *root)
{
        struct json_object *channel = NULL;
        if (!json_object_is_type(root, json_type_object) ||
            !json_object_object_get_ex(root, members[MEMBER_CHANNEL].name, &channel) ||
            !json_object_is_type(channel, json_type_string))
                return NULL;
        return json_object_get_string(channel);
}
