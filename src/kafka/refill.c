/*
 * What is fetched ahead of a backlog stays small, and is there in time.
 *
 * A thread of librdkafka that found its queue of fetched records full sleeps until something else
 * is to be done on its connection, for a second if nothing is: so what fits the queue would be the
 * most that a worker gets in a second. Since 2.2.0 fetch.queue.backoff.ms says how long. Before
 * (rd_kafka_toppar_fetch_decide, rd_kafka_broker_consumer_serve), a question to the leaders wakes
 * their threads: each time that a part of the queue was taken they are asked for the partitions'
 * ends, and the answer is not waited for.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "kafka/client.h"
#include "kafka/source_internal.h"

enum {
        BACKOFF_SETTABLE = 0x020200ff, /* the first version with fetch.queue.backoff.ms */
        PARTS = 4,                     /* the queue is filled up again after so much of it */
        KILOBYTE = 1024,
};

enum po_class refill_configure(rd_kafka_conf_t *conf, struct po_error *error)
{
        if (rd_kafka_version() < BACKOFF_SETTABLE)
                return PO_OK;
        return property_set(conf, "fetch.queue.backoff.ms", "10", error);
}

void refill_open(struct source *source)
{
        char kilobytes[32] = "";
        size_t size = sizeof kilobytes;
        rd_kafka_conf_get(rd_kafka_conf(source->client), "queued.max.messages.kbytes", kilobytes,
                          &size);
        source->refill_bytes = strtoull(kilobytes, NULL, 10) * KILOBYTE / PARTS;
}

static void ask_leaders(struct source *source)
{
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list =
                rd_kafka_topic_partition_list_new((int)source->partitions.count);
        for (size_t i = 0; i < source->partitions.count; i++) {
                const struct partition *partition = &source->partitions.items[i];
                if (partition->assigned && !partition->paused)
                        rd_kafka_topic_partition_list_add(list, partition->topic, partition->number)
                                ->offset = RD_KAFKA_OFFSET_END;
        }
        if (list->cnt > 0) /* with no time to wait: sent, and the answer dropped */
                rd_kafka_offsets_for_times(source->client, list, 0);
}

void refill_after(struct source *source, size_t taken_bytes)
{
        source->taken_bytes += taken_bytes;
        if (source->taken_bytes < source->refill_bytes)
                return;
        source->taken_bytes = 0;
        if (rd_kafka_version() < BACKOFF_SETTABLE)
                ask_leaders(source);
}
