#include "desk/replay.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "base/record_pack.h"
#include "desk/letter_set.h"
#include "desk/replay_message.h"

enum {
        TAKE_WAIT_MS = 500,
        WAIT_SLICE_MS = 50,
        BODIES_BYTES_MAX = 2 * VALUE_BYTES_MAX, /* kept records in memory at once */
};

/* A letter of the slice. */
struct item {
        const struct record *letter;
        struct letter_facts facts;
        char channel[PO_CHANNEL_BYTES];
        bool matched;
        enum replay_fate fate;
        const struct replay_place *place; /* of its origin; NULL with `to` */
        struct record record;             /* what is sent: the letter's, or what its row keeps */
        unsigned char *body;              /* that row's; ours to free */
        struct record_header *body_headers;
        struct replay_texts texts;
        struct sink_message *message; /* NULL: nothing is sent */
        size_t bare_headers;          /* of the message without ours */
};

struct replay {
        const struct replay_options *options;
        struct replay_report *report;
        struct letter_set *seen;
        struct letter_subject *subject;
        struct sql sql;
        struct item *items;
        size_t count;
        struct sink_message *messages;
        size_t messages_count;
        struct replayed_letter *rows;
        struct record_header *headers; /* of all messages; grows and is kept */
        size_t headers_capacity;
        size_t bodies_bytes;
        int64_t next_send_ms; /* what the rate allows */
};

static void replay_free(struct replay *replay)
{
        letter_set_close(replay->seen);
        sql_free(&replay->sql);
        free(replay->subject);
        free(replay->items);
        free(replay->messages);
        free(replay->rows);
        free(replay->headers);
}

