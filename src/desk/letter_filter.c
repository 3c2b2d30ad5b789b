#include "desk/letter_filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

bool letter_filter_is_set(const struct letter_filter *filter)
{
        return filter->reasons.count > 0 || filter->channels.count > 0 || filter->keys.count > 0 ||
               filter->from_ms != INT64_MIN || filter->to_ms != INT64_MAX ||
               filter->from_offset != 0 || filter->to_offset != INT64_MAX || filter->partition >= 0;
}

static bool is_label(const char *text)
{
        static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
        return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

void letter_subject_read(struct decoder *decoder, const struct record *record,
                         const char *topic_channel, struct letter_subject *subject_out)
{
        struct po_error ignored; /* a dead letter need not be readable */
        subject_out->channel[0] = '\0';
        if (decode_record(decoder, record, topic_channel, subject_out->notifications,
                          NOTIFICATIONS_PER_RECORD_MAX, &subject_out->count, &ignored) != PO_OK)
                subject_out->count = 0;
        if (subject_out->count > 0)
                memcpy(subject_out->channel, subject_out->notifications[0].channel,
                       sizeof subject_out->channel);
        else if (topic_channel != NULL)
                snprintf(subject_out->channel, sizeof subject_out->channel, "%s", topic_channel);
        else if (!letter_text(record_header(record, "channel"), subject_out->channel,
                              sizeof subject_out->channel) ||
                 !is_label(subject_out->channel))
                subject_out->channel[0] = '\0';
}

static bool reason_fits(const struct letter_words *words, const char *reason)
{
        const char *dot = strrchr(reason, '.');
        for (size_t i = 0; i < words->count; i++)
                if (strcmp(words->items[i], reason) == 0 ||
                    (dot != NULL && strcmp(words->items[i], dot + 1) == 0))
                        return true;
        return words->count == 0;
}

bool letter_filter_fits(const struct letter_filter *filter, const struct record *letter,
                        const struct letter_facts *facts)
{
        bool timed = filter->from_ms != INT64_MIN || filter->to_ms != INT64_MAX;
        if (timed && (letter->timestamp_ms < 0 || letter->timestamp_ms < filter->from_ms ||
                      letter->timestamp_ms >= filter->to_ms))
                return false;
        if (filter->partition >= 0 && letter->partition != filter->partition)
                return false;
        return letter->offset >= filter->from_offset && letter->offset <= filter->to_offset &&
               reason_fits(&filter->reasons, facts->reason);
}

static bool key_fits(const char *wanted, const char *key)
{
        if (strpbrk(wanted, "*?[") != NULL)
                return fnmatch(wanted, key, 0) == 0;
        return strncmp(wanted, key, strlen(wanted)) == 0;
}

static bool any_key_fits(const struct letter_words *words, const struct letter_subject *subject)
{
        for (size_t i = 0; i < words->count; i++)
                for (size_t k = 0; k < subject->count; k++)
                        if (key_fits(words->items[i], subject->notifications[k].key))
                                return true;
        return words->count == 0;
}

static bool channel_fits(const struct letter_words *words, const struct letter_subject *subject)
{
        for (size_t i = 0; i < words->count; i++)
                if (strcmp(words->items[i], subject->channel) == 0)
                        return true;
        return words->count == 0;
}

bool letter_filter_fits_subject(const struct letter_filter *filter,
                                const struct letter_subject *subject)
{
        return channel_fits(&filter->channels, subject) && any_key_fits(&filter->keys, subject);
}
