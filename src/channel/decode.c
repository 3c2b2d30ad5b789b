#include "channel/decode.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "channel/body.h"
#include "channel/cloudevent.h"
#include "channel/envelope.h"
#include "channel/fingerprint.h"
#include "channel/header_tree.h"
#include "channel/json_body.h"
#include "channel/profile.h"
#include "channel/tenant.h"
#include "channel/verify_items.h"
#include "channel/verify_members.h"
#include "postonce/key.h"

struct decoder {
        struct body_parser *parser;
        const struct tenants *tenants; /* NULL: payload and profile alone say whose it is */
        const struct trace *trace;     /* NULL: nobody listens */
        size_t profiles_count;
        struct profile **by_label;  /* sorted, to be searched; the second half of profiles */
        struct profile *profiles[]; /* as they were named */
};

/* How the label, which need not end in NUL, stands to that of the profile. */
static int label_compare(const char *label, size_t length, const struct profile *profile)
{
        size_t own_length = strlen(profile->channel);
        int order = memcmp(label, profile->channel, length < own_length ? length : own_length);
        return order != 0 ? order : (length > own_length) - (length < own_length);
}

/* Where the label stands in by_label, or would have to. */
static size_t label_place(const struct decoder *decoder, const char *label, size_t length,
                          bool *found_out)
{
        size_t low = 0, high = decoder->profiles_count;
        *found_out = false;
        while (low < high && !*found_out) {
                size_t middle = low + (high - low) / 2;
                int order = label_compare(label, length, decoder->by_label[middle]);
                *found_out = order == 0;
                if (order > 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return high;
}

static const struct profile *profile_find(const struct decoder *decoder, const char *label,
                                          size_t length)
{
        bool found;
        size_t place = label_place(decoder, label, length, &found);
        return found ? decoder->by_label[place] : NULL;
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
        bool known;
        size_t place = label_place(decoder, profile->channel, strlen(profile->channel), &known);
        memmove(&decoder->by_label[place + 1], &decoder->by_label[place],
                (decoder->profiles_count - place) * sizeof decoder->by_label[0]);
        decoder->by_label[place] = profile;
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
                calloc(1, sizeof *decoder + 2 * profile_count * sizeof decoder->profiles[0]);
        if (decoder == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a decoder");
        decoder->by_label = decoder->profiles + profile_count;
        for (size_t i = 0; i < profile_count; i++) {
                enum po_class kind = profile_add(decoder, base_directory, profile_paths[i], error);
                if (kind != PO_OK)
                        return kind;
        }
        bool converter = false;
        for (size_t i = 0; i < profile_count; i++)
                converter = converter || decoder->profiles[i]->needs_converter;
        if (body_open(&decoder->parser, converter, error) != PO_OK)
                return error->kind;
        *decoder_out = MOVE(decoder);
        return PO_OK;
}

void decoder_close(struct decoder *decoder)
{
        if (decoder == NULL)
                return;
        for (size_t i = 0; i < decoder->profiles_count; i++)
                profile_close(decoder->profiles[i]);
        body_close(decoder->parser);
        free(decoder);
}

void decoder_use_tenants(struct decoder *decoder, const struct tenants *tenants)
{
        decoder->tenants = tenants;
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

/*
 * An envelope is proven as its profile says. In the name of a channel whose own bodies must be
 * signed there is none that could be, else it would be the way around their signatures.
 */
static enum po_class envelope_verify(const struct profile *profile, const struct record *record,
                                     struct po_error *error)
{
        if (profile_is_envelope(profile))
                return verify_record(&profile->only.verify, record, error);
        if (profile_is_verified(profile))
                return po_refuse(error, "SIGNATURE_INVALID",
                                 "bodies of channel %s must be signed, and an envelope is not",
                                 profile->channel);
        return PO_OK;
}

/* For a profile that says so, the body's digest takes the place of what a notification says. */
static enum po_class raw_seal(const struct profile *profile, const struct record *record,
                              struct po_notification *notifications, size_t count,
                              struct po_error *error)
{
        if (!profile->raw_fingerprint || count == 0)
                return PO_OK;
        return fingerprint_seal_raw(notifications, count, record->value, record->value_bytes,
                                    error);
}

/* A record that is, or by naming its channel itself claims to be, postonce's own form. */
static enum po_class enveloped_decode(struct decoder *decoder, const struct record *record,
                                      const struct profile *profile,
                                      struct po_notification *notification, size_t *count_out,
                                      struct po_error *error)
{
        static const struct charset_map utf8 = { .fallback = CHARSET_UTF8 };
        CLEANUP(json_root_put) struct json_object *root = NULL;
        if (profile != NULL && envelope_verify(profile, record, error) != PO_OK)
                return error->kind;
        bool named = profile != NULL;
        if (body_parse(decoder->parser, BODY_ENVELOPE, &utf8, record->value, record->value_bytes,
                       &root, error) != PO_OK)
                return error->kind;
        if (!named && (profile_inside(decoder, root, &profile, error) != PO_OK ||
                       envelope_verify(profile, record, error) != PO_OK))
                return error->kind;
        enum po_class kind = profile_blank(profile, &(struct scope){ 0 }, notification, error);
        if (kind == PO_OK)
                kind = envelope_decode(root, notification, error);
        if (kind == PO_OK)
                kind = po_key_seal(notification, error);
        if (kind == PO_OK)
                kind = raw_seal(profile, record, notification, 1, error);
        *count_out = kind == PO_OK;
        return kind;
}

/* The tree that rules see. */
static enum po_class root_read(struct body_parser *parser, const struct shape *shape,
                               const struct record *record, struct json_object **root_out,
                               struct po_error *error)
{
        CLEANUP(json_root_put) struct json_object *root = NULL;
        if (verify_record(&shape->verify, record, error) != PO_OK)
                return error->kind;
        enum po_class kind =
                shape->body == BODY_CLOUDEVENTS
                        ? cloudevent_read(parser, &shape->charset, record, &root, error)
                        : body_parse(parser, shape->body, &shape->charset, record->value,
                                     record->value_bytes, &root, error);
        if (kind == PO_OK)
                kind = verify_members(&shape->verify, root, error);
        if (kind == PO_OK)
                kind = verify_items(&shape->verify, &shape->each, &shape->item, root, error);
        if (kind == PO_OK)
                kind = unwrap_apply(&shape->unwrap, parser, root, error);
        if (kind == PO_OK)
                *root_out = MOVE(root);
        return kind;
}

static enum po_class shaped_decode(struct decoder *decoder, const struct record *record,
                                   const struct profile *profile,
                                   struct po_notification *notifications, size_t *count_out,
                                   struct po_error *error)
{
        CLEANUP(json_root_put) struct json_object *headers = NULL;
        CLEANUP(json_root_put) struct json_object *root = NULL;
        if (profile->uses_headers && header_tree(record, &headers, error) != PO_OK)
                return error->kind;
        struct scope scope = { .headers = headers, .trace = decoder->trace };
        const struct shape *shape =
                profile_shape(profile, &scope, record->value, record->value_bytes);
        if (shape == NULL)
                return po_refuse(error, "NO_SHAPE", "no shape of channel %s fits",
                                 profile->channel);
        struct po_notification blank;
        if (root_read(decoder->parser, shape, record, &root, error) != PO_OK)
                return error->kind;
        scope.root = root;
        if (profile_blank(profile, &scope, &blank, error) != PO_OK)
                return error->kind;
        if (shape_apply(shape, &scope, &blank, notifications, count_out, error) != PO_OK)
                return error->kind;
        return raw_seal(profile, record, notifications, *count_out, error);
}

static enum po_class any_decode(struct decoder *decoder, const struct record *record,
                                const char *topic_channel, struct po_notification *notifications,
                                size_t *count_out, struct po_error *error)
{
        const struct profile *profile;
        if (value_check(record, error) != PO_OK ||
            profile_outside(decoder, record, topic_channel, &profile, error) != PO_OK)
                return error->kind;
        if (profile == NULL || profile_is_envelope(profile))
                return enveloped_decode(decoder, record, profile, notifications, count_out, error);
        return shaped_decode(decoder, record, profile, notifications, count_out, error);
}

enum po_class decode_record(struct decoder *decoder, const struct record *record,
                            const char *topic_channel, struct po_notification *notifications,
                            size_t capacity, size_t *count_out, struct po_error *error)
{
        assert(capacity >= NOTIFICATIONS_PER_RECORD_MAX);
        *count_out = 0;
        enum po_class kind =
                any_decode(decoder, record, topic_channel, notifications, count_out, error);
        if (kind == PO_OK && decoder->tenants != NULL)
                kind = tenants_settle(decoder->tenants, record, notifications, *count_out, error);
        if (kind != PO_OK)
                *count_out = 0;
        return kind;
}

void decoder_trace(struct decoder *decoder, const struct trace *trace)
{
        decoder->trace = trace;
}

/* An event word of a profile, told unless it was told before. */
struct telling {
        void (*each)(void *context, const char *channel, const char *event);
        void *context;
        const struct profile *profile;
};

/* Calls visit for every event word of the profile in order, until it returns false. */
static void events_visit(const struct profile *profile,
                         bool (*visit)(void *context, const char *event), void *context)
{
        for (size_t i = 0; i < profile->shapes.count; i++) {
                const struct rule_list *rules = &profile->shapes.items[i].rules;
                for (size_t r = 0; r < rules->count; r++) {
                        const struct rule *rule = &rules->items[r];
                        if (rule->event[0] != '\0' && !visit(context, rule->event))
                                return;
                        for (size_t n = 0; n < rule->event_map.names_count; n++)
                                if (!visit(context, rule->event_map.names[n].word))
                                        return;
                }
        }
}

/* Stops at the first word that equals the one looked for; found is where that one itself stands. */
static bool event_differs(void *context, const char *event)
{
        const char **first = context;
        if (strcmp(*first, event) != 0)
                return true;
        *first = event;
        return false;
}

static bool event_tell(void *context, const char *event)
{
        const struct telling *telling = context;
        const char *first = event;
        events_visit(telling->profile, event_differs, &first);
        if (first == event)
                telling->each(telling->context, telling->profile->channel, event);
        return true;
}

void decoder_events(const struct decoder *decoder,
                    void (*each)(void *context, const char *channel, const char *event),
                    void *context)
{
        for (size_t i = 0; i < decoder->profiles_count; i++) {
                struct telling telling = { each, context, decoder->profiles[i] };
                events_visit(decoder->profiles[i], event_tell, &telling);
        }
}

static bool profile_has_label(const struct profile *profile, const char *label)
{
        if (strcmp(profile->channel, label) == 0)
                return true;
        for (size_t i = 0; i < profile->label.names_count; i++)
                if (strcmp(profile->label.names[i].word, label) == 0)
                        return true;
        return false;
}

bool decoder_has_label(const struct decoder *decoder, const char *label)
{
        for (size_t i = 0; i < decoder->profiles_count; i++)
                if (profile_has_label(decoder->profiles[i], label))
                        return true;
        return false;
}

void decoder_unverified(const struct decoder *decoder,
                        void (*each)(void *context, const char *channel, const char *missing),
                        void *context)
{
        for (size_t i = 0; i < decoder->profiles_count; i++) {
                const struct profile *profile = decoder->profiles[i];
                for (size_t s = 0; s < profile->shapes.count; s++) {
                        const struct verify *verify = &profile->shapes.items[s].verify;
                        if (verify->is_open)
                                each(context, profile->channel, verify->missing);
                }
        }
}
