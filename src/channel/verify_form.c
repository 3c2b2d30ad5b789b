#include "channel/verify_form.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "channel/form_body.h"
#include "channel/signature.h"

struct field {
        const char *name, *value;
};

struct signed_fields {
        size_t count;
        struct field items[VERIFY_FIELDS_MAX];
        const char *sign, *sign_type; /* NULL: absent */
        bool some_empty;
};

static int field_compare(const void *one, const void *other)
{
        return strcmp(((const struct field *)one)->name, ((const struct field *)other)->name);
}

/* A field that is there twice is refused when the tree is made; until then any order will do. */
static enum po_class fields_sort(const struct form_fields *fields, struct signed_fields *sorted,
                                 struct po_error *error)
{
        const char *end = fields->texts + fields->length;
        for (const char *name = fields->texts; name < end;
             name = form_text_next(form_text_next(name))) {
                const char *value = form_text_next(name);
                if (strcmp(name, "sign") == 0) {
                        sorted->sign = value;
                        continue;
                }
                if (strcmp(name, "sign_type") == 0) {
                        sorted->sign_type = value;
                        continue;
                }
                if (sorted->count == VERIFY_FIELDS_MAX)
                        return signature_fail(error, "there are too many fields");
                sorted->items[sorted->count++] = (struct field){ name, value };
                sorted->some_empty = sorted->some_empty || value[0] == '\0';
        }
        qsort(sorted->items, sorted->count, sizeof sorted->items[0], field_compare);
        return PO_OK;
}

/* "a=1&b=2" into text, which has room for what the fields took in the form. */
static size_t text_write(const struct signed_fields *sorted, bool with_empty, char *text)
{
        size_t used = 0;
        for (size_t i = 0; i < sorted->count; i++) {
                const struct field *field = &sorted->items[i];
                if (!with_empty && field->value[0] == '\0')
                        continue;
                if (used > 0)
                        text[used++] = '&';
                size_t name_length = strlen(field->name), value_length = strlen(field->value);
                memcpy(text + used, field->name, name_length);
                used += name_length;
                text[used++] = '=';
                memcpy(text + used, field->value, value_length);
                used += value_length;
        }
        return used;
}

/* text has room for what the fields took in the form. */
static enum po_class sign_check(const struct verify *verify, const struct signed_fields *sorted,
                                char *text, struct po_error *error)
{
        bool sha256 = sorted->sign_type != NULL && strcmp(sorted->sign_type, "RSA2") == 0;
        bool sha1 = sorted->sign_type != NULL && strcmp(sorted->sign_type, "RSA") == 0;
        if (sorted->sign == NULL)
                return signature_fail(error, "there is no field sign");
        if (!sha256 && !sha1)
                return signature_fail(error, "sign_type is neither RSA2 nor RSA");

        bool proven = false;
        const struct span sign = span_of(sorted->sign);
        for (int pass = 0; pass < (sorted->some_empty ? 2 : 1) && !proven; pass++) {
                struct message message = { 0 };
                message_add(&message, (struct span){ text, text_write(sorted, pass == 0, text) });
                if (signature_check_rsa(verify, NULL, sha1 ? RSA_SHA1 : RSA_SHA256, &message, &sign,
                                        &proven, error) != PO_OK)
                        return error->kind;
        }
        return proven ? PO_OK : signature_fail(error, "no key proves this sign");
}

enum po_class verify_form(const struct verify *verify, const struct record *record,
                          struct po_error *error)
{
        CLEANUP(cleanup_free) char *texts = malloc(record->value_bytes + 1);
        CLEANUP(cleanup_free) char *text = malloc(record->value_bytes + 1);
        struct form_fields fields = { .texts = texts };
        struct signed_fields sorted = { 0 };
        if (texts == NULL || text == NULL)
                return po_fail(error, PO_BUG, 0, "no memory to verify");
        if (form_fields_take(record->value, record->value_bytes, &fields, error) != PO_OK ||
            fields_sort(&fields, &sorted, error) != PO_OK)
                return error->kind;
        return sign_check(verify, &sorted, text, error);
}
