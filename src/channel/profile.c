#include "channel/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "channel/shape_load.h"
#include "channel/tenant.h"
#include "channel/trace.h"
#include "config/document.h"
#include "config/schema.h"

enum { TENANT_WORD_BYTES = 20 };

static const char own_label[] = "POSTONCE"; /* of keys that postonce forms itself */

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
        if (strcmp(label, own_label) == 0)
                return node_fail(node, error, "POSTONCE is the channel of postonce's own keys");
        return PO_OK;
}

static enum po_class read_label_map(const struct node *node, const struct field *field,
                                    void *target, struct po_error *error)
{
        (void)field;
        struct word_map *map = target;
        enum po_class kind = word_map_read(node, PO_CHANNEL_BYTES, map, error);
        for (size_t i = 0; kind == PO_OK && i < map->names_count; i++)
                if (strcmp(map->names[i].word, own_label) == 0)
                        kind = node_fail(node, error,
                                         "POSTONCE is the channel of postonce's own keys");
        if (kind == PO_OK && pointer_starts_at(&map->at, '@'))
                kind = node_fail(node, error, "all items of a body have one label");
        return kind;
}

static enum po_class read_tenant_map(const struct node *node, struct word_map *map,
                                     struct po_error *error)
{
        enum po_class kind = word_map_read(node, TENANT_WORD_BYTES, map, error);
        for (size_t i = 0; kind == PO_OK && i < map->names_count; i++) {
                int64_t tenant_id;
                if (!tenant_read(map->names[i].word, strlen(map->names[i].word), &tenant_id))
                        kind = node_fail(node, error, "a tenant is a number, 1 and up");
        }
        if (kind == PO_OK && pointer_starts_at(&map->at, '@'))
                kind = node_fail(node, error, "all items of a body have one tenant");
        return kind;
}

/* target: the profile. */
static enum po_class read_tenant(const struct node *node, const struct field *field, void *target,
                                 struct po_error *error)
{
        (void)field;
        struct profile *profile = target;
        if (node_kind(node) == NODE_MAP)
                return read_tenant_map(node, &profile->tenant_map, error);
        return schema_integer(node, 1, INT64_MAX, &profile->tenant_id, error);
}

/* target: the profile. */
static enum po_class read_shapes(const struct node *node, const struct field *field, void *target,
                                 struct po_error *error)
{
        struct profile *profile = target;
        struct shape_list *shapes = &profile->shapes;
        if (node_kind(node) != NODE_LIST || node_count(node) == 0 ||
            node_count(node) > PROFILE_SHAPES_MAX)
                return node_fail(node, error, "%s wants a list of 1 to %d shapes", field->name,
                                 PROFILE_SHAPES_MAX);
        shapes->items = calloc(node_count(node), sizeof *shapes->items);
        if (shapes->items == NULL)
                return node_fail(node, error, "no memory for the shapes");
        while (shapes->count < node_count(node)) {
                const struct node *item = node_at(node, shapes->count);
                struct shape *shape = &shapes->items[shapes->count++];
                if (shapes->count > 1 && shape[-1].first == '\0' && shape[-1].when.count == 0)
                        return node_fail(item, error,
                                         "never reached: the shape before it always fits");
                enum po_class kind = shape_load(item, shape, error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

/* target: whether it is raw. */
static enum po_class read_fingerprint(const struct node *node, const struct field *field,
                                      void *target, struct po_error *error)
{
        (void)field;
        static const char *const words[] = { "normalised", "raw", NULL };
        bool *is_raw = target;
        size_t index = 0;
        if (schema_choice(node, words, &index, error) != PO_OK)
                return error->kind;
        *is_raw = index == 1;
        return PO_OK;
}

static const struct field profile_fields[] = {
        { .name = "channel",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct profile, channel),
          .required = true,
          .reader = read_label,
          .help = "label in keys, [A-Z0-9_]{1,32}" },
        { .name = "label",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct profile, label),
          .reader = read_label_map,
          .help = "{ at, map }: the label in keys by what the body says, in place of channel" },
        { .name = "tenant",
          .kind = FIELD_CUSTOM,
          .offset = 0,
          .reader = read_tenant,
          .fallback = "1",
          .help = "whose notifications these are: a number, or { at, map } by what the body says" },
        { .name = "fingerprint",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct profile, raw_fingerprint),
          .reader = read_fingerprint,
          .fallback = "normalised",
          .help = "what must be equal for a duplicate: what the notification says (normalised), or "
                  "every byte of the body (raw)" },
        { .name = "shapes",
          .kind = FIELD_CUSTOM,
          .offset = 0,
          .reader = read_shapes,
          .help = "where bodies come in several shapes: a list of what is told below, each with "
                  "first or when in front" },
        SHAPE_FIELDS(offsetof(struct profile, only)),
        { 0 },
};

/* What belongs into the entries when there is a list of them. */
static enum po_class shapes_check(const struct node *root, struct po_error *error)
{
        static const struct field shape_fields[] = { SHAPE_FIELDS(0), { 0 } };
        for (const struct field *field = shape_fields; field->name != NULL; field++)
                if (node_member(root, field->name) != NULL)
                        return node_fail(node_member(root, field->name), error,
                                         "%s stands in the entries of shapes", field->name);
        return PO_OK;
}

