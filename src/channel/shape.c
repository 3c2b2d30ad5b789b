#include "channel/shape.h"

#include <string.h>

#include "base/limits.h"
#include "channel/trace.h"
#include "postonce/key.h"

/* What grows while a record is taken apart. */
struct harvest {
        const struct shape *shape;
        const struct po_notification *blank;
        struct po_notification *notifications;
        size_t count;
};

static char first_byte(const char *bytes, size_t length)
{
        static const char byte_order_mark[] = "\xEF\xBB\xBF";
        size_t at = length >= 3 && memcmp(bytes, byte_order_mark, 3) == 0 ? 3 : 0;
        while (at < length && memchr(" \t\r\n", bytes[at], 4) != NULL)
                at++;
        return at < length ? bytes[at] : '\0';
}

bool shape_fits(const struct shape *shape, const struct scope *scope, const char *bytes,
                size_t length, const struct condition **failed_out)
{
        *failed_out = NULL;
        if (shape->first != '\0' && first_byte(bytes, length) != shape->first)
                return false;
        *failed_out = conditions_fail(&shape->when, scope);
        return *failed_out == NULL;
}

static enum po_class fail_items(const struct pointer *each, struct po_error *error)
{
        return po_refuse(error, "ITEMS_MISSING", "there is no list of items at %s", each->source);
}

static struct json_object *list_find(const struct pointer *each, const struct scope *scope)
{
        struct json_object *list = pointer_find(each, scope);
        return json_object_is_type(list, json_type_array) ? list : NULL;
}

static enum po_class notification_add(struct harvest *harvest, const struct rule *rule,
                                      const struct scope *scope, struct po_error *error)
{
        if (harvest->count == NOTIFICATIONS_PER_RECORD_MAX)
                return po_refuse(error, "TOO_MANY_ITEMS", "over %d notifications in one record",
                                 NOTIFICATIONS_PER_RECORD_MAX);
        struct po_notification *notification = &harvest->notifications[harvest->count];
        *notification = *harvest->blank;
        if (rule_apply(rule, &harvest->shape->exponents, scope, notification, error) != PO_OK ||
            po_key_seal(notification, error) != PO_OK)
                return error->kind;
        harvest->count++;
        return PO_OK;
}

static enum po_class rule_unroll(struct harvest *harvest, const struct rule *rule,
                                 const struct scope *scope, struct po_error *error)
{
        if (!pointer_is_given(&rule->each))
                return notification_add(harvest, rule, scope, error);
        struct json_object *list = list_find(&rule->each, scope);
        if (list == NULL)
                return fail_items(&rule->each, error);
        size_t length = json_object_array_length(list);
        for (size_t i = 0; i < length; i++) {
                struct scope inner = *scope;
                inner.item = json_object_array_get_idx(list, i);
                const struct condition *failed = conditions_fail(&rule->where, &inner);
                trace_tell(&inner, (struct trace_step){ .kind = TRACE_CHOICE,
                                                        .index = i,
                                                        .holds = failed == NULL,
                                                        .failed = failed,
                                                        .rule = rule });
                if (failed != NULL)
                        continue;
                if (notification_add(harvest, rule, &inner, error) != PO_OK)
                        return po_within(error, "item %zu", i);
        }
        return PO_OK;
}

static enum po_class rules_apply(struct harvest *harvest, const struct scope *scope,
                                 struct po_error *error)
{
        const struct rule_list *rules = &harvest->shape->rules;
        const struct condition *failed = conditions_fail(&harvest->shape->guard, scope);
        if (harvest->shape->guard.count > 0)
                trace_tell(scope, (struct trace_step){ .kind = TRACE_GUARD,
                                                       .holds = failed == NULL,
                                                       .failed = failed });
        if (failed != NULL)
                return po_refuse(error, "GUARD_FAILED", "%s is not what the guard wants",
                                 failed->at.source);
        bool matched = false;
        for (size_t i = 0; i < rules->count; i++) {
                const struct rule *rule = &rules->items[i];
                failed = conditions_fail(&rule->when, scope);
                trace_tell(scope, (struct trace_step){ .kind = TRACE_RULE,
                                                       .index = i,
                                                       .holds = failed == NULL,
                                                       .failed = failed,
                                                       .rule = rule });
                if (failed != NULL)
                        continue;
                matched = true;
                if (!rule->ignore && rule_unroll(harvest, rule, scope, error) != PO_OK)
                        return error->kind;
                if (!rule->goes_on)
                        break;
        }
        return matched ? PO_OK
                       : po_refuse(error, "NO_RULE", "no rule of channel %s matches",
                                   harvest->blank->channel);
}

static enum po_class items_apply(struct harvest *harvest, const struct scope *scope,
                                 struct po_error *error)
{
        const struct shape *shape = harvest->shape;
        struct json_object *list = list_find(&shape->each, scope);
        size_t length = list == NULL ? 0 : json_object_array_length(list);
        if (length == 0)
                return fail_items(&shape->each, error);
        for (size_t i = 0; i < length; i++) {
                struct scope inner = *scope;
                inner.item = json_object_array_get_idx(list, i);
                if (pointer_is_given(&shape->item)) {
                        const struct scope element = { .root = inner.item };
                        inner.item = pointer_find(&shape->item, &element);
                }
                trace_tell(&inner,
                           (struct trace_step){ .kind = TRACE_ITEM, .index = i, .holds = true });
                if (rules_apply(harvest, &inner, error) != PO_OK)
                        return po_within(error, "item %zu", i);
        }
        return PO_OK;
}

enum po_class shape_apply(const struct shape *shape, const struct scope *scope,
                          const struct po_notification *blank,
                          struct po_notification *notifications, size_t *count_out,
                          struct po_error *error)
{
        struct harvest harvest = {
                .shape = shape,
                .blank = blank,
                .notifications = notifications,
        };
        *count_out = 0;
        enum po_class kind = pointer_is_given(&shape->each) ? items_apply(&harvest, scope, error)
                                                            : rules_apply(&harvest, scope, error);
        if (kind == PO_OK)
                *count_out = harvest.count;
        return kind;
}
