#include "desk/replay_report.h"

#include <stdio.h>
#include <string.h>

static const struct {
        const char *word;
        bool left;
        const char *meaning;
} fates[] = {
        [REPLAY_SENT] = { "SENT", false, "sent back and acknowledged" },
        [REPLAY_COPY] = { "COPY", false, "the same letter stood there twice" },
        [REPLAY_BEFORE] = { "BEFORE", false, "was sent back before; --again sends it once more" },
        [REPLAY_LOOP_LIMIT] = { "LOOP_LIMIT", true,
                                "was sent back as often as --max-replays allows" },
        [REPLAY_NO_ORIGIN] = { "NO_ORIGIN", true,
                               "does not say where it is from; --to TOPIC says where it goes" },
        [REPLAY_NOT_OUR_TOPIC] = { "NOT_OUR_TOPIC", true,
                                   "is from a topic that is not in `topics`; --to TOPIC says where "
                                   "it goes" },
        [REPLAY_NO_TOPIC] = { "NO_TOPIC", true,
                              "is from a topic that does not exist; --to TOPIC says where "
                              "it goes" },
        [REPLAY_BODY_GONE] = { "BODY_GONE", true, "its record is not in dead_letter.body" },
        [REPLAY_FAILED] = { "FAILED", true, "the broker refused it" },
};
_Static_assert(sizeof fates / sizeof fates[0] == REPLAY_FATES, "each fate has its words");

const char *replay_fate_word(enum replay_fate fate)
{
        return fates[fate].word;
}

const char *replay_fate_meaning(enum replay_fate fate)
{
        return fates[fate].meaning;
}

bool replay_fate_is_left(enum replay_fate fate)
{
        return fates[fate].left;
}

static struct replay_row *row_find(struct replay_report *report, const char *reason,
                                   const char *channel)
{
        for (size_t i = 0; i < report->rows_count; i++)
                if (strcmp(report->rows[i].reason, reason) == 0 &&
                    strcmp(report->rows[i].channel, channel) == 0)
                        return &report->rows[i];
        struct replay_row *row = &report->rows[report->rows_count];
        if (report->rows_count == REPLAY_ROWS_MAX) {
                reason = "(other)";
                channel = "";
        }
        if (report->rows_count > REPLAY_ROWS_MAX)
                return &report->rows[REPLAY_ROWS_MAX];
        report->rows_count++;
        snprintf(row->reason, sizeof row->reason, "%s", reason);
        snprintf(row->channel, sizeof row->channel, "%s", channel);
        return row;
}

void replay_report_add(struct replay_report *report, const char *reason, const char *channel,
                       enum replay_fate fate)
{
        row_find(report, reason, channel)->counts[fate]++;
        report->totals[fate]++;
}

static int64_t left(const int64_t counts[static REPLAY_FATES])
{
        int64_t sum = 0;
        for (int fate = 0; fate < REPLAY_FATES; fate++)
                if (replay_fate_is_left((enum replay_fate)fate))
                        sum += counts[fate];
        return sum;
}

int64_t replay_report_left(const struct replay_report *report)
{
        return left(report->totals);
}

int64_t replay_row_left(const struct replay_row *row)
{
        return left(row->counts);
}
