#include "channel/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "channel/rule_load.h"
#include "config/document.h"
#include "config/schema.h"

static enum po_class read_label(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        (void)field;
        char *label = target;
        enum po_class kind = schema_word(node, label, PO_CHANNEL_BYTES, error);
        if (kind != PO_OK)
                return kind;
        if (!word_is_label(label))
                return node_fail(node, error, "a channel's label is a word of A-Z, 0-9 and _");
        if (strcmp(label, "POSTONCE") == 0)
                return node_fail(node, error, "POSTONCE is the channel of postonce's own keys");
        return PO_OK;
}

static enum po_class read_body(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        static const char *const bodies[] = {
                [PROFILE_JSON] = "json", [PROFILE_ENVELOPE] = "envelope", NULL
        };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, bodies, &index, error);
        if (kind == PO_OK)
                *(enum profile_body *)target = (enum profile_body)index;
        return kind;
}

static enum po_class read_rules(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        struct rule_list *rules = target;
        if (node_kind(node) != NODE_LIST || node_count(node) == 0 ||
            node_count(node) > PROFILE_RULES_MAX)
                return node_fail(node, error, "%s wants a list of 1 to %d rules", field->name,
                                 PROFILE_RULES_MAX);
        rules->items = calloc(node_count(node), sizeof *rules->items);
        if (rules->items == NULL)
                return node_fail(node, error, "no memory for the rules");
        for (; rules->count < node_count(node); rules->count++) {
                const struct node *item = node_at(node, rules->count);
                if (rules->count > 0 && rules->items[rules->count - 1].when.count == 0)
                        return node_fail(item, error,
                                         "never reached: the rule before it always matches");
                enum po_class kind = rule_load(item, &rules->items[rules->count], error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

static const struct field profile_fields[] = {
        { .name = "channel",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct profile, channel),
          .required = true,
          .reader = read_label,
          .help = "label in keys, [A-Z0-9_]{1,32}" },
        { .name = "tenant",
          .kind = FIELD_INTEGER,
          .offset = offsetof(struct profile, tenant_id),
          .min = 1,
          .max = INT64_MAX,
          .fallback = "1",
          .help = "whose notifications these are" },
        { .name = "body",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct profile, body),
          .fallback = "json",
          .reader = read_body,
          .help = "json, or envelope for postonce's own form" },
        { .name = "rules",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct profile, rules),
          .reader = read_rules,
          .help = "what a body means, the first rule that matches wins" },
        { 0 },
};

static enum po_class profile_read(struct profile *profile, struct po_error *error)
{
        const struct node *root = document_root(profile->document);
        if (schema_read(root, profile_fields, profile, error) != PO_OK)
                return error->kind;
        if (profile->body == PROFILE_ENVELOPE && profile->rules.count > 0)
                return node_fail(node_member(root, "rules"), error,
                                 "an envelope says itself what it means: no rules");
        if (profile->body != PROFILE_ENVELOPE && profile->rules.count == 0)
                return node_fail(root, error, "required member \"rules\" is missing");
        return PO_OK;
}

static void profile_slot_close(struct profile **slot)
{
        profile_close(*slot);
}

/* Takes the document over, also when it fails. */
static enum po_class profile_open(struct profile **profile_out, struct document *document,
                                  struct po_error *error)
{
        CLEANUP(profile_slot_close) struct profile *profile = calloc(1, sizeof *profile);
        if (profile == NULL) {
                document_close(document);
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a profile");
        }
        profile->document = document;
        enum po_class kind = profile_read(profile, error);
        if (kind == PO_OK)
                *profile_out = MOVE(profile);
        return kind;
}

enum po_class profile_load(struct profile **profile_out, const char *path, struct po_error *error)
{
        struct document *document;
        enum po_class kind = document_load(&document, path, error);
        return kind == PO_OK ? profile_open(profile_out, document, error) : kind;
}

enum po_class profile_parse(struct profile **profile_out, const char *name, const char *text,
                            size_t text_bytes, struct po_error *error)
{
        struct document *document;
        enum po_class kind = document_parse(&document, name, text, text_bytes, error);
        return kind == PO_OK ? profile_open(profile_out, document, error) : kind;
}

void profile_close(struct profile *profile)
{
        if (profile == NULL)
                return;
        free(profile->rules.items);
        document_close(profile->document);
        free(profile);
}

const struct rule *profile_match(const struct profile *profile, struct json_object *root)
{
        for (size_t i = 0; i < profile->rules.count; i++)
                if (rule_matches(&profile->rules.items[i], root))
                        return &profile->rules.items[i];
        return NULL;
}
