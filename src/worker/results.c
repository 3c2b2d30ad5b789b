#include "worker/results.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/log.h"
#include "base/text.h"

enum { BODY_BYTES = 2048 };

/* What a message leads to. */
struct result {
        struct parcel *parcel;
        struct record_header header;
        char body[BODY_BYTES];
};

struct results {
        struct results_options options;
        size_t capacity, count;
        struct result *items;
        struct sink_message *messages; /* messages[i] is of items[i] */
};

enum po_class results_open(struct results **results_out, const struct results_options *options,
                           struct po_error *error)
{
        struct results *results = calloc(1, sizeof *results);
        *results_out = results;
        if (results == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for results");
        results->options = *options;
        /* Every record has as many as it has notifications, or one. */
        results->capacity = 2 * options->records_max + NOTIFICATIONS_PER_RECORD_MAX;
        results->items = calloc(results->capacity, sizeof *results->items);
        results->messages = calloc(results->capacity, sizeof *results->messages);
        if (results->items == NULL || results->messages == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu results",
                               results->capacity);
        return PO_OK;
}

void results_close(struct results *results)
{
        if (results == NULL)
                return;
        free(results->items);
        free(results->messages);
        free(results);
}

static void put_member(struct text *text, const char *name, const char *value)
{
        if (value == NULL || value[0] == '\0')
                return;
        text_format(text, "\"%s\":", name);
        text_put_json(text, value);
        text_put(text, ",");
}

static void put_notification(struct text *text, const struct po_notification *notification)
{
        put_member(text, "key", notification->key);
        text_format(text, "\"tenant_id\":%lld,", (long long)notification->tenant_id);
        put_member(text, "channel", notification->channel);
        put_member(text, "event", notification->event);
        put_member(text, "order_no", notification->order_no);
        put_member(text, "refund_no", notification->refund_no);
}

/* The first result is JSON, unless it was brought in from elsewhere. */
static void put_result(struct text *text, const char *result)
{
        size_t length = strlen(result);
        if (length >= 2 && result[0] == '{' && result[length - 1] == '}')
                text_format(text, "\"result\":%s,", result);
        else
                put_member(text, "result", result);
}

static void write_body(struct result *result, const struct posting *posting)
{
        const struct parcel *parcel = result->parcel;
        const struct record *record = parcel->record;
        enum verdict verdict = posting != NULL ? posting->verdict : parcel->verdict;
        const char *reason = posting != NULL ? posting->reason : NULL;
        struct text text;
        text_init(&text, result->body, sizeof result->body);
        text_put(&text, "{");
        if (posting != NULL) {
                put_notification(&text, posting->notification);
                put_result(&text, posting->result);
        }
        if (reason == NULL && verdict == VERDICT_REJECTED)
                reason = parcel->error->reason;
        put_member(&text, "reason", reason);
        put_member(&text, "verdict", verdict_name(verdict));
        text_format(&text,
                    "\"duplicate\":%s,\"topic\":", verdict == VERDICT_DUPLICATE ? "true" : "false");
        text_put_json(&text, record->topic);
        text_format(&text, ",\"partition\":%d,\"offset\":%lld}", (int)record->partition,
                    (long long)record->offset);
        assert(!text.cut);
}

static void add(struct results *results, struct parcel *parcel, const struct posting *posting)
{
        assert(results->count < results->capacity);
        struct result *result = &results->items[results->count];
        const struct record *record = parcel->record;
        const struct record_header *correlation =
                record_header(record, results->options.correlation_header);
        result->parcel = parcel;
        write_body(result, posting);
        if (correlation != NULL)
                result->header = *correlation;
        results->messages[results->count++] = (struct sink_message){
                .topic = results->options.topic,
                .key = posting != NULL ? posting->notification->key : record->key,
                .key_bytes =
                        posting != NULL ? strlen(posting->notification->key) : record->key_bytes,
                .value = result->body,
                .value_bytes = strlen(result->body),
                .headers = correlation != NULL ? &result->header : NULL,
                .headers_count = correlation != NULL,
                .timestamp_ms = -1,
        };
}

static void collect(struct results *results, struct batch *batch, results_wanted wanted,
                    void *context)
{
        results->count = 0;
        for (size_t i = 0; i < batch->parcels_count; i++) {
                struct parcel *parcel = &batch->parcels[i];
                if (parcel->verdict == VERDICT_HELD || !wanted(context, i))
                        continue;
                for (size_t p = parcel->first; p < parcel->first + parcel->count; p++)
                        add(results, parcel, &batch->postings[p]);
                if (parcel->count == 0 && parcel->verdict == VERDICT_REJECTED)
                        add(results, parcel, NULL);
        }
}

static enum po_class send_all(struct results *results, struct po_error *error)
{
        if (sink_send(results->options.sink, results->messages, results->count, error) != PO_OK) {
                if (error->reason != NULL)
                        error->reason = "RESULT_TOO_LARGE";
                return po_within(error, "tell %zu results", results->count);
        }
        return PO_FAILPOINT("results.acknowledged");
}

void results_tell(struct results *results, struct batch *batch, results_wanted wanted,
                  void *context)
{
        struct po_error error;
        if (results == NULL)
                return;
        collect(results, batch, wanted, context);
        if (results->count == 0 || send_all(results, &error) == PO_OK)
                return;
        log_alarm("RESULTS_NOT_WRITABLE", NULL, "topic=%s class=%s", results->options.topic,
                  po_class_name(error.kind));
        for (size_t i = 0; i < results->count; i++) {
                if (results->messages[i].result == PO_OK)
                        continue;
                results->items[i].parcel->verdict = VERDICT_HELD;
                *results->items[i].parcel->error = error;
        }
}
