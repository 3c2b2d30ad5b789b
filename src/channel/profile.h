/*
 * A channel profile: how a channel's bodies become notifications. Data, not code.
 *
 *   channel: SQB          # label, [A-Z0-9_]{1,32}: in keys, apart from who parses it
 *   tenant: 1             # whose notifications these are; or, where the body says whose:
 *                         # tenant: { at: /mchid, map: { 1900000109: 1, 1900000210: 2 } }
 *   body: json            # these and more: shape_load.h
 *   rules:                # in order, the first that matches wins; see rule_load.h
 *     - …
 *
 * Where a channel writes the same payments in several ways:
 *
 *   channel: WECHAT
 *   shapes:               # in order, the first that fits is the one
 *     - first: "{"
 *       rules: …
 *     - first: "<"
 *       body: xml
 *       rules: …
 *
 * Where one profile reads what comes from several channels, whose labels the keys must carry:
 *
 *   label: { at: /source, map: { /relay/wechat: WECHAT, /relay/alipay: ALIPAY } }
 *
 * Where equal bytes, and nothing else, are the same statement (never with body: cloudevents, nor
 * where a header decides more than key and tenant: a digest of the value does not see it):
 *
 *   fingerprint: raw        # else normalised
 *
 * A body that no shape fits or no rule matches is refused, never ignored in silence.
 */
#ifndef CHANNEL_PROFILE_H
#define CHANNEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/shape.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum { PROFILE_SHAPES_MAX = 8 };

struct document;

struct shape_list {
        size_t count;
        struct shape *items;
};

/* Read only to everyone but profile.c. */
struct profile {
        struct document *document; /* owns the texts */
        char channel[PO_CHANNEL_BYTES];
        struct word_map label;      /* not given: keys carry channel */
        int64_t tenant_id;          /* unless tenant_map is given */
        struct word_map tenant_map; /* our words are tenants' numbers */
        bool raw_fingerprint;       /* version 2 in place of 1, see fingerprint.h */
        struct shape only;          /* what the profile's own map says */
        struct shape_list shapes;   /* at least one: "only" when there is no list */
        bool uses_headers;          /* "#/…" stands somewhere in it */
        bool needs_converter;       /* of character sets */
};

/*
 * Reads one profile. SYSTEMIC: not there, not YAML, or wrong, with file:line:column; that includes
 * a rule behind one that always matches, and the label POSTONCE, under which postonce forms keys of
 * its own.
 */
PO_MUST_USE enum po_class profile_load(struct profile **profile_out, const char *path,
                                       struct po_error *error);
/* The same from memory; name stands in complaints for the file. */
PO_MUST_USE enum po_class profile_parse(struct profile **profile_out, const char *name,
                                        const char *text, size_t text_bytes,
                                        struct po_error *error);
void profile_close(struct profile *profile); /* takes NULL */

/*
 * Everything of a notification that the profile says before any rule: channel and tenant, the rest
 * zeroed. RECORD: LABEL_UNKNOWN and TENANT_UNKNOWN, a word that the map of labels or tenants
 * lacks.
 */
PO_MUST_USE enum po_class profile_blank(const struct profile *profile, const struct scope *scope,
                                        struct po_notification *blank_out, struct po_error *error);

/* Whether its records are postonce's own envelopes. */
bool profile_is_envelope(const struct profile *profile);

/* Whether bodies of one of its shapes must be signed. */
bool profile_is_verified(const struct profile *profile);

/* The first shape that fits, or NULL. scope: the record's headers. */
const struct shape *profile_shape(const struct profile *profile, const struct scope *scope,
                                  const char *bytes, size_t length);

#endif
