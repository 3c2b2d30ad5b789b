#include "worker/reject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/text.h"
#include "ops/metrics.h"
#include "worker/flood.h"

/* While letters cannot be sent, trying takes at most a sixth of a worker's time: what else there is
 * must flow. */
enum { LETTER_TEXT_BYTES = 1024, AWAY_FACTOR = 5, AWAY_MOST_MS = 120000 };

/* One rejected record of the batch. */
struct rejection {
        struct parcel *parcel;
        char id[LETTER_ID_BYTES];
        char text[LETTER_TEXT_BYTES];
};

struct rejecter {
        struct rejecter_options options;
        struct sql sql;
        size_t count;
        struct rejection *rejections;
        struct letter_row *rows;            /* one a rejection, same order */
        struct letter *letters;             /* those to send */
        size_t *sent;                       /* letters[i] is of rejections[sent[i]] */
        const struct letter_row **recorded; /* those to record */
        int64_t away_until_ms;              /* the dead-letter topic is not tried before */
        struct po_error away;               /* why */
};

enum po_class rejecter_open(struct rejecter **rejecter_out, const struct rejecter_options *options,
                            struct po_error *error)
{
        struct rejecter *rejecter = calloc(1, sizeof *rejecter);
        *rejecter_out = rejecter;
        size_t most = options->records_max;
        if (rejecter != NULL) {
                rejecter->options = *options;
                rejecter->rejections = calloc(most, sizeof *rejecter->rejections);
                rejecter->rows = calloc(most, sizeof *rejecter->rows);
                rejecter->letters = calloc(most, sizeof *rejecter->letters);
                rejecter->sent = calloc(most, sizeof *rejecter->sent);
                rejecter->recorded = calloc(most, sizeof *rejecter->recorded);
        }
        if (rejecter == NULL || rejecter->rejections == NULL || rejecter->rows == NULL ||
            rejecter->letters == NULL || rejecter->sent == NULL || rejecter->recorded == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for dead letters");
        return PO_OK;
}

void rejecter_close(struct rejecter *rejecter)
{
        if (rejecter == NULL)
                return;
        sql_free(&rejecter->sql);
        free(rejecter->rejections);
        free(rejecter->rows);
        free(rejecter->letters);
        free(rejecter->sent);
        free(rejecter->recorded);
        free(rejecter);
}

static const char *reason_of(const struct parcel *parcel)
{
        if (parcel->error->reason != NULL)
                return parcel->error->reason;
        return parcel->error->kind == PO_BUG ? "BUG" : "DATABASE_REFUSED";
}

static void hold(struct parcel *parcel, const struct po_error *why)
{
        parcel->verdict = VERDICT_HELD;
        *parcel->error = *why;
}

static void hold_rest(struct rejecter *rejecter, const struct po_error *why)
{
        for (size_t i = 0; i < rejecter->count; i++)
                if (rejecter->rejections[i].parcel->verdict == VERDICT_REJECTED &&
                    !rejecter->rows[i].there)
                        hold(rejecter->rejections[i].parcel, why);
}

/* One line: why, and each failed notification of the record by key. Never the payload. */
static void describe(struct rejection *rejection, const struct batch *batch)
{
        const struct parcel *parcel = rejection->parcel;
        struct text text;
        text_init(&text, rejection->text, sizeof rejection->text);
        text_put(&text, parcel->error->text);
        for (size_t i = parcel->first; i < parcel->first + parcel->count; i++)
                if (batch->postings[i].verdict == VERDICT_REJECTED)
                        text_format(&text, " [%s]", batch->postings[i].notification->key);
}

/* A record that its channel did not write: an attack, or a key that was changed on one side only.
 */
static void alarm_unless_proven(const struct parcel *parcel)
{
        static const char code[] = "SIGNATURE_INVALID";
        const struct record *record = parcel->record;
        if (strcmp(reason_of(parcel), code) == 0)
                log_alarm(code, NULL, "topic=%s partition=%d offset=%lld", record->topic,
                          (int)record->partition, (long long)record->offset);
}

/* One that comes out of `parked` is told apart from the rest of its record, which passed before. */
static void name_letter(struct rejection *rejection, const struct batch *batch)
{
        const struct parcel *parcel = rejection->parcel;
        const struct posting *posting = &batch->postings[parcel->first];
        bool was_parked = parcel->count > 0 && posting->unparks;
        letter_id_of_key(parcel->record, was_parked ? posting->notification->key : NULL,
                         rejection->id);
}

static void collect(struct rejecter *rejecter, struct batch *batch)
{
        rejecter->count = 0;
        for (size_t i = 0; i < batch->parcels_count; i++) {
                struct parcel *parcel = &batch->parcels[i];
                if (parcel->verdict != VERDICT_REJECTED)
                        continue;
                struct rejection *rejection = &rejecter->rejections[rejecter->count];
                rejection->parcel = parcel;
                alarm_unless_proven(parcel);
                name_letter(rejection, batch);
                describe(rejection, batch);
                rejecter->rows[rejecter->count++] = (struct letter_row){
                        .letter_id = rejection->id,
                        .reason = reason_of(parcel),
                        .record = parcel->record,
                        .attempts = 1,
                        .letter_topic = rejecter->options.topic,
                };
        }
}

/* Failures that may change are counted in the database; below the limit the record comes again. */
static enum po_class count_failures(struct rejecter *rejecter, struct po_error *error)
{
        for (size_t i = 0; i < rejecter->count; i++) {
                struct parcel *parcel = rejecter->rejections[i].parcel;
                struct letter_row *row = &rejecter->rows[i];
                if (!parcel->may_change || row->there)
                        continue;
                if (letter_fail(rejecter->options.db, &rejecter->sql, row, error) != PO_OK)
                        return error->kind;
                if (row->attempts < rejecter->options.attempts)
                        parcel->verdict = VERDICT_HELD;
        }
        return PO_OK;
}

static size_t prepare_letters(struct rejecter *rejecter)
{
        size_t count = 0;
        for (size_t i = 0; i < rejecter->count; i++) {
                const struct rejection *rejection = &rejecter->rejections[i];
                const struct letter_row *row = &rejecter->rows[i];
                if (rejection->parcel->verdict != VERDICT_REJECTED || row->there)
                        continue;
                rejecter->sent[count] = i;
                rejecter->letters[count++] = (struct letter){
                        .record = row->record,
                        .id = rejection->id,
                        .reason = row->reason,
                        .text = rejection->text,
                        .attempts = row->attempts,
                        .may_keep = letter_can_keep(rejecter->options.db, row->record),
                };
        }
        return count;
}

/* Acknowledged letters get their row; the others' records are held. */
static enum po_class record_letters(struct rejecter *rejecter, size_t letters,
                                    const struct po_error *sending, struct po_error *error)
{
        size_t recorded = 0;
        for (size_t i = 0; i < letters; i++) {
                struct letter_row *row = &rejecter->rows[rejecter->sent[i]];
                if (rejecter->letters[i].result != PO_OK) {
                        hold(rejecter->rejections[rejecter->sent[i]].parcel, sending);
                        continue;
                }
                row->letter_partition = rejecter->letters[i].partition;
                row->letter_offset = rejecter->letters[i].offset;
                row->keep = rejecter->letters[i].keep;
                rejecter->recorded[recorded++] = row;
        }
        metric_add(METRIC_DEAD_LETTERS, (int64_t)recorded);
        if (PO_FAILPOINT("letter.acknowledged") != PO_OK ||
            letters_insert(rejecter->options.db, &rejecter->sql, rejecter->recorded, recorded,
                           error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < letters; i++)
                if (rejecter->letters[i].result == PO_OK)
                        rejecter->rows[rejecter->sent[i]].there = true;
        return PO_FAILPOINT("letter.recorded");
}

static bool is_away(const struct rejecter *rejecter)
{
        return clock_ms() < rejecter->away_until_ms;
}

/* One that failed at once may be tried again at once. */
static void note_away(struct rejecter *rejecter, enum po_class sent, int64_t took_ms,
                      const struct po_error *why)
{
        int64_t away_ms = AWAY_FACTOR * took_ms;
        rejecter->away_until_ms = 0;
        if (sent == PO_OK || sent == PO_RECORD)
                return;
        rejecter->away = *why;
        rejecter->away_until_ms = clock_ms() + (away_ms < AWAY_MOST_MS ? away_ms : AWAY_MOST_MS);
}

static enum po_class send_letters(struct rejecter *rejecter, struct po_error *error)
{
        size_t letters = prepare_letters(rejecter);
        if (letters == 0)
                return PO_OK;
        if (is_away(rejecter)) {
                hold_rest(rejecter, &rejecter->away);
                return PO_OK;
        }
        struct po_error sending = { 0 };
        size_t room = letters;
        enum po_class flood = PO_OK;
        if (rejecter->options.most_per_minute > 0)
                flood = flood_check(letters, rejecter->options.most_per_minute,
                                    rejecter->options.db, &rejecter->sql, &room, error);
        if (room == 0)
                return flood;
        letters = room;
        int64_t begun_ms = clock_ms();
        enum po_class sent = letters_send(rejecter->options.sink, rejecter->options.topic,
                                          rejecter->letters, letters, &sending);
        note_away(rejecter, sent, clock_ms() - begun_ms, &sending);
        if (sent != PO_OK)
                log_alarm(sent == PO_RECORD ? LETTER_TOO_LARGE : "DEAD_LETTER_NOT_WRITABLE", NULL,
                          "topic=%s class=%s", rejecter->options.topic, po_class_name(sent));
        struct po_error recording;
        if (record_letters(rejecter, letters, &sending, &recording) == PO_OK)
                return flood;
        *error = recording;
        return error->kind;
}

enum po_class reject_all(struct rejecter *rejecter, struct batch *batch, struct po_error *error)
{
        collect(rejecter, batch);
        if (rejecter->count == 0)
                return PO_OK;
        if (rejecter->options.topic == NULL) {
                po_fail(error, PO_RECORD, 0, "no dead_letter.topic is configured");
                log_alarm("DEAD_LETTER_MISSING", NULL, "records=%zu", rejecter->count);
                hold_rest(rejecter, error);
                return PO_OK;
        }
        if (letters_find(rejecter->options.db, &rejecter->sql, rejecter->rows, rejecter->count,
                         error) != PO_OK ||
            count_failures(rejecter, error) != PO_OK || send_letters(rejecter, error) != PO_OK) {
                hold_rest(rejecter, error);
                return error->kind;
        }
        return PO_OK;
}
