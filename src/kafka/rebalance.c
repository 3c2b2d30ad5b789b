#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "kafka/client.h"
#include "kafka/source_internal.h"

enum {
        READ_TRIES = 3,
        READ_WAIT_MS = 3000,
        REVOKE_COMMIT_MS = 5000,
};

static bool is_cooperative(rd_kafka_t *client)
{
        const char *protocol = rd_kafka_rebalance_protocol(client);
        return protocol != NULL && strcmp(protocol, "COOPERATIVE") == 0;
}

/* True: every element that has no err is known. */
static bool committed_read(struct source *source, rd_kafka_topic_partition_list_t *list)
{
        for (int i = 0; i < READ_TRIES; i++) {
                rd_kafka_resp_err_t code = offsets_read(source, list, READ_WAIT_MS);
                if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                        return true;
                log_warn("committed_unread", "try=%d code=%s", i + 1, rd_kafka_err2name(code));
        }
        return false;
}

/*
 * Where a partition begins: at the group's offset, or at the log's beginning when there is none.
 * Where that cannot be read it is assigned paused, and placed by offsets_lookup() once it can: to
 * leave it to librdkafka would end the fetcher for good when there is no offset.
 */
static void partition_enter(struct source *source, rd_kafka_topic_partition_t *element, bool known)
{
        size_t index = partitions_ensure(&source->partitions, element->topic, element->partition);
        if (index == source->partitions.count) {
                log_error("partition_unknown", "topic=%s partition=%d reason=memory",
                          element->topic, (int)element->partition);
                element->offset = RD_KAFKA_OFFSET_BEGINNING;
                return;
        }
        struct partition *partition = &source->partitions.items[index];
        bool placed = known && element->err == RD_KAFKA_RESP_ERR_NO_ERROR;
        if (!placed || element->offset < 0)
                element->offset = RD_KAFKA_OFFSET_BEGINNING;
        partition_begin(partition, element->offset);
        if (!placed)
                partition->pauses |= PAUSED_UNKNOWN;
        element->err = RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Runs before anything of the new partitions is polled, so nothing slips through. */
static void pause_new(struct source *source, const rd_kafka_topic_partition_list_t *list)
{
        for (int i = 0; i < list->cnt; i++) {
                size_t index = partitions_find(&source->partitions, list->elems[i].topic,
                                               list->elems[i].partition);
                if (index == source->partitions.count)
                        continue;
                struct partition *partition = &source->partitions.items[index];
                if ((partition->pauses & PAUSED_UNKNOWN) != 0)
                        flow_pause(source, partition, PAUSED_UNKNOWN);
                if (source->idle)
                        flow_pause(source, partition, PAUSED_BY_IDLE);
        }
}

static rd_kafka_resp_err_t error_take(rd_kafka_error_t *failure)
{
        if (failure == NULL)
                return RD_KAFKA_RESP_ERR_NO_ERROR;
        rd_kafka_resp_err_t code = rd_kafka_error_code(failure);
        rd_kafka_error_destroy(failure);
        return code;
}

static void assign(struct source *source, rd_kafka_topic_partition_list_t *list)
{
        bool known = list->cnt == 0 || committed_read(source, list);
        for (int i = 0; i < list->cnt; i++)
                partition_enter(source, &list->elems[i], known);

        rd_kafka_resp_err_t code =
                is_cooperative(source->client)
                        ? error_take(rd_kafka_incremental_assign(source->client, list))
                        : rd_kafka_assign(source->client, list);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
                log_error("assign_failed", "code=%s", rd_kafka_err2name(code));
                for (int i = 0; i < list->cnt; i++) {
                        size_t index = partitions_find(&source->partitions, list->elems[i].topic,
                                                       list->elems[i].partition);
                        if (index < source->partitions.count)
                                partition_end(&source->partitions.items[index]);
                }
                return;
        }
        source->joined = true;
        source->next_lookup_ms = clock_ms();
        pause_new(source, list);
}

/*
 * librdkafka keeps the application's pause over an assignment: a partition that came back would
 * stand still for ever. So what we paused is resumed while it is still ours.
 */
