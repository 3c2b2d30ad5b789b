/* A pool of workers' sources: what rebalance.c, flow.c and offsets.c do together. */
#include "kafka/source.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

enum { POOL_PARTITIONS = 4, POOL_RECORDS = 1200, POOL_MEMBERS = 3 };

struct pool {
        struct world world;
        struct source *members[POOL_MEMBERS];
        /* By partition: the next offset that nobody has settled, and what was delivered last. */
        int64_t settled[POOL_PARTITIONS];
        int64_t produced;
        unsigned seed;
};

/*
 * A member settles what it took, or holds somewhere. Whoever takes a record must find everything
 * below it settled or in its own batch: an offset that passed over an unsettled record shows here.
 */
static void pool_turn(struct pool *pool, struct source *source)
{
        const struct record *records = NULL;
        size_t count = 0;
        enum po_class class = source_take(source, 5, &records, &count, &error);
        ck_assert_msg(class == PO_OK, "%s", error.text);
        int64_t next[POOL_PARTITIONS];
        memcpy(next, pool->settled, sizeof next);
        for (size_t i = 0; i < count; i++) {
                int p = records[i].partition;
                ck_assert_int_le(records[i].offset, next[p]);
                if (records[i].offset == next[p])
                        next[p]++;
                if (source_is_held(source, &records[i]))
                        continue;
                if (rand_r(&pool->seed) % 50 == 0) {
                        source_hold(source, &records[i], rand_r(&pool->seed) % 100);
                        continue;
                }
                source_store(source, &records[i]);
                if (records[i].offset == pool->settled[p])
                        pool->settled[p]++;
        }
}

static bool pool_done(const struct pool *pool)
{
        for (int p = 0; p < POOL_PARTITIONS; p++)
                if (pool->settled[p] < POOL_RECORDS)
                        return false;
        return pool->produced == POOL_RECORDS;
}

/* A commit that meets a rebalance fails; then what was settled since the one before comes again. */
static void pool_leave(struct pool *pool, int member)
{
        enum po_class class = source_close(pool->members[member], WORLD_WAIT_MS, &error);
        ck_assert_msg(class == PO_OK || strstr(error.text, "last commit") != NULL, "%s",
                      error.text);
        pool->members[member] = NULL;
}

static bool pool_committed(struct pool *pool)
{
        for (int p = 0; p < POOL_PARTITIONS; p++)
                if (world_committed(&pool->world, p) != POOL_RECORDS)
                        return false;
        return true;
}

static void pool_run(const char *strategy)
{
        struct pool pool = { .world = world_open(POOL_PARTITIONS), .seed = (unsigned)clock_ms() };
        printf("seed %u\n", pool.seed);
        world_set(&pool.world, "partition.assignment.strategy", strategy);
        int64_t begun_ms = clock_ms();
        int64_t next_change_ms = begun_ms;
        pool.members[0] = world_source(&pool.world, 32);
        for (unsigned change = 0; !pool_done(&pool) || change < 5;) {
                ck_assert_int_lt(clock_ms() - begun_ms, 55 * 1000);
                for (int m = 0; m < POOL_MEMBERS; m++)
                        if (pool.members[m] != NULL)
                                pool_turn(&pool, pool.members[m]);
                if (pool.produced < POOL_RECORDS) {
                        for (int p = 0; p < POOL_PARTITIONS; p++)
                                world_produce(&pool.world, p, (int)pool.produced, 10);
                        pool.produced += 10;
                }
                if (clock_ms() < next_change_ms || change >= 5)
                        continue;
                next_change_ms = clock_ms() + 2000;
                /* Members 1 and 2 come and go; member 0 stays. */
                int m = 1 + (int)(change++ % 2);
                if (pool.members[m] == NULL) {
                        pool.members[m] = world_source(&pool.world, 32);
                        continue;
                }
                pool_leave(&pool, m);
        }
        while (!pool_committed(&pool)) {
                ck_assert_int_lt(clock_ms() - begun_ms, 55 * 1000);
                for (int m = 0; m < POOL_MEMBERS; m++)
                        if (pool.members[m] != NULL)
                                pool_turn(&pool, pool.members[m]);
        }
        for (int m = 0; m < POOL_MEMBERS; m++)
                if (pool.members[m] != NULL)
                        pool_leave(&pool, m);
        world_close(&pool.world);
}

/* The mock, other than a broker, refuses commits during a rebalance: settled records come twice. */
START_TEST(with_an_eager_assignor_members_come_and_go_and_nothing_is_lost)
{
        pool_run("range,roundrobin");
}
END_TEST

START_TEST(with_a_cooperative_assignor_members_come_and_go_and_nothing_is_lost)
{
        pool_run("cooperative-sticky");
}
END_TEST

UNIT_MAIN("pool", with_an_eager_assignor_members_come_and_go_and_nothing_is_lost,
          with_a_cooperative_assignor_members_come_and_go_and_nothing_is_lost)