static bool mentions_header(const struct node *node)
{
        if (node_kind(node) == NODE_TEXT)
                return strstr(node_text(node), "#/") != NULL;
        for (size_t i = 0; i < node_count(node); i++)
                if (mentions_header(node_at(node, i)))
                        return true;
        return false;
}

/* Members that may follow a header although the value's digest does not see it: the key tells the
 * difference, the tenant stands beside it, and what only refuses decides nothing else. */
static bool may_follow_header(const char *member)
{
        static const char *const names[] = { "label", "tenant", "verify", "guard", "event", "txn" };
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
                if (strcmp(names[i], member) == 0)
                        return true;
        return false;
}

static enum po_class raw_check(const struct node *node, struct po_error *error)
{
        if (node_kind(node) == NODE_TEXT && strstr(node_text(node), "#/") != NULL)
                return node_fail(node, error,
                                 "fingerprint: raw does not see headers: only event, txn, label"
                                 " and tenant may follow one");
        for (size_t i = 0; i < node_count(node); i++) {
                if (node_kind(node) == NODE_MAP && may_follow_header(node_text(node_key(node, i))))
                        continue;
                if (raw_check(node_at(node, i), error) != PO_OK)
                        return error->kind;
        }
        return PO_OK;
}

static enum po_class raw_profile_check(const struct profile *profile, const struct node *root,
                                       struct po_error *error)
{
        for (size_t i = 0; i < profile->shapes.count; i++)
                if (profile->shapes.items[i].body == BODY_CLOUDEVENTS)
                        return node_fail(node_member(root, "fingerprint"), error,
                                         "fingerprint: raw does not see the attributes of a"
                                         " CloudEvent, which may be headers");
        return raw_check(root, error);
}

static enum po_class profile_read(struct profile *profile, struct po_error *error)
{
        const struct node *root = document_root(profile->document);
        if (schema_read(root, profile_fields, profile, error) != PO_OK)
                return error->kind;
        if (profile->shapes.count > 0) {
                if (shapes_check(root, error) != PO_OK)
                        return error->kind;
        } else {
                profile->shapes = (struct shape_list){ 1, &profile->only };
                if (shape_finish(root, &profile->only, error) != PO_OK)
                        return error->kind;
                if (profile_is_envelope(profile) && node_member(root, "label") != NULL)
                        return node_fail(node_member(root, "label"), error,
                                         "an envelope's label is its channel");
                if (profile_is_envelope(profile) && pointer_is_given(&profile->tenant_map.at))
                        return node_fail(node_member(root, "tenant"), error,
                                         "an envelope says its tenant_id itself");
        }
        if (profile->raw_fingerprint && raw_profile_check(profile, root, error) != PO_OK)
                return error->kind;
        profile->uses_headers = mentions_header(root);
        for (size_t i = 0; i < profile->shapes.count; i++)
                if (profile->shapes.items[i].charset.needs_converter)
                        profile->needs_converter = true;
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
        for (size_t i = 0; i < profile->shapes.count; i++)
                shape_reset(&profile->shapes.items[i]);
        if (profile->shapes.items != &profile->only)
                free(profile->shapes.items);
        document_close(profile->document);
        free(profile);
}

/* Leaves *tenant_id as it is where there is no map. */
static enum po_class find_tenant(const struct profile *profile, const struct scope *scope,
                                 int64_t *tenant_id, struct po_error *error)
{
        if (!pointer_is_given(&profile->tenant_map.at))
                return PO_OK;
        const char *word = word_map_find(&profile->tenant_map, scope);
        if (word != NULL && tenant_read(word, strlen(word), tenant_id))
                return PO_OK;
        return po_refuse(error, "TENANT_UNKNOWN", "the map of tenants lacks the word at %s",
                         profile->tenant_map.at.source);
}

enum po_class profile_blank(const struct profile *profile, const struct scope *scope,
                            struct po_notification *blank_out, struct po_error *error)
{
        const char *label = profile->channel;
        if (pointer_is_given(&profile->label.at))
                label = word_map_find(&profile->label, scope);
        if (label == NULL)
                return po_refuse(error, "LABEL_UNKNOWN", "the map of labels lacks the word at %s",
                                 profile->label.at.source);
        *blank_out = (struct po_notification){ .tenant_id = profile->tenant_id };
        if (find_tenant(profile, scope, &blank_out->tenant_id, error) != PO_OK)
                return error->kind;
        memcpy(blank_out->channel, label, strlen(label) + 1);
        return PO_OK;
}

bool profile_is_envelope(const struct profile *profile)
{
        return profile->shapes.items[0].body == BODY_ENVELOPE;
}

bool profile_is_verified(const struct profile *profile)
{
        for (size_t i = 0; i < profile->shapes.count; i++) {
                const struct verify *verify = &profile->shapes.items[i].verify;
                if (verify->op != VERIFY_NONE && !verify->is_open)
                        return true;
        }
        return false;
}

const struct shape *profile_shape(const struct profile *profile, const struct scope *scope,
                                  const char *bytes, size_t length)
{
        for (size_t i = 0; i < profile->shapes.count; i++) {
                const struct shape *shape = &profile->shapes.items[i];
                const struct condition *failed;
                bool fits = shape_fits(shape, scope, bytes, length, &failed);
                if (profile->shapes.count > 1)
                        trace_tell(scope, (struct trace_step){ .kind = TRACE_SHAPE,
                                                               .index = i,
                                                               .holds = fits,
                                                               .failed = failed,
                                                               .shape = shape });
                if (fits)
                        return shape;
        }
        return NULL;
}
