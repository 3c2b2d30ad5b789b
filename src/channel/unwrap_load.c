#include "channel/unwrap_load.h"

#include <string.h>

#include <openssl/crypto.h>

#include "channel/condition_load.h"
#include "channel/secret_file.h"

/* Read from YAML, before the keys are read from their files. */
struct step_source {
        struct unwrap_step step;
        const struct node *key_file;
};

/* context: the step. */
static enum po_class key_load(const struct node *node, void *context, struct po_error *error)
{
        struct unwrap_step *step = context;
        char secret[SECRET_BYTES_MAX];
        size_t length;
        if (secret_read(node, secret, &length, error) != PO_OK)
                return error->kind;
        enum po_class kind = PO_OK;
        unsigned char *key = step->keys[step->keys_count++];
        if (step->op == UNWRAP_AES_256_ECB_MD5KEY)
                kind = unwrap_md5key(secret, length, key, error);
        else if (length != UNWRAP_KEY_BYTES)
                kind = node_fail(node, error, "the key has %zu bytes, aes-256-gcm wants %d", length,
                                 UNWRAP_KEY_BYTES);
        else
                memcpy(key, secret, UNWRAP_KEY_BYTES);
        OPENSSL_cleanse(secret, sizeof secret);
        return kind;
}

static enum po_class read_op(const struct node *node, const struct field *field, void *target,
                             struct po_error *error)
{
        static const char *const ops[] = {
                [UNWRAP_AES_256_GCM] = "aes-256-gcm",
                [UNWRAP_AES_256_ECB_MD5KEY] = "aes-256-ecb-md5key",
                [UNWRAP_BASE64] = "base64",
                [UNWRAP_URL_DECODE] = "url-decode",
                [UNWRAP_PARSE] = "parse",
                [UNWRAP_PICK] = "pick",
                [UNWRAP_PICK + 1] = NULL,
        };
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, ops, &index, error);
        if (kind == PO_OK)
                *(enum unwrap_op *)target = (enum unwrap_op)index;
        return kind;
}

/* target: the step. */
static enum po_class read_then(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        static const char *const forms[] = { [BODY_JSON] = "json",
                                             [BODY_FORM] = "form",
                                             [BODY_XML] = "xml",
                                             [BODY_XML + 1] = "text",
                                             NULL };
        struct unwrap_step *step = target;
        (void)field;
        size_t index;
        enum po_class kind = schema_choice(node, forms, &index, error);
        if (kind != PO_OK)
                return kind;
        step->then_text = index > BODY_XML;
        if (!step->then_text)
                step->then = (enum body_kind)index;
        return PO_OK;
}

static const struct field step_fields[] = {
        { .name = "op",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct step_source, step.op),
          .required = true,
          .reader = read_op,
          .help = "aes-256-gcm, aes-256-ecb-md5key, base64, url-decode, parse or pick" },
        { .name = "at",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct step_source, step.at),
          .required = true,
          .reader = read_pointer,
          .help = "what is unwrapped" },
        { .name = "to",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct step_source, step.to),
          .required = true,
          .reader = read_pointer,
          .help = "the member of the body that it becomes" },
        { .name = "then",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct step_source, step),
          .fallback = "json",
          .reader = read_then,
          .help = "what is inside: json, xml, form, or text, for another step or a rule" },
        { .name = "key_file",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct step_source, key_file),
          .reader = read_node,
          .help = "file with the secret; or a list of them, which are tried in turn" },
        { .name = "where",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct step_source, step.where),
          .reader = read_conditions,
          .help = "pick: conditions of the element, \"@/…\"" },
        { .name = "take",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct step_source, step.take),
          .reader = read_pointer,
          .help = "pick: the text in the element, \"@/…\"" },
        { .name = "after",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct step_source, step.after),
          .help = "pick: only what stands behind the last of these in the text" },
        { .name = "optional",
          .kind = FIELD_BOOLEAN,
          .offset = offsetof(struct step_source, step.optional),
          .fallback = "false",
          .help = "true: nothing to unwrap is no error" },
        { 0 },
};

static enum po_class pick_check(const struct node *node, const struct unwrap_step *step,
                                struct po_error *error)
{
        static const char *const own[] = { "where", "take", "after" };
        if (step->op == UNWRAP_PICK) {
                if (step->where.count == 0 || !pointer_starts_at(&step->take, '@'))
                        return node_fail(node, error,
                                         "pick wants where, and take that starts with \"@/\"");
                if (conditions_start_at(&step->where, '/') ||
                    conditions_start_at(&step->where, '#'))
                        return node_fail(node_member(node, "where"), error,
                                         "where is about the element: \"@/\"");
                return node_member(node, "then") == NULL
                               ? PO_OK
                               : node_fail(node_member(node, "then"), error,
                                           "what is picked is a text: no then");
        }
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
                if (node_member(node, own[i]) != NULL)
                        return node_fail(node_member(node, own[i]), error, "%s goes with pick only",
                                         own[i]);
        return PO_OK;
}

static enum po_class step_check(const struct node *node, const struct step_source *source,
                                struct po_error *error)
{
        const struct unwrap_step *step = &source->step;
        bool decrypts = step->op == UNWRAP_AES_256_GCM || step->op == UNWRAP_AES_256_ECB_MD5KEY;
        if (pointer_starts_at(&step->at, '@') || pointer_starts_at(&step->at, '#'))
                return node_fail(node_member(node, "at"), error,
                                 "what is unwrapped is in the body");
        if (step->to.paths != 1 || step->to.path_end[0] != 1 || step->to.origin[0] != '/' ||
            step->to.names[0] == '\0')
                return node_fail(node_member(node, "to"), error,
                                 "to is one member of the body, such as /plain");
        if (step->op == UNWRAP_PARSE && step->then_text)
                return node_fail(node_member(node, "then"), error, "it is a text already");
        if (decrypts && source->key_file == NULL)
                return node_fail(node, error, "required member \"key_file\" is missing");
        if (!decrypts && source->key_file != NULL)
                return node_fail(source->key_file, error, "nothing is decrypted: no key_file");
        return pick_check(node, step, error);
}

static enum po_class step_load(const struct node *node, struct unwrap_list *list,
                               struct po_error *error)
{
        struct step_source source = { 0 };
        if (schema_read(node, step_fields, &source, error) != PO_OK ||
            step_check(node, &source, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < list->count; i++)
                if (strcmp(list->items[i].to.names, source.step.to.names) == 0)
                        return node_fail(node_member(node, "to"), error,
                                         "an earlier step goes there");
        struct unwrap_step *step = &list->items[list->count++];
        *step = source.step;
        return source.key_file == NULL
                       ? PO_OK
                       : secret_files_each(source.key_file, UNWRAP_KEYS_MAX, key_load, step, error);
}

enum po_class read_unwrap(const struct node *node, const struct field *field, void *target,
                          struct po_error *error)
{
        struct unwrap_list *list = target;
        if (node_kind(node) != NODE_LIST || node_count(node) == 0 ||
            node_count(node) > UNWRAP_STEPS_MAX)
                return node_fail(node, error, "%s wants a list of 1 to %d steps", field->name,
                                 UNWRAP_STEPS_MAX);
        for (size_t i = 0; i < node_count(node); i++) {
                enum po_class kind = step_load(node_at(node, i), list, error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

void unwrap_reset(struct unwrap_list *list)
{
        for (size_t i = 0; i < list->count; i++)
                OPENSSL_cleanse(list->items[i].keys, sizeof list->items[i].keys);
        list->count = 0;
}
