#include "kafka/partitions.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITIONS_FIRST = 16 };

void partitions_free(struct partitions *partitions)
{
        for (size_t i = 0; i < partitions->count; i++)
                free(partitions->items[i].topic);
        free(partitions->items);
        *partitions = (struct partitions){ 0 };
}

static bool partition_is(const struct partition *partition, const char *topic, int32_t number)
{
        return partition->number == number && strcmp(partition->topic, topic) == 0;
}

size_t partitions_find(struct partitions *partitions, const char *topic, int32_t number)
{
        if (partitions->latest < partitions->count &&
            partition_is(&partitions->items[partitions->latest], topic, number))
                return partitions->latest;
        for (size_t i = 0; i < partitions->count; i++) {
                if (partition_is(&partitions->items[i], topic, number)) {
                        partitions->latest = i;
                        return i;
                }
        }
        return partitions->count;
}

static bool partitions_grow(struct partitions *partitions)
{
        if (partitions->count < partitions->capacity)
                return true;
        size_t capacity = partitions->capacity > 0 ? 2 * partitions->capacity : PARTITIONS_FIRST;
        struct partition *items = realloc(partitions->items, capacity * sizeof *items);
        if (items == NULL)
                return false;
        partitions->items = items;
        partitions->capacity = capacity;
        return true;
}

size_t partitions_ensure(struct partitions *partitions, const char *topic, int32_t number)
{
        size_t index = partitions_find(partitions, topic, number);
        if (index < partitions->count || !partitions_grow(partitions))
                return index;
        char *name = strdup(topic);
        if (name == NULL)
                return index;
        partitions->items[index] = (struct partition){ .topic = name, .number = number };
        partition_end(&partitions->items[index]);
        partitions->latest = index;
        partitions->count++;
        return index;
}

void partition_begin(struct partition *partition, int64_t offset)
{
        partition_end(partition);
        partition->assigned = true;
        partition->epoch++;
        partition->position = offset;
        partition->stored = offset;
}

void partition_place(struct partition *partition, int64_t offset)
{
        assert(partition->stored == partition->position);
        partition->position = offset;
        partition->stored = offset;
}

void partition_end(struct partition *partition)
{
        partition->assigned = false;
        partition->position = OFFSET_BEGINNING;
        partition->stored = OFFSET_BEGINNING;
        partition->end = OFFSET_NONE;
        partition->at_end = false;
        partition->pauses = 0;
        partition->paused = false;
        partition->due_ms = 0;
        partition->hold_offset = OFFSET_NONE;
        partition->hold_tries = 0;
        partition->stuck = NULL;
}

bool partition_take(struct partition *partition, int64_t offset)
{
        if (!partition->assigned || partition->paused || offset < partition->position)
                return false;
        partition->position = offset + 1;
        partition->stuck = NULL;
        partition->end = OFFSET_NONE;
        partition->at_end = false;
        return true;
}

bool partition_settle(struct partition *partition, int64_t next)
{
        assert(next <= partition->position);
        if (next <= partition->stored)
                return false;
        partition->stored = next;
        if (next > partition->hold_offset)
                partition->hold_tries = 0;
        return true;
}

void partition_meet_end(struct partition *partition, int64_t offset)
{
        if (!partition->assigned || partition->paused || offset < partition->position)
                return;
        partition->end = offset;
        partition->at_end = true;
}

int64_t partition_pass_end(struct partition *partition)
{
        if (partition->end == OFFSET_NONE || partition->stored != partition->position)
                return OFFSET_NONE;
        int64_t end = partition->end;
        partition->end = OFFSET_NONE;
        if (end <= partition->stored)
                return OFFSET_NONE;
        partition->position = end;
        partition->stored = end;
        return end;
}

void partition_hold(struct partition *partition, int64_t offset, int64_t due_ms)
{
        bool held = (partition->pauses & PAUSED_BY_HOLD) != 0;
        if (held && due_ms < partition->due_ms)
                due_ms = partition->due_ms;
        partition->due_ms = due_ms;
        partition->pauses |= PAUSED_BY_HOLD;
        partition->end = OFFSET_NONE;
        partition->at_end = false;
        if (held && offset >= partition->position)
                return;
        partition->hold_tries = offset == partition->hold_offset ? partition->hold_tries + 1 : 1;
        partition->hold_offset = offset;
        partition->position = offset;
}

void partition_wake(struct partition *partition, int64_t now_ms)
{
        if ((partition->pauses & PAUSED_BY_HOLD) != 0 && now_ms >= partition->due_ms)
                partition->pauses &= ~(unsigned)PAUSED_BY_HOLD;
}
