#include "channel/secret_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "base/cleanup.h"
#include "config/schema.h"

enum { VARIABLE_BYTES = 128 };

/* path as it is, or behind the folder of the profile. */
static bool path_join(const struct node *node, const char *path, char joined[PATH_MAX])
{
        const char *name = document_name(node_document(node));
        const char *slash = strrchr(name, '/');
        int folder = path[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - name);
        int length = snprintf(joined, PATH_MAX, "%.*s%s", folder, name, path);
        return length >= 0 && length < PATH_MAX;
}

enum po_class secret_file_read(const struct node *node, char *buffer, size_t capacity,
                               size_t *length_out, struct po_error *error)
{
        char path[PATH_MAX];
        const char *text;
        enum po_class kind = schema_text(node, &text, error);
        if (kind != PO_OK)
                return kind;
        if (!path_join(node, text, path))
                return node_fail(node, error, "the path is too long");
        CLEANUP(cleanup_file) FILE *file = fopen(path, "re");
        if (file == NULL)
                return node_fail(node, error, "%s: %s", path, strerror(errno));
        setvbuf(file, NULL, _IONBF, 0); /* no copy of the secret in a buffer of stdio */
        size_t length = fread(buffer, 1, capacity, file);
        if (ferror(file))
                return node_fail(node, error, "%s: %s", path, strerror(errno));
        if (length == 0 || length == capacity)
                return node_fail(node, error, "%s holds no key of 1 to %zu bytes", path,
                                 capacity - 1);
        *length_out = length;
        return PO_OK;
}

enum po_class secret_read(const struct node *node, char secret[SECRET_BYTES_MAX],
                          size_t *length_out, struct po_error *error)
{
        char buffer[SECRET_BYTES_MAX + 3]; /* a line break of two bytes, and one too many */
        size_t length;
        enum po_class kind = secret_file_read(node, buffer, sizeof buffer, &length, error);
        if (kind != PO_OK)
                return kind;
        if (buffer[length - 1] == '\n')
                length--;
        if (length > 0 && buffer[length - 1] == '\r')
                length--;
        if (length == 0 || length > SECRET_BYTES_MAX)
                kind = node_fail(node, error, "the file holds no key of 1 to %d bytes",
                                 SECRET_BYTES_MAX);
        else
                memcpy(secret, buffer, length);
        OPENSSL_cleanse(buffer, sizeof buffer);
        *length_out = length;
        return kind;
}

enum po_class secret_files_each(const struct node *node, size_t most, secret_reader read,
                                void *context, struct po_error *error)
{
        if (node_kind(node) != NODE_LIST)
                return read(node, context, error);
        if (node_count(node) == 0 || node_count(node) > most)
                return node_fail(node, error, "key_file wants 1 to %zu files", most);
        for (size_t i = 0; i < node_count(node); i++) {
                enum po_class kind = read(node_at(node, i), context, error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

bool secret_is_unset(const char *text)
{
        static const char opening[] = "${env:";
        char name[VARIABLE_BYTES];
        size_t length = strlen(text), around = sizeof opening - 1;
        if (strncmp(text, opening, around) != 0 || text[length - 1] != '}' ||
            length - around > sizeof name)
                return false;
        memcpy(name, text + around, length - around - 1);
        name[length - around - 1] = '\0';
        const char *value = getenv(name);
        return value == NULL || value[0] == '\0';
}
