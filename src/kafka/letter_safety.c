#include "kafka/letter_safety.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FINDING_BYTES = 1024 };

struct judgement {
        letter_finding told;
        void *context;
        bool safe;
};

static void refuse(struct judgement *judgement, const char *finding, const char *mend)
{
        judgement->safe = false;
        judgement->told(judgement->context, true, finding, mend);
}

static bool is_shorter(int64_t retention_ms, int64_t than_ms)
{
        if (retention_ms < 0)
                return false;
        return than_ms < 0 || retention_ms < than_ms;
}

static void retention_print(char *buffer, size_t capacity, int64_t retention_ms)
{
        if (retention_ms < 0)
                snprintf(buffer, capacity, "for ever");
        else
                snprintf(buffer, capacity, "%" PRId64 " ms", retention_ms);
}

static void compare(struct judgement *judgement, const struct topic_facts *letters,
                    const struct topic_facts *source)
{
        char finding[FINDING_BYTES];
        if (!source->exists || !source->configured)
                return;
        if (letters->message_bytes_max < source->message_bytes_max) {
                snprintf(finding, sizeof finding,
                         "%s takes %" PRId64 " bytes a message, %s takes %" PRId64, letters->name,
                         letters->message_bytes_max, source->name, source->message_bytes_max);
                refuse(judgement, finding,
                       "set max.message.bytes of the dead-letter topic to the source's, better "
                       "above it: a letter is larger than its record");
        }
        if (is_shorter(letters->retention_ms, source->retention_ms)) {
                char keeps[32], longer[32];
                retention_print(keeps, sizeof keeps, letters->retention_ms);
                retention_print(longer, sizeof longer, source->retention_ms);
                snprintf(finding, sizeof finding, "%s keeps %s, %s keeps %s", letters->name, keeps,
                         source->name, longer);
                refuse(judgement, finding,
                       "set retention.ms of the dead-letter topic to the source's at least: "
                       "letters would be gone before anybody replays them");
        }
}

/* A letter bears its record's time: one that is older than the retention is gone at once. */
static void advise(struct judgement *judgement, const struct topic_facts *letters)
{
        char finding[FINDING_BYTES];
        if (letters->compacted || letters->retention_ms < 0 || !letters->ages_by_record)
                return;
        snprintf(finding, sizeof finding,
                 "%s deletes a letter %" PRId64 " ms after the time of its record, which may be "
                 "as soon as it is written",
                 letters->name, letters->retention_ms);
        judgement->told(judgement->context, false, finding,
                        "set retention.ms of the dead-letter topic to -1, or its "
                        "message.timestamp.type to LogAppendTime (letters then bear the time at "
                        "which they were written)");
}

bool letter_safety_judge(const struct topic_facts *letters, const struct topic_facts *sources,
                         size_t sources_count, letter_finding told, void *context)
{
        struct judgement judgement = { .told = told, .context = context, .safe = true };
        char finding[FINDING_BYTES];
        for (size_t i = 0; i < sources_count; i++)
                if (strcmp(sources[i].name, letters->name) == 0)
                        refuse(&judgement, "the dead-letter topic is subscribed to as a source",
                               "give dead_letter.topic a name of its own: letters would be read "
                               "as records");
        if (!letters->exists) {
                snprintf(finding, sizeof finding, "%s does not exist, or this login may not see it",
                         letters->name);
                refuse(&judgement, finding,
                       "create the topic, with the sources' retention.ms and max.message.bytes");
                return false;
        }
        if (!letters->configured) {
                snprintf(finding, sizeof finding, "%s: the brokers do not tell its configuration",
                         letters->name);
                told(context, false, finding,
                     "allow this login to describe the configuration of its topics, or look at "
                     "cleanup.policy, max.message.bytes and retention.ms yourself");
                return judgement.safe;
        }
        if (letters->compacted)
                refuse(&judgement, "the dead-letter topic is compacted",
                       "set its cleanup.policy to delete: of letters with the same key only the "
                       "last would stay, and one without a key is refused");
        for (size_t i = 0; i < sources_count; i++)
                compare(&judgement, letters, &sources[i]);
        advise(&judgement, letters);
        return judgement.safe;
}
