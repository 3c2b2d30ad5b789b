#include "commands/sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "commands/command.h"
#include "commands/explain.h"
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
                            const struct sample_request *request, struct explain *explain,
                            struct po_error *error)
{
        struct decoder *decoder;
        if (parts_open_decoder(settings, &decoder, error) != PO_OK)
                return error->kind;
        if (request->explain)
                decoder_trace(decoder, &explain->trace);
        const struct record record = {
                .topic = "sample",
                .timestamp_ms = -1,
                .value = sample->value,
                .value_bytes = sample->value_bytes,
                .headers = sample->headers,
                .headers_count = request->headers.count,
        };
        enum po_class kind =
                decode_record(decoder, &record, request->channel, sample->notifications,
                              NOTIFICATIONS_PER_RECORD_MAX, &sample->count, error);
        decoder_close(decoder);
        return kind;
}

static void add_notification(struct table *table, const struct po_notification *notification)
{
        static const char *const kinds[] = {
                [PO_AMOUNT_NONE] = "",
                [PO_AMOUNT_THIS] = "this",
                [PO_AMOUNT_CUMULATIVE] = "cumulative",
                [PO_AMOUNT_NET] = "net",
        };
        char tenant[24], amount[24] = "", fee[24] = "", fingerprint[2 * PO_FINGERPRINT_BYTES + 1],
                         version[8];
        snprintf(tenant, sizeof tenant, "%lld", (long long)notification->tenant_id);
        if (notification->amount_kind != PO_AMOUNT_NONE)
                snprintf(amount, sizeof amount, "%lld", (long long)notification->amount_minor);
        if (notification->fee_minor != 0)
                snprintf(fee, sizeof fee, "%lld", (long long)notification->fee_minor);
        for (size_t i = 0; i < PO_FINGERPRINT_BYTES; i++)
                snprintf(fingerprint + 2 * i, 3, "%02x", notification->fingerprint[i]);
        snprintf(version, sizeof version, "%u", notification->fingerprint_version);
        table_row(table, tenant, notification->key, notification->event, notification->order_no,
                  amount, notification->currency, kinds[notification->amount_kind], fee,
                  fingerprint, version);
}

static struct table *notifications_table(const struct sample *sample)
{
        static const struct table_column columns[] = {
                { "tenant_id", TABLE_NUMBER },
                { "key", TABLE_TEXT },
                { "event", TABLE_TEXT },
                { "order_no", TABLE_TEXT },
                { "amount_minor", TABLE_NUMBER },
                { "currency", TABLE_TEXT },
                { "amount_kind", TABLE_TEXT },
                { "fee_minor", TABLE_NUMBER },
                { "fingerprint", TABLE_TEXT },
                { "fingerprint_version", TABLE_NUMBER },
                { NULL, TABLE_TEXT },
        };
        struct table *table = table_open("notifications", columns);
        for (size_t i = 0; i < sample->count; i++)
                add_notification(table, &sample->notifications[i]);
        return table;
}

/* One row, or none: nothing was refused. */
static struct table *refusal_table(const struct po_error *refusal)
{
        static const struct table_column columns[] = {
                { "reason", TABLE_TEXT },
                { "byte", TABLE_NUMBER },
                { "refused_because", TABLE_TEXT },
                { NULL, TABLE_TEXT },
        };
        struct table *table = table_open("refused", columns);
        char place[24] = "";
        if (refusal == NULL)
                return table;
        if (refusal->place >= 0)
                snprintf(place, sizeof place, "%lld", (long long)refusal->place);
        table_row(table, refusal->reason, place, refusal->text);
        return table;
}

static enum po_class print_sample(const struct sample *sample, const struct po_error *refusal,
                                  const struct explain *explain, enum table_format format,
                                  struct po_error *error)
{
        struct table *tables[] = { explain->table, notifications_table(sample),
                                   refusal_table(refusal) };
        size_t first = explain->table == NULL;
        enum po_class kind = tables_print(tables + first, 3 - first, stdout, format, error);
        if (kind == PO_OK && sample->count == 0 && refusal == NULL && format == TABLE_FORMAT_TABLE)
                printf("nothing to do: a rule ignores it\n");
        table_close(tables[1]);
        table_close(tables[2]);
        return kind;
}

static int sample_judge(struct sample *sample, const struct settings *settings,
                        const struct sample_request *request, enum table_format format)
{
        struct po_error error, printing;
        struct explain explain = { .table = NULL };
        if (read_value(sample, request->path, &error) != PO_OK ||
            read_headers(sample, &request->headers, &error) != PO_OK)
                return command_fail(&error);
        if (request->explain)
                explain_open(&explain);
        enum po_class kind = decode(sample, settings, request, &explain, &error);
        int code = EXIT_DONE;
        if (kind != PO_OK && kind != PO_RECORD)
                code = command_fail(&error);
        else if (print_sample(sample, kind == PO_RECORD ? &error : NULL, &explain, format,
                              &printing) != PO_OK)
                code = command_fail(&printing);
        else if (kind == PO_RECORD)
                code = EXIT_FINDINGS;
        explain_close(&explain);
        return code;
}

int sample_check(const struct settings *settings, const struct sample_request *request,
                 enum table_format format)
{
        struct sample *sample = calloc(1, sizeof *sample);
        struct po_error error;
        if (sample == NULL) {
                po_fail(&error, PO_SYSTEMIC, ENOMEM, "out of memory for the sample");
                return command_fail(&error);
        }
        int code = sample_judge(sample, settings, request, format);
        free(sample->value);
        free(sample->names);
        free(sample);
        return code;
}