static enum po_class replay_open(struct replay *replay, struct po_error *error)
{
        if (letter_set_open(&replay->seen, error) != PO_OK)
                return error->kind;
        replay->subject = calloc(1, sizeof *replay->subject);
        replay->items = calloc(REPLAY_SLICE_RECORDS, sizeof *replay->items);
        replay->messages = calloc(REPLAY_SLICE_RECORDS, sizeof *replay->messages);
        replay->rows = calloc(REPLAY_SLICE_RECORDS, sizeof *replay->rows);
        if (replay->subject == NULL || replay->items == NULL || replay->messages == NULL ||
            replay->rows == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a replay");
        return PO_OK;
}

static void slice_release(struct replay *replay)
{
        for (size_t i = 0; i < replay->count; i++) {
                free(replay->items[i].body);
                free(replay->items[i].body_headers);
        }
        replay->count = 0;
        replay->messages_count = 0;
        replay->bodies_bytes = 0;
}

static const struct replay_place *place_find(const struct replay_options *options,
                                             const char *topic)
{
        for (size_t i = 0; i < options->places_count; i++)
                if (strcmp(options->places[i].topic, topic) == 0)
                        return &options->places[i];
        return NULL;
}

/* The whole record of a letter that is not it; fate BODY_GONE when it cannot be had. */
static enum po_class body_fetch(struct replay *replay, struct item *item, struct po_error *error)
{
        size_t bytes = 0;
        struct po_error unpacking;
        if (replayed_body(replay->options->db, &replay->sql, item->facts.body_id, &item->body,
                          &bytes, error) != PO_OK)
                return error->kind;
        item->fate = REPLAY_BODY_GONE;
        if (item->body == NULL)
                return PO_OK;
        size_t headers = record_pack_headers(item->body, bytes);
        item->body_headers = calloc(headers + 1, sizeof *item->body_headers);
        if (item->body_headers == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for the headers of a letter");
        if (record_unpack(item->body, bytes, &item->record, item->body_headers, headers,
                          &unpacking) != PO_OK)
                return PO_OK;
        replay->bodies_bytes += bytes;
        item->fate = REPLAY_SENT;
        return PO_OK;
}

/* Where it may go, and whether it may go at all. */
static enum replay_fate fate_of(const struct replay *replay, const struct item *item)
{
        const struct replay_options *options = replay->options;
        if (item->fate != REPLAY_SENT) /* its body is gone */
                return item->fate;
        if (options->to == NULL && item->facts.topic[0] == '\0')
                return REPLAY_NO_ORIGIN;
        if (options->to == NULL && item->place == NULL)
                return REPLAY_NOT_OUR_TOPIC;
        if (options->to == NULL && item->place->partitions == 0)
                return REPLAY_NO_TOPIC;
        if (options->max_replays > 0 && item->facts.replays >= options->max_replays)
                return REPLAY_LOOP_LIMIT;
        return REPLAY_SENT;
}

/* Everything about a letter but whether its row says that it was sent before. */
static enum po_class item_judge(struct replay *replay, struct item *item, struct po_error *error)
{
        const struct replay_options *options = replay->options;
        letter_facts_read(item->letter, &item->facts);
        if (!letter_filter_fits(&options->filter, item->letter, &item->facts))
                return PO_OK;
        item->place = place_find(options, item->facts.topic);
        item->record = *item->letter;
        if (item->facts.body_id[0] != '\0' && body_fetch(replay, item, error) != PO_OK)
                return error->kind;
        letter_subject_read(options->decoder, &item->record,
                            item->place != NULL ? item->place->channel : NULL, replay->subject);
        memcpy(item->channel, replay->subject->channel, sizeof item->channel);
        item->matched = letter_filter_fits_subject(&options->filter, replay->subject);
        if (!item->matched)
                return PO_OK;
        item->fate = fate_of(replay, item);
        if (!letter_set_add(replay->seen, item->facts.id))
                item->fate = REPLAY_COPY;
        return PO_OK;
}

/* How many letters the next slice may have. */
static size_t slice_most(const struct replay *replay)
{
        const struct replay_options *options = replay->options;
        int64_t most = REPLAY_SLICE_RECORDS;
        int64_t left = options->limit - replay->report->totals[REPLAY_SENT];
        if (options->limit > 0 && left < most)
                most = left;
        if (options->rate > 0 && options->rate < most && !options->dry_run)
                most = options->rate;
        return (size_t)most;
}

static enum po_class slice_fill(struct replay *replay, const struct record *records, size_t count,
                                struct po_error *error)
{
        size_t most = slice_most(replay);
        slice_release(replay);
        while (replay->count < count && replay->count < most &&
               replay->bodies_bytes < BODIES_BYTES_MAX) {
                struct item *item = &replay->items[replay->count];
                memset(item, 0, sizeof *item);
                item->letter = &records[replay->count++];
                if (item_judge(replay, item, error) != PO_OK)
                        return error->kind;
        }
        return PO_OK;
}

/* One that was sent back before is done with, whatever else stands against it. */
static bool may_be_before(const struct item *item)
{
        return item->matched && item->fate != REPLAY_COPY && item->facts.kind == LETTER_OURS;
}

static enum po_class find_before(struct replay *replay, struct po_error *error)
{
        size_t count = 0, row = 0;
        if (replay->options->again)
                return PO_OK;
        for (size_t i = 0; i < replay->count; i++)
                if (may_be_before(&replay->items[i]))
                        replay->rows[count++].letter_id = replay->items[i].facts.id;
        if (replayed_find(replay->options->db, &replay->sql, replay->rows, count, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < replay->count; i++)
                if (may_be_before(&replay->items[i]) && replay->rows[row++].before)
                        replay->items[i].fate = REPLAY_BEFORE;
        return PO_OK;
}

static enum po_class headers_ensure(struct replay *replay, struct po_error *error)
{
        size_t wanted = 0;
        for (size_t i = 0; i < replay->count; i++)
                wanted += replay->items[i].letter->headers_count +
                          replay->items[i].record.headers_count + REPLAY_HEADERS_MORE;
        if (wanted <= replay->headers_capacity)
                return PO_OK;
        free(replay->headers);
        replay->headers_capacity = 0;
        replay->headers = calloc(wanted, sizeof *replay->headers);
        if (replay->headers == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for %zu headers", wanted);
        replay->headers_capacity = wanted;
        return PO_OK;
}

static enum po_class messages_fill(struct replay *replay, struct po_error *error)
{
        if (headers_ensure(replay, error) != PO_OK)
                return error->kind;
        struct record_header *headers = replay->headers;
        for (size_t i = 0; i < replay->count; i++) {
                struct item *item = &replay->items[i];
                if (!item->matched || item->fate != REPLAY_SENT)
                        continue;
                struct sink_message *message = &replay->messages[replay->messages_count++];
                item->bare_headers = replay_message_fill(item->letter, &item->record, &item->facts,
                                                         &item->texts, headers, message);
                headers += message->headers_count;
                message->topic = replay->options->to;
                if (replay->options->to == NULL) {
                        message->topic = item->place->topic;
                        if (item->facts.partition >= 0 &&
                            item->facts.partition < item->place->partitions)
                                message->to_partition = &item->facts.partition;
                }
                item->message = message;
        }
        return PO_OK;
}

static bool must_stop(const struct replay *replay)
{
        return replay->options->stop != NULL && *replay->options->stop;
}

/* Waits until the rate allows the next messages; false: told to stop meanwhile. */
static bool rate_wait(struct replay *replay)
{
        while (clock_ms() < replay->next_send_ms && !must_stop(replay))
                usleep(WAIT_SLICE_MS * 1000);
        db_keep_alive(replay->options->db);
        if (replay->options->rate > 0)
                replay->next_send_ms =
                        clock_ms() + (int64_t)replay->messages_count * 1000 / replay->options->rate;
        return !must_stop(replay);
}

/*
 * An answer that may still come right ends the run: the letters without an acknowledgement come
 * again. One that cannot is a refused letter's.
 */
static bool refused(const struct sink_message *message)
{
        return message->result == PO_RECORD || message->result == PO_SYSTEMIC;
}

/*
 * A topic's bound for sizes is one for whole batches, so what is refused in company is tried alone;
 * and a record that filled it goes without our headers, as it came.
 */
static enum po_class send_alone(struct sink *sink, struct item *item, struct po_error *sending)
{
        enum po_class sent = sink_send(sink, item->message, 1, sending);
        if (sent != PO_RECORD)
                return sent;
        item->message->headers_count = item->bare_headers;
        return sink_send(sink, item->message, 1, sending);
}

static enum po_class messages_send(struct replay *replay, struct po_error *sending)
{
        struct sink *sink = replay->options->sink;
        enum po_class sent = sink_send(sink, replay->messages, replay->messages_count, sending);
        if (sent != PO_RECORD)
                return sent;
        sent = PO_OK;
        for (size_t i = 0; i < replay->count; i++) {
                struct item *item = &replay->items[i];
                struct po_error alone;
                if (item->message == NULL || item->message->result != PO_RECORD ||
                    send_alone(sink, item, &alone) == PO_OK)
                        continue;
                *sending = alone;
                sent = alone.kind;
        }
        return sent;
}

static enum po_class slice_send(struct replay *replay, struct po_error *sending,
                                struct po_error *error)
{
        enum po_class sent = messages_send(replay, sending);
        size_t rows = 0;
        bool unknown = false;
        for (size_t i = 0; i < replay->count; i++) {
                struct item *item = &replay->items[i];
                if (item->message == NULL)
                        continue;
                unknown |= item->message->result != PO_OK && !refused(item->message);
                if (refused(item->message))
                        item->fate = REPLAY_FAILED;
                else if (item->message->result == PO_OK && item->facts.kind == LETTER_OURS)
                        replay->rows[rows++].letter_id = item->facts.id;
        }
        if (PO_FAILPOINT("replay.acknowledged") != PO_OK ||
            replayed_mark(replay->options->db, &replay->sql, replay->rows, rows, error) != PO_OK)
                return error->kind;
        if (sent != PO_OK && unknown) {
                *error = *sending;
                error->kind = PO_TRANSIENT;
        }
        return unknown ? PO_TRANSIENT : PO_OK;
}

static void item_count(struct replay *replay, const struct item *item, const char *text)
{
        const struct replay_options *options = replay->options;
        struct replay_report *report = replay->report;
        report->read++;
        if (!item->matched) {
                report->unmatched++;
                return;
        }
        replay_report_add(report, item->facts.reason, item->channel, item->fate);
        if (replay_fate_is_left(item->fate) && options->left != NULL)
                options->left(options->context, item->letter, &item->facts, item->fate,
                              item->fate == REPLAY_FAILED ? text : NULL);
}

/* Counts the slice and lets the group's offsets pass. */
static enum po_class slice_settle(struct replay *replay, const struct po_error *sending,
                                  bool complete, struct po_error *error)
{
        for (size_t i = 0; i < replay->count; i++) {
                const struct item *item = &replay->items[i];
                bool lost = item->message != NULL && item->message->result != PO_OK;
                if (lost)
                        reader_keep(replay->options->reader, item->letter);
                reader_pass(replay->options->reader, item->letter);
                if (complete || !lost || item->fate == REPLAY_FAILED)
                        item_count(replay, item, sending->text);
        }
        if (!replay->options->commit || replay->options->dry_run)
                return PO_OK;
        if (PO_FAILPOINT("replay.noted") != PO_OK)
                return error->kind;
        return reader_commit(replay->options->reader, error);
}

static enum po_class slice_work(struct replay *replay, struct po_error *error)
{
        if (find_before(replay, error) != PO_OK)
                return error->kind;
        struct po_error sending = { .text = "" }, settling;
        enum po_class kind = PO_OK;
        if (!replay->options->dry_run) {
                if (messages_fill(replay, error) != PO_OK)
                        return error->kind;
                if (replay->messages_count > 0) {
                        if (!rate_wait(replay))
                                return PO_OK; /* nothing was sent, nothing passes */
                        kind = slice_send(replay, &sending, error);
                }
        }
        enum po_class settled = slice_settle(replay, &sending, kind == PO_OK, &settling);
        if (kind == PO_OK && settled != PO_OK)
                *error = settling;
        return kind != PO_OK ? kind : settled;
}

/* Whether there is something that ends the run before the ends. */
static bool ended(const struct replay *replay, enum replay_end *end_out)
{
        const struct replay_options *options = replay->options;
        const int64_t *totals = replay->report->totals;
        if (must_stop(replay))
                *end_out = REPLAY_STOPPED;
        else if (totals[REPLAY_FAILED] >= options->stop_after)
                *end_out = REPLAY_GAVE_UP;
        else if (options->limit > 0 && totals[REPLAY_SENT] >= options->limit)
                *end_out = REPLAY_AT_LIMIT;
        else
                return false;
        return true;
}

static enum po_class chunk_work(struct replay *replay, const struct record *records, size_t count,
                                enum replay_end *end_out, struct po_error *error)
{
        for (size_t at = 0; at < count && !ended(replay, end_out); at += replay->count) {
                if (slice_fill(replay, records + at, count - at, error) != PO_OK ||
                    slice_work(replay, error) != PO_OK)
                        return error->kind;
                if (replay->options->progress != NULL)
                        replay->options->progress(replay->options->context, replay->report->read);
        }
        return PO_OK;
}

enum po_class replay_run(const struct replay_options *options, struct replay_report *report,
                         enum replay_end *end_out, struct po_error *error)
{
        struct replay replay = { .options = options, .report = report };
        memset(report, 0, sizeof *report);
        *end_out = REPLAY_AT_END;
        enum po_class kind = replay_open(&replay, error);
        while (kind == PO_OK && !ended(&replay, end_out) && !reader_at_end(options->reader)) {
                const struct record *records;
                size_t count;
                kind = reader_take(options->reader, TAKE_WAIT_MS, &records, &count, error);
                if (kind == PO_OK)
                        kind = chunk_work(&replay, records, count, end_out, error);
        }
        slice_release(&replay);
        replay_free(&replay);
        return kind;
}
