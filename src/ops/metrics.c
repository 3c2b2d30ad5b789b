#include "ops/metrics.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"

enum { ALARM_CODES_MAX = 32, LIVENESS_NEVER = 0 };

struct family {
        const char *name; /* with its labels */
        const char *type;
        const char *help;
};

#define METRICS_ROW(symbol, name, type, help) [symbol] = { name, type, help },
static const struct family families[METRIC_COUNT] = { METRICS_LIST(METRICS_ROW) };
#undef METRICS_ROW

/* What is not known yet must not read as "nothing behind". */
static _Atomic int64_t values[METRIC_COUNT] = { [METRIC_LAG] = -1 };

/* The last slot counts what found no slot of its own. */
static struct {
        _Atomic(const char *) code;
        _Atomic int64_t count;
} alarms[ALARM_CODES_MAX];

static _Atomic(const char *) not_ready = "starting";
static _Atomic int64_t last_beat_ms = LIVENESS_NEVER;

void metric_add(enum metric metric, int64_t more)
{
        atomic_fetch_add_explicit(&values[metric], more, memory_order_relaxed);
}

void metric_set(enum metric metric, int64_t value)
{
        atomic_store_explicit(&values[metric], value, memory_order_relaxed);
}

int64_t metric_get(enum metric metric)
{
        return atomic_load_explicit(&values[metric], memory_order_relaxed);
}

void metric_alarm(const char *code)
{
        for (int i = 0; i < ALARM_CODES_MAX; i++) {
                const char *there = NULL;
                const char *own = i < ALARM_CODES_MAX - 1 ? code : "OTHER";
                bool taken = atomic_compare_exchange_strong(&alarms[i].code, &there, own);
                if (taken || strcmp(there, own) == 0) {
                        atomic_fetch_add(&alarms[i].count, 1);
                        return;
                }
        }
}

static size_t family_bytes(const struct family *family)
{
        return strcspn(family->name, "{");
}

static bool family_is_new(int i)
{
        if (i == 0)
                return true;
        size_t bytes = family_bytes(&families[i]);
        return bytes != family_bytes(&families[i - 1]) ||
               strncmp(families[i].name, families[i - 1].name, bytes) != 0;
}

static void alarms_print(FILE *stream)
{
        fputs("# HELP postonce_alarms_total alarms by code\n"
              "# TYPE postonce_alarms_total counter\n",
              stream);
        for (int i = 0; i < ALARM_CODES_MAX; i++) {
                const char *code = atomic_load(&alarms[i].code);
                if (code == NULL)
                        return;
                fprintf(stream, "postonce_alarms_total{code=\"%s\"} %" PRId64 "\n", code,
                        atomic_load(&alarms[i].count));
        }
}

void metrics_print(FILE *stream)
{
        for (int i = 0; i < METRIC_COUNT; i++) {
                const struct family *family = &families[i];
                int bytes = (int)family_bytes(family);
                if (family_is_new(i))
                        fprintf(stream, "# HELP %.*s %s\n# TYPE %.*s %s\n", bytes, family->name,
                                family->help, bytes, family->name, family->type);
                fprintf(stream, "%s %" PRId64 "\n", family->name, metric_get((enum metric)i));
        }
        alarms_print(stream);
}

void readiness_set(const char *reason)
{
        atomic_store(&not_ready, reason);
        metric_set(METRIC_READY, reason == NULL);
}

const char *readiness_reason(void)
{
        return atomic_load(&not_ready);
}

void liveness_beat(void)
{
        atomic_store(&last_beat_ms, clock_ms());
}

bool liveness_is_alive(int64_t limit_ms)
{
        int64_t beat_ms = atomic_load(&last_beat_ms);
        return beat_ms != LIVENESS_NEVER && clock_ms() - beat_ms < limit_ms;
}
