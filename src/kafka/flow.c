/*
 * Pausing, seeking and resuming, in the one order that neither skips nor goes back.
 *
 * Read from librdkafka 2.0.2 (rd_kafka_toppar_pause_resume, rd_kafka_toppar_seek,
 * rd_kafka_toppar_fetch_decide, rd_kafka_op_version_outdated):
 *  - pause, seek and resume raise the partition's version at once, in the calling thread; whatever
 *    was fetched under an older version is dropped when it is polled, so no record of an old fetch
 *    can follow one of these calls;
 *  - pause sets the next fetch to the offset after the last record polled (app_offset), if any was
 *    polled since the last seek or start;
 *  - seek forgets that offset and sets the next fetch to the wanted one; a later pause by the
 *    library itself (rebalance) keeps it, as nothing was polled since;
 *  - resume fetches from there. On a partition that is not paused it starts again at the *previous*
 *    start, which may lie far back (fixed in 2.4.0); the library does this to itself at the end of
 *    a rebalance, which is why partition_take() drops what was handed out already.
 * So: pause when a hold begins; when it is over seek to the position while still paused, then
 * resume what was sought, and only what we paused. A seek that fails leaves it paused for the next
 * try. Only a seek wakes the fetcher, a resume waits for its next round (up to a second): hence a
 * second seek to the same place at the end.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "kafka/client.h"
#include "kafka/source_internal.h"

enum {
        SEEK_WAIT_MS = 2000,
        SEEK_AGAIN_MS = 500,
        RETRY_AFTER_MS = 5000,
        STUCK_FROM = 3,                 /* tries that found nothing readable */
        SEEK_UNITS_MENDED = 0x020100ff, /* before 2.1.0 the time-out counts as microseconds */
};

static void pause_listed(struct source *source, rd_kafka_topic_partition_list_t *list)
{
        if (list->cnt == 0)
                return;
        rd_kafka_resp_err_t code = rd_kafka_pause_partitions(source->client, list);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                log_warn("pause_failed", "code=%s", rd_kafka_err2name(code));
}

/* What cannot be paused is dropped on arrival and sought back to all the same. */
static void pause_mark(struct partition *partition, enum pause_reason reason,
                       rd_kafka_topic_partition_list_t *list)
{
        partition->pauses |= reason;
        if (partition->paused)
                return;
        partition->paused = true;
        rd_kafka_topic_partition_list_add(list, partition->topic, partition->number);
}

void flow_pause(struct source *source, struct partition *partition, enum pause_reason reason)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        pause_mark(partition, reason, list);
        pause_listed(source, list);
}

void flow_pause_all(struct source *source, enum pause_reason reason)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list =
                rd_kafka_topic_partition_list_new((int)source->partitions.count);
        for (size_t i = 0; i < source->partitions.count; i++) {
                if (source->partitions.items[i].assigned)
                        pause_mark(&source->partitions.items[i], reason, list);
        }
        pause_listed(source, list);
}

void flow_allow_all(struct source *source, enum pause_reason reason)
{
        for (size_t i = 0; i < source->partitions.count; i++)
                source->partitions.items[i].pauses &= ~(unsigned)reason;
}

static int seek_timeout_ms(void)
{
        return rd_kafka_version() < SEEK_UNITS_MENDED ? SEEK_WAIT_MS * 1000 : SEEK_WAIT_MS;
}

static struct partition *listed(struct source *source, const rd_kafka_topic_partition_t *element)
{
        size_t index = partitions_find(&source->partitions, element->topic, element->partition);
        return &source->partitions.items[index];
}

/* Leaves only those in list that were sought; the others stay paused for another try. */
static void seek_listed(struct source *source, rd_kafka_topic_partition_list_t *list)
{
        rd_kafka_error_t *late = rd_kafka_seek_partitions(source->client, list, seek_timeout_ms());
        if (late != NULL) {
                log_warn("seek_failed", "code=%s", rd_kafka_error_name(late));
                rd_kafka_error_destroy(late);
        }
        for (int i = list->cnt - 1; i >= 0; i--) {
                rd_kafka_topic_partition_t *element = &list->elems[i];
                if (element->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                        continue;
                log_warn("seek_failed", "topic=%s partition=%d to=%lld code=%s", element->topic,
                         (int)element->partition, (long long)element->offset,
                         rd_kafka_err2name(element->err));
                struct partition *partition = listed(source, element);
                partition->pauses |= PAUSED_BY_HOLD;
                partition->due_ms = clock_ms() + SEEK_AGAIN_MS;
                rd_kafka_topic_partition_list_del_by_idx(list, i);
        }
}

static void resume_listed(struct source *source, rd_kafka_topic_partition_list_t *list)
{
        rd_kafka_resp_err_t code = rd_kafka_resume_partitions(source->client, list);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                log_warn("resume_failed", "code=%s", rd_kafka_err2name(code));
        for (int i = 0; i < list->cnt; i++) {
                if (list->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR)
                        listed(source, &list->elems[i])->paused = false;
        }
}

void flow_resume(struct source *source, int64_t now_ms)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list = NULL;
        for (size_t i = 0; i < source->partitions.count; i++) {
                struct partition *partition = &source->partitions.items[i];
                if (!partition->assigned || !partition->paused)
                        continue;
                partition_wake(partition, now_ms);
                if (partition->pauses != 0)
                        continue;
                if (list == NULL)
                        list = rd_kafka_topic_partition_list_new(1);
                rd_kafka_topic_partition_list_add(list, partition->topic, partition->number)
                        ->offset = partition->position;
        }
        if (list == NULL)
                return;
        seek_listed(source, list);
        if (list->cnt == 0)
                return;
        resume_listed(source, list);
        rd_kafka_error_t *late = rd_kafka_seek_partitions(source->client, list, 0);
        if (late != NULL)
                rd_kafka_error_destroy(late);
}

void flow_retry(struct source *source, struct partition *partition, const char *reason)
{
        if (!partition->assigned || partition->paused)
                return;
        partition_hold(partition, partition->position, clock_ms() + RETRY_AFTER_MS);
        flow_pause(source, partition, PAUSED_BY_HOLD);
        char quoted[PO_ERROR_TEXT_BYTES];
        log_quote(quoted, sizeof quoted, reason);
        if (partition->hold_tries >= STUCK_FROM)
                partition->stuck = "PARTITION_UNREADABLE";
        if (partition->hold_tries == 1)
                log_alarm("PARTITION_UNREADABLE", NULL,
                          "topic=%s partition=%d offset=%lld error=%s", partition->topic,
                          (int)partition->number, (long long)partition->position, quoted);
}

int64_t flow_due_ms(const struct source *source)
{
        int64_t due_ms = INT64_MAX;
        for (size_t i = 0; i < source->partitions.count; i++) {
                const struct partition *partition = &source->partitions.items[i];
                if ((partition->pauses & PAUSED_BY_HOLD) != 0 && partition->due_ms < due_ms)
                        due_ms = partition->due_ms;
        }
        return due_ms;
}