static void forget(struct source *source, const rd_kafka_topic_partition_list_t *list)
{
        rd_kafka_topic_partition_list_t *paused = rd_kafka_topic_partition_list_new(list->cnt);
        for (int i = 0; i < list->cnt; i++) {
                size_t index = partitions_find(&source->partitions, list->elems[i].topic,
                                               list->elems[i].partition);
                if (index == source->partitions.count)
                        continue;
                struct partition *partition = &source->partitions.items[index];
                if (partition->assigned && partition->paused)
                        rd_kafka_topic_partition_list_add(paused, partition->topic,
                                                          partition->number);
                partition_end(partition);
        }
        if (paused->cnt > 0)
                rd_kafka_resume_partitions(source->client, paused);
        rd_kafka_topic_partition_list_destroy(paused);
}

/* Whoever gets the partitions next reads what is committed here before this returns. */
static void commit_last(struct source *source)
{
        int64_t left_ms = source->deadline_ms - clock_ms();
        if (rd_kafka_assignment_lost(source->client) || left_ms <= 0)
                return;
        rd_kafka_resp_err_t code = offsets_commit(
                source, left_ms < REVOKE_COMMIT_MS ? (int)left_ms : REVOKE_COMMIT_MS);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                log_warn("commit_failed", "at=revoke code=%s", rd_kafka_err2name(code));
}

static void revoke(struct source *source, rd_kafka_topic_partition_list_t *list)
{
        /* The group went on without us: not a member until the next assignment. librdkafka's word
         * that all brokers are down does not always come. */
        if (rd_kafka_assignment_lost(source->client))
                source->joined = false;
        commit_last(source);
        forget(source, list);
        rd_kafka_resp_err_t code =
                is_cooperative(source->client)
                        ? error_take(rd_kafka_incremental_unassign(source->client, list))
                        : rd_kafka_assign(source->client, NULL);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                log_error("unassign_failed", "code=%s", rd_kafka_err2name(code));
}

/*
 * The whole of it anew where the protocol knows no part of it: each partition from its position, so
 * nothing in hand comes twice; what is paused stays paused.
 */
static rd_kafka_resp_err_t assign_all_again(struct source *source)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list =
                rd_kafka_topic_partition_list_new((int)source->partitions.count);
        for (size_t i = 0; i < source->partitions.count; i++) {
                const struct partition *partition = &source->partitions.items[i];
                if (partition->assigned)
                        rd_kafka_topic_partition_list_add(list, partition->topic, partition->number)
                                ->offset = partition->position;
        }
        return rd_kafka_assign(source->client, list);
}

static rd_kafka_resp_err_t assign_one_again(struct source *source,
                                            const struct partition *partition)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, partition->topic, partition->number)->offset =
                partition->position;
        rd_kafka_resp_err_t code = error_take(rd_kafka_incremental_unassign(source->client, list));
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return code;
        return error_take(rd_kafka_incremental_assign(source->client, list));
}

void rebalance_again(struct source *source, const struct partition *partition)
{
        rd_kafka_resp_err_t code = offsets_commit(source, REVOKE_COMMIT_MS);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                log_warn("commit_failed", "at=restart code=%s", rd_kafka_err2name(code));
        code = is_cooperative(source->client) ? assign_one_again(source, partition)
                                              : assign_all_again(source);
        log_warn("fetch_restarted", "topic=%s partition=%d offset=%lld code=%s", partition->topic,
                 (int)partition->number, (long long)partition->position, rd_kafka_err2name(code));
}

void rebalance_serve(rd_kafka_t *client, rd_kafka_resp_err_t code,
                     rd_kafka_topic_partition_list_t *list, void *opaque)
{
        struct source *source = opaque;
        source->rebalances++;
        source->end = SOURCE_GOING;
        switch (code) {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
                assign(source, list);
                log_info("rebalance", "assigned=%d", list->cnt);
                break;
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
                log_info("rebalance", "revoked=%d lost=%d", list->cnt,
                         rd_kafka_assignment_lost(client));
                revoke(source, list);
                break;
        default:
                log_error("rebalance", "failed=%s", rd_kafka_err2name(code));
                rd_kafka_assign(client, NULL);
                break;
        }
}
