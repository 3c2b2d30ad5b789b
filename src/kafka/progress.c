#include "base/cleanup.h"
#include "base/clock.h"
#include "kafka/codes.h"
#include "kafka/client.h"
#include "kafka/source_internal.h"

enum {
        ASK_EVERY_MS = 1000,
        ASK_WAIT_MS = 2000,
};

static bool is_held(const struct source *source, const struct partition *partition)
{
        if ((partition->pauses & PAUSED_FOR_PERSON) != 0)
                return true;
        return (partition->pauses & PAUSED_BY_HOLD) != 0 &&
               partition->hold_tries >= source->end_hold_tries;
}

/* From what this worker knows alone. AT_END: of its own partitions. */
static enum source_end own_end(const struct source *source)
{
        enum source_end end = SOURCE_AT_END;
        for (size_t i = 0; i < source->partitions.count; i++) {
                const struct partition *partition = &source->partitions.items[i];
                if (!partition->assigned)
                        continue;
                if (is_held(source, partition))
                        end = SOURCE_AT_HOLD;
                else if (!partition->at_end || partition->stored != partition->position)
                        return SOURCE_GOING;
        }
        return end;
}

/* A partition that nobody committed is at its end when it has no record. */
static enum po_class element_at_end(struct source *source,
                                    const rd_kafka_topic_partition_t *element, bool *at_end_out,
                                    struct po_error *error)
{
        int64_t low;
        int64_t high;
        rd_kafka_resp_err_t code = element->err;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                code = rd_kafka_query_watermark_offsets(source->client, element->topic,
                                                        element->partition, &low, &high,
                                                        ASK_WAIT_MS);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return kafka_fail(error, code, element->topic);
        *at_end_out = element->offset >= 0 ? element->offset >= high : low == high;
        return PO_OK;
}

/* Whoever owns them: the group's committed offsets against the ends of all partitions. */
static enum po_class group_end(struct source *source, enum source_end *end_out,
                               struct po_error *error)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        const char *culprit;
        rd_kafka_resp_err_t code = subscription_read(source, list, ASK_WAIT_MS, &culprit);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return kafka_fail(error, code, culprit);
        code = offsets_read(source, list, ASK_WAIT_MS);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return kafka_fail(error, code, "committed offsets");
        for (int i = 0; i < list->cnt; i++) {
                bool at_end = false;
                if (element_at_end(source, &list->elems[i], &at_end, error) != PO_OK)
                        return error->kind;
                if (!at_end)
                        return PO_OK;
        }
        *end_out = SOURCE_AT_END;
        return PO_OK;
}

/* Patterns that match no topic: librdkafka joins no group for them. */
static bool means_nothing(struct source *source)
{
        if (!source->by_pattern)
                return false;
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        const char *culprit;
        return subscription_read(source, list, ASK_WAIT_MS, &culprit) ==
                       RD_KAFKA_RESP_ERR_NO_ERROR &&
               list->cnt == 0;
}

static enum po_class own_commit(struct source *source, struct po_error *error)
{
        rd_kafka_resp_err_t code = offsets_commit(source, ASK_WAIT_MS);
        return code == RD_KAFKA_RESP_ERR_NO_ERROR ? PO_OK : kafka_fail(error, code, "commit");
}

enum po_class source_end(struct source *source, enum source_end *end_out, struct po_error *error)
{
        *end_out = source->end;
        int64_t now_ms = clock_ms();
        if (now_ms < source->next_end_ms)
                return PO_OK;
        source->next_end_ms = now_ms + ASK_EVERY_MS;
        source->end = SOURCE_GOING;
        *end_out = SOURCE_GOING;
        enum source_end own = own_end(source);
        if (own == SOURCE_GOING || (!source->joined && !means_nothing(source)))
                return PO_OK;
        enum po_class result = own_commit(source, error);
        if (result == PO_OK && own == SOURCE_AT_HOLD)
                source->end = SOURCE_AT_HOLD;
        else if (result == PO_OK)
                result = group_end(source, &source->end, error);
        *end_out = source->end;
        /* Questions wait behind a rebalance on the coordinator's connection: not the end yet. */
        if (result == PO_OK || result == PO_TRANSIENT)
                return PO_OK;
        return po_within(error, "kafka: the group's end");
}

/* From what the last fetch told; false: it is not known. */
static bool partition_lag(const struct source *source, const struct partition *partition,
                          int64_t *lag_out)
{
        int64_t low;
        int64_t high;
        rd_kafka_resp_err_t code = rd_kafka_get_watermark_offsets(source->client, partition->topic,
                                                                  partition->number, &low, &high);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR || high < 0)
                return false;
        int64_t from = partition->stored >= 0 ? partition->stored : low;
        if (from < 0)
                return false;
        *lag_out = high > from ? high - from : 0;
        return true;
}

/* Held, or its held record is on its way and not settled yet. */
static bool waits(const struct partition *partition)
{
        return (partition->pauses & (PAUSED_BY_HOLD | PAUSED_FOR_PERSON)) != 0 ||
               (partition->hold_tries > 0 && partition->stored <= partition->hold_offset);
}

void source_figures(const struct source *source, struct source_figures *figures_out)
{
        struct source_figures figures = {
                .rebalances = source->rebalances,
                .joined = source->joined,
        };
        for (size_t i = 0; i < source->partitions.count; i++) {
                const struct partition *partition = &source->partitions.items[i];
                if (!partition->assigned)
                        continue;
                figures.partitions_assigned++;
                if ((partition->pauses & (PAUSED_BY_HOLD | PAUSED_FOR_PERSON)) != 0)
                        figures.partitions_held++;
                if (waits(partition))
                        figures.partitions_waiting++;
                if ((partition->pauses & PAUSED_FOR_PERSON) != 0)
                        figures.partitions_stopped++;
                int64_t lag = 0;
                if (!partition_lag(source, partition, &lag))
                        figures.lag = -1;
                else if (figures.lag >= 0)
                        figures.lag += lag;
        }
        *figures_out = figures;
}
