#include "channel/decode.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "channel/envelope.h"
#include "channel/json_body.h"
#include "channel/profile.h"
#include "postonce/key.h"

struct decoder {
        struct json_body *json;
        size_t profiles_count;
        struct profile *profiles[];
};

/* The profile of a label that need not end in NUL. */
static const struct profile *profile_find(const struct decoder *decoder, const char *label,
                                          size_t length)
{
        for (size_t i = 0; i < decoder->profiles_count; i++) {
                const struct profile *profile = decoder->profiles[i];
                if (strlen(profile->channel) == length &&
                    memcmp(profile->channel, label, length) == 0)
                        return profile;
        }
        return NULL;
}

static enum po_class profile_add(struct decoder *decoder, const char *base_directory,
                                 const char *path, struct po_error *error)
{
        char joined[PATH_MAX];
        int length = path[0] == '/'
                             ? snprintf(joined, sizeof joined, "%s", path)
                             : snprintf(joined, sizeof joined, "%s/%s", base_directory, path);
        if (length < 0 || (size_t)length >= sizeof joined)
                return po_fail(error, PO_SYSTEMIC, 0, "the path of profile %.64s… is too long",
                               path);

        struct profile *profile;
        enum po_class kind = profile_load(&profile, joined, error);
        if (kind != PO_OK)
                return kind;
        bool known = profile_find(decoder, profile->channel, strlen(profile->channel)) != NULL;
        decoder->profiles[decoder->profiles_count++] = profile;
        if (known)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "%s: another profile is already that of channel %s", joined,
                               profile->channel);
        return PO_OK;
}

static void decoder_slot_close(struct decoder **slot)
{
        decoder_close(*slot);
}

enum po_class decoder_open(struct decoder **decoder_out, const char *base_directory,
                           const char *const *profile_paths, size_t profile_count,
                           struct po_error *error)
{
        *decoder_out = NULL;
        CLEANUP(decoder_slot_close)
        struct decoder *decoder =
                calloc(1, sizeof *decoder + profile_count * sizeof decoder->profiles[0]);
        if (decoder == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a decoder");
        if (json_body_open(&decoder->json, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < profile_count; i++) {
                enum po_class kind = profile_add(decoder, base_directory, profile_paths[i], error);
                if (kind != PO_OK)
                        return kind;
        }
        *decoder_out = MOVE(decoder);
        return PO_OK;
}

void decoder_close(struct decoder *decoder)
{
        if (decoder == NULL)
                return;
        for (size_t i = 0; i < decoder->profiles_count; i++)
                profile_close(decoder->profiles[i]);
        json_body_close(decoder->json);
        free(decoder);
}

/* Whether there are bytes to look at. */
static enum po_class value_check(const struct record *record, struct po_error *error)
{
        if (record->value == NULL)
                return po_refuse(error, "NULL_VALUE", "the record has no value (a tombstone)");
        if (record->value_bytes == 0)
                return po_refuse(error, "EMPTY_VALUE", "the record's value is empty");
        if (record->value_bytes > VALUE_BYTES_MAX)
                return po_refuse(error, "VALUE_TOO_LARGE",
                                 "the record's value has %zu bytes, %d are the most",
                                 record->value_bytes, VALUE_BYTES_MAX);
        return PO_OK;
}

/* The profile that topic or header name; *profile_out is NULL when neither names one. */
static enum po_class profile_outside(const struct decoder *decoder, const struct record *record,
                                     const char *topic_channel, const struct profile **profile_out,
                                     struct po_error *error)
{
        *profile_out = NULL;
        if (topic_channel != NULL) {
                *profile_out = profile_find(decoder, topic_channel, strlen(topic_channel));
                if (*profile_out == NULL)
                        return po_refuse(error, "UNKNOWN_CHANNEL",
                                         "no profile for channel %s, which the topic fixes",
                                         topic_channel);
                return PO_OK;
        }
        const struct record_header *header = record_header(record, "channel");
        if (header == NULL)
                return PO_OK;
        if (header->value != NULL)
                *profile_out = profile_find(decoder, header->value, header->value_bytes);
        if (*profile_out == NULL)
                return po_refuse(error, "UNKNOWN_CHANNEL",
                                 "no profile for the channel that header \"channel\" names");
        return PO_OK;
}

/* The profile that the envelope itself names. */
static enum po_class profile_inside(const struct decoder *decoder, struct json_object *root,
                                    const struct profile **profile_out, struct po_error *error)
{
        const char *label = envelope_channel(root);
        if (label == NULL)
                return po_refuse(error, "UNKNOWN_CHANNEL",
                                 "neither topic nor header nor envelope name a channel");
        *profile_out = profile_find(decoder, label, strlen(label));
        if (*profile_out == NULL)
                return po_refuse(error, "UNKNOWN_CHANNEL",
                                 "no profile for the channel that the envelope names");
        return PO_OK;
}

/* One notification, or none when the rule says so. */
static enum po_class root_decode(const struct profile *profile, bool enveloped,
                                 struct json_object *root, struct po_notification *notification,
                                 size_t *count_out, struct po_error *error)
{
        const struct rule *rule = NULL;
        if (!enveloped) {
                rule = profile_match(profile, root);
                if (rule == NULL)
                        return po_refuse(error, "NO_RULE", "no rule of channel %s matches",
                                         profile->channel);
                if (rule->ignore)
                        return PO_OK;
        }
        memset(notification, 0, sizeof *notification);
        memcpy(notification->channel, profile->channel, sizeof notification->channel);
        notification->tenant_id = profile->tenant_id;
        enum po_class kind = enveloped ? envelope_decode(root, notification, error)
                                       : rule_apply(rule, root, notification, error);
        if (kind == PO_OK)
                kind = po_key_seal(notification, error);
        *count_out = kind == PO_OK;
        return kind;
}

enum po_class decode_record(struct decoder *decoder, const struct record *record,
                            const char *topic_channel, struct po_notification *notifications,
                            size_t capacity, size_t *count_out, struct po_error *error)
{
        assert(capacity >= NOTIFICATIONS_PER_RECORD_MAX);
        *count_out = 0;
        const struct profile *profile;
        if (value_check(record, error) != PO_OK ||
            profile_outside(decoder, record, topic_channel, &profile, error) != PO_OK)
                return error->kind;

        CLEANUP(json_root_put) struct json_object *root = NULL;
        if (json_body_parse(decoder->json, record->value, record->value_bytes, &root, error) !=
            PO_OK)
                return error->kind;
        bool enveloped = profile == NULL || profile->body == PROFILE_ENVELOPE;
        if (profile == NULL && profile_inside(decoder, root, &profile, error) != PO_OK)
                return error->kind;
        return root_decode(profile, enveloped, root, &notifications[0], count_out, error);
}

void decoder_events(const struct decoder *decoder,
                    void (*each)(void *context, const char *channel, const char *event),
                    void *context)
{
        for (size_t i = 0; i < decoder->profiles_count; i++) {
                const struct profile *profile = decoder->profiles[i];
                const struct rule *rules = profile->rules.items;
                for (size_t rule = 0; rule < profile->rules.count; rule++) {
                        bool told = rules[rule].ignore;
                        for (size_t before = 0; before < rule && !told; before++)
                                told = strcmp(rules[before].event, rules[rule].event) == 0;
                        if (!told)
                                each(context, profile->channel, rules[rule].event);
                }
        }
}
