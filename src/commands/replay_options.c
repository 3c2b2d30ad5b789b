#include "commands/replay_options.h"

#include <string.h>

#include "base/text.h"
#include "channel/moment.h"
#include "commands/command.h"
#include "desk/letter_facts.h"

enum { REPLAYS_DEFAULT = 3, FAILURES_DEFAULT = 10, RATE_MOST = 100000 };

static struct replay_request given;

static const struct option_row rows[] = {
        OPTION_ROW_CONFIG(&given.config),
        OPTION_ROW_OUTPUT(&given.format),
        OPTION_ROW_FLAG("dry-run", "only show what would be sent, by reason and channel",
                        &given.dry_run),
        OPTION_ROW_TEXT("why", "TEXT", "the reason, kept in the audit; required unless --dry-run",
                        &given.why),
        OPTION_ROW_TEXTS(
                "reason", "WORD",
                "only letters with this reason (of other systems: the exception's class); may be "
                "repeated",
                &given.reasons),
        OPTION_ROW_TEXTS("channel", "LABEL", "only this channel; may be repeated", &given.channels),
        OPTION_ROW_TEXTS(
                "key", "PATTERN",
                "only records that hold a notification with a key like this: a pattern with * ? "
                "[], else what the key starts with; may be repeated",
                &given.keys),
        OPTION_ROW_TEXT("from-time", "TIME", "only records of this time or later (RFC 3339)",
                        &given.from_time),
        OPTION_ROW_TEXT("to-time", "TIME", "only records before this time (RFC 3339)",
                        &given.to_time),
        OPTION_ROW_INTEGER("partition", "N",
                           "only letters of this partition of the dead-letter topic",
                           &given.partition, 0, INT32_MAX),
        OPTION_ROW_INTEGER("from-offset", "N", "begin at this offset; with --partition",
                           &given.from_offset, 0, INT64_MAX),
        OPTION_ROW_INTEGER("to-offset", "N", "end with this offset; with --partition",
                           &given.to_offset, 0, INT64_MAX),
        OPTION_ROW_FLAG("from-beginning", "begin at the beginning, not where the group stands",
                        &given.from_beginning),
        OPTION_ROW_FLAG("again", "also letters that were sent back before", &given.again),
        OPTION_ROW_FLAG(
                "commit",
                "move the group's offsets although there is a filter: later runs do not see what "
                "it left out",
                &given.commit),
        OPTION_ROW_TEXT("to", "TOPIC",
                        "send all of them there (default: each to the topic it is from)",
                        &given.to),
        OPTION_ROW_TEXT("topic", "TOPIC", "read the letters there (default: dead_letter.topic)",
                        &given.topic),
        OPTION_ROW_TEXT(
                "group", "NAME",
                "the consumer group that remembers how far it is (default: GROUP.ID.replay)",
                &given.group),
        OPTION_ROW_INTEGER("limit", "N", "send so many at most (default: all)", &given.limit, 1,
                           INT64_MAX),
        OPTION_ROW_INTEGER("rate", "N",
                           "send so many a second at most (default: as fast as it goes)",
                           &given.rate, 1, RATE_MOST),
        OPTION_ROW_INTEGER(
                "max-replays", "N",
                "leave a letter that was sent back so often already; 0: no limit (default: 3)",
                &given.max_replays, 0, LETTER_REPLAYS_MOST),
        OPTION_ROW_INTEGER("stop-after", "N",
                           "end after so many letters that the broker refused (default: 10)",
                           &given.stop_after, 1, INT64_MAX),
        { .name = NULL },
};

static const struct options options = {
        .command = "postonce replay",
        .summary =
                "Sends dead letters back to the topics they came from, unchanged, once their cause "
                "is mended; what\nwas posted meanwhile is a duplicate there. Understands the "
                "letters of Spring Kafka and Kafka\nConnect as well. Only topics of `topics` are "
                "written to, unless --to names another one.\n\n"
                "A group of its own remembers how far it is: stopped anywhere, run it again. Its "
                "offset moves only\nafter the acknowledgement of what was sent. With a filter "
                "(--reason, --channel, --key, times,\noffsets, --partition) it does not move at "
                "all, so that what was left out is still there for the\nnext run; letters that "
                "were sent back are remembered in the database and not sent twice.\n\n"
                "Letters that are left (LOOP_LIMIT and others) are named on standard error; they "
                "stay in the topic,\nand --from-beginning or --from-offset finds them again. At a "
                "letter that the broker refuses the\ngroup's offset stays.\n\n"
                "Exit 0: done, or --limit reached. 1: letters were left or refused. 69: broker or "
                "database away:\nrun it again. 75: stopped by a signal.",
        .example = "postonce replay --dry-run\n"
                   "postonce replay --why 'rule for COUPON_USED added' --reason NO_EVENT_RULE\n"
                   "postonce replay --why 'ticket 4711' --partition 0 --from-offset 17 "
                   "--to-offset 17 --max-replays 0",
        .rows = rows,
};

