/*
 * From a record's raw bytes to notifications. Pure: no I/O, no clock.
 *
 * Which profile decodes a record: the topic's configured channel, else the header "channel", else
 * the envelope's member "channel"; none of them, or a label no profile has: UNKNOWN_CHANNEL.
 *
 * A record that names its channel itself is read as an envelope, whatever that channel's own body
 * is: whoever may write to a topic without a fixed channel may speak for every channel, but for
 * those whose own bodies must be signed.
 */
#ifndef CHANNEL_DECODE_H
#define CHANNEL_DECODE_H

#include "base/record.h"
#include "postonce/error.h"
#include "postonce/notification.h"

struct decoder;
struct tenants;
struct trace;

/*
 * Opens a decoder over profile files (YAML, see channel/profile.h); paths are read relative to
 * base_directory unless absolute. SYSTEMIC: a profile that cannot be read or is wrong, with
 * file:line:column, or two profiles of one channel.
 */
PO_MUST_USE enum po_class decoder_open(struct decoder **decoder_out, const char *base_directory,
                                       const char *const *profile_paths, size_t profile_count,
                                       struct po_error *error);
void decoder_close(struct decoder *decoder); /* takes NULL */
/* From now on notifications are theirs as tenants says (channel/tenant.h); it must outlive the
 * decoder. Without it: as payload and profile say, whoever that is. */
void decoder_use_tenants(struct decoder *decoder, const struct tenants *tenants);

/*
 * Decodes one record into at most capacity notifications, each with key and fingerprint.
 * topic_channel: the channel that configuration fixes for the record's topic, or NULL.
 * OK with *count_out == 0: the profile says there is nothing to do (a rule with "ignore").
 * RECORD with a stable reason and, where there is one, the place in the bytes; never the payload.
 * BUG: json-c or OpenSSL failed where it cannot (no memory).
 * capacity must be at least NOTIFICATIONS_PER_RECORD_MAX.
 */
PO_MUST_USE enum po_class decode_record(struct decoder *decoder, const struct record *record,
                                        const char *topic_channel,
                                        struct po_notification *notifications, size_t capacity,
                                        size_t *count_out, struct po_error *error);

/* Who is told what is tried from now on, see trace.h; NULL: nobody. Borrowed. */
void decoder_trace(struct decoder *decoder, const struct trace *trace);

/* Every event word that a profile's rules can produce, for `check`; callback once a word. */
void decoder_events(const struct decoder *decoder,
                    void (*each)(void *context, const char *channel, const char *event),
                    void *context);

/* Whether keys can carry this label: a profile's channel, or a word of its map of labels. */
bool decoder_has_label(const struct decoder *decoder, const char *label);

/*
 * Every shape of a profile whose bodies are believed without a signature, for `check` and `run`;
 * missing: the key that is not configured ("${env:NAME}"), or NULL where the profile has no verify.
 * Not those with op: none: there somebody said that it is done elsewhere.
 */
void decoder_unverified(const struct decoder *decoder,
                        void (*each)(void *context, const char *channel, const char *missing),
                        void *context);

#endif
