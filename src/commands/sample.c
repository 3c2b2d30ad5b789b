#include "commands/sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "commands/command.h"
#include "commands/parts.h"

struct sample {
        char *value;
        size_t value_bytes;
        char *names; /* one copy of every header's text, cut at its '=' */
        struct record_header headers[OPTION_TEXTS_MAX];
        struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
        size_t count;
};

static enum po_class read_value(struct sample *sample, const char *path, struct po_error *error)
{
        CLEANUP(cleanup_file) FILE *stream = fopen(path, "re");
        if (stream == NULL)
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", path, strerror(errno));
        /* One more than is accepted: the decoder then refuses it for its size. */
        sample->value = malloc(VALUE_BYTES_MAX + 1);
        if (sample->value == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for the sample");
        sample->value_bytes = fread(sample->value, 1, VALUE_BYTES_MAX + 1, stream);
        if (ferror(stream))
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", path, strerror(errno));
        return PO_OK;
}

static enum po_class read_headers(struct sample *sample, const struct option_texts *headers,
                                  struct po_error *error)
{
        size_t bytes = 1;
        for (size_t i = 0; i < headers->count; i++)
                bytes += strlen(headers->items[i]) + 1;
        char *at = sample->names = malloc(bytes);
        if (at == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "out of memory for the headers");
        for (size_t i = 0; i < headers->count; i++) {
                size_t length = strlen(headers->items[i]);
                memcpy(at, headers->items[i], length + 1);
                char *equals = strchr(at, '=');
                if (equals == NULL || equals == at)
                        return po_refuse(error, "USAGE", "--header %s: expected NAME=VALUE",
                                         headers->items[i]);
                *equals = '\0';
                sample->headers[i] = (struct record_header){ at, equals + 1, strlen(equals + 1) };
                at += length + 1;
        }
        return PO_OK;
}

static enum po_class decode(struct sample *sample, const struct settings *settings,
                            const char *channel, size_t headers_count, struct po_error *error)
{
        struct decoder *decoder;
        if (parts_open_decoder(settings, &decoder, error) != PO_OK)
                return error->kind;
        const struct record record = {
                .topic = "sample",
                .timestamp_ms = -1,
                .value = sample->value,
                .value_bytes = sample->value_bytes,
                .headers = sample->headers,
                .headers_count = headers_count,
        };
        enum po_class kind = decode_record(decoder, &record, channel, sample->notifications,
                                           NOTIFICATIONS_PER_RECORD_MAX, &sample->count, error);
        decoder_close(decoder);
        return kind;
}

static void add_notification(struct table *table, const struct po_notification *notification)
{
        char tenant[24], amount[24] = "", fingerprint[2 * PO_FINGERPRINT_BYTES + 1];
        snprintf(tenant, sizeof tenant, "%lld", (long long)notification->tenant_id);
        if (notification->amount_kind != PO_AMOUNT_NONE)
                snprintf(amount, sizeof amount, "%lld", (long long)notification->amount_minor);
        for (size_t i = 0; i < PO_FINGERPRINT_BYTES; i++)
                snprintf(fingerprint + 2 * i, 3, "%02x", notification->fingerprint[i]);
        table_row(table, tenant, notification->key, notification->order_no, amount,
                  notification->currency, fingerprint);
}

static enum po_class print_sample(const struct sample *sample, enum table_format format,
                                  struct po_error *error)
{
        static const struct table_column columns[] = {
                { "tenant_id", TABLE_NUMBER }, { "key", TABLE_TEXT },
                { "order_no", TABLE_TEXT },    { "amount_minor", TABLE_NUMBER },
                { "currency", TABLE_TEXT },    { "fingerprint", TABLE_TEXT },
                { NULL, TABLE_TEXT },
        };
        struct table *table = table_open("notifications", columns);
        for (size_t i = 0; i < sample->count; i++)
                add_notification(table, &sample->notifications[i]);
        enum po_class kind = table_print(table, stdout, format, error);
        table_close(table);
        if (kind == PO_OK && sample->count == 0 && format == TABLE_FORMAT_TABLE)
                printf("nothing to do: a rule ignores it\n");
        return kind;
}

int sample_check(const struct settings *settings, const char *path, const char *channel,
                 const struct option_texts *headers, enum table_format format)
{
        struct sample *sample = calloc(1, sizeof *sample);
        struct po_error error;
        enum po_class kind;
        if (sample == NULL)
                kind = po_fail(&error, PO_SYSTEMIC, ENOMEM, "out of memory for the sample");
        else if ((kind = read_value(sample, path, &error)) == PO_OK &&
                 (kind = read_headers(sample, headers, &error)) == PO_OK &&
                 (kind = decode(sample, settings, channel, headers->count, &error)) == PO_OK)
                kind = print_sample(sample, format, &error);
        if (sample != NULL) {
                free(sample->value);
                free(sample->names);
        }
        free(sample);
        if (kind == PO_OK)
                return EXIT_DONE;
        if (kind != PO_RECORD)
                return command_fail(&error);
        fprintf(stderr, "postonce: refused: %s: %s\n", error.reason, error.text);
        return EXIT_FINDINGS;
}