static bool time_read(const char *option, const char *text, int64_t *ms_out, int *code_out)
{
        struct po_error error;
        int64_t us;
        if (text == NULL)
                return true;
        const struct moment_form form = { .format = MOMENT_RFC3339 };
        if (moment_parse(&form, text, strlen(text), &us, &error) != PO_OK) {
                *code_out = options_refuse(&options,
                                           "--%s: \"%s\" is no time like "
                                           "2026-01-14T12:41:07+08:00",
                                           option, text);
                return false;
        }
        *ms_out = us / 1000;
        return true;
}

static bool request_check(const struct replay_request *request, int *code_out)
{
        *code_out = EXIT_USAGE;
        if (!request->dry_run && (request->why == NULL || request->why[0] == '\0'))
                options_refuse(&options, "expected --why TEXT, or --dry-run");
        else if (request->partition < 0 && (request->from_offset >= 0 || request->to_offset >= 0))
                options_refuse(&options, "--from-offset and --to-offset go with --partition N");
        else if (request->from_beginning && request->from_offset >= 0)
                options_refuse(&options, "--from-beginning and --from-offset exclude each other");
        else
                return true;
        return false;
}

static struct letter_words words_of(const struct option_texts *texts)
{
        return (struct letter_words){ texts->items, texts->count };
}

bool replay_request_read(struct replay_request *request, int argc, char **argv, int *code_out)
{
        given = (struct replay_request){ .partition = -1,
                                         .from_offset = -1,
                                         .to_offset = -1,
                                         .max_replays = REPLAYS_DEFAULT,
                                         .stop_after = FAILURES_DEFAULT };
        if (!options_read(&options, argc, argv, NULL, code_out))
                return false;
        *request = given;
        request->filter = LETTER_FILTER_NONE;
        struct letter_filter *filter = &request->filter;
        filter->reasons = words_of(&request->reasons);
        filter->channels = words_of(&request->channels);
        filter->keys = words_of(&request->keys);
        filter->partition = (int32_t)request->partition;
        if (request->from_offset >= 0)
                filter->from_offset = request->from_offset;
        if (request->to_offset >= 0)
                filter->to_offset = request->to_offset;
        return time_read("from-time", request->from_time, &filter->from_ms, code_out) &&
               time_read("to-time", request->to_time, &filter->to_ms, code_out) &&
               request_check(request, code_out);
}

static void describe_words(struct text *text, const char *name, const struct option_texts *texts)
{
        for (size_t i = 0; i < texts->count; i++)
                text_format(text, " %s=%s", name, texts->items[i]);
}

static void describe_number(struct text *text, const char *name, int64_t number)
{
        if (number >= 0)
                text_format(text, " %s=%lld", name, (long long)number);
}

static void describe_text(struct text *text, const char *name, const char *value)
{
        if (value != NULL)
                text_format(text, " %s=%s", name, value);
}

void replay_request_describe(const struct replay_request *request, char *buffer, size_t capacity)
{
        struct text text;
        text_init(&text, buffer, capacity);
        describe_words(&text, "reason", &request->reasons);
        describe_words(&text, "channel", &request->channels);
        describe_words(&text, "key", &request->keys);
        describe_text(&text, "from-time", request->from_time);
        describe_text(&text, "to-time", request->to_time);
        describe_number(&text, "partition", request->partition);
        describe_number(&text, "from-offset", request->from_offset);
        describe_number(&text, "to-offset", request->to_offset);
        describe_text(&text, "to", request->to);
        describe_number(&text, "limit", request->limit > 0 ? request->limit : -1);
        if (request->max_replays != REPLAYS_DEFAULT)
                describe_number(&text, "max-replays", request->max_replays);
        if (request->from_beginning)
                text_put(&text, " from-beginning");
        if (request->again)
                text_put(&text, " again");
        if (request->commit)
                text_put(&text, " commit");
}
