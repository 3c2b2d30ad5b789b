#include "commands/letter_topic.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "kafka/letter_safety.h"

enum { QUOTED_BYTES = 1024 };

static void note_finding(void *context, bool unsafe, const char *finding, const char *mend)
{
        struct po_error *first = context;
        char quoted[QUOTED_BYTES], quoted_mend[QUOTED_BYTES];
        log_event(unsafe ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN, "dead_letter_topic",
                  "finding=%s mend=%s", log_quote(quoted, sizeof quoted, finding),
                  log_quote(quoted_mend, sizeof quoted_mend, mend));
        if (!unsafe || first->kind != PO_OK)
                return;
        po_fail(first, PO_SYSTEMIC, 0, "dead_letter.topic is not safe: %s: %s", finding, mend);
        first->reason = LETTER_TOPIC_UNSAFE;
}

enum po_class letter_topic_check(const struct settings *settings, struct po_error *error)
{
        size_t count = settings->topics.count;
        if (settings->dead_letter.topic == NULL)
                return PO_OK;
        CLEANUP(cleanup_free) struct topic_facts *facts = calloc(count + 1, sizeof *facts);
        if (facts == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu topics", count);
        for (size_t i = 0; i < count; i++)
                facts[i].name = settings->topics.items[i].name;
        facts[count].name = settings->dead_letter.topic;
        if (topics_describe(settings->kafka.items, settings->kafka.count,
                            settings->dead_letter.topic, facts, count + 1, error) != PO_OK)
                return error->kind;
        struct po_error first = { .kind = PO_OK };
        if (letter_safety_judge(&facts[count], facts, count, note_finding, &first))
                return PO_OK;
        *error = first;
        return error->kind;
}
