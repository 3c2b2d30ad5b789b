/*
 * A channel profile: how a channel's bodies become notifications. Data, not code.
 *
 *   channel: SQB          # label, [A-Z0-9_]{1,32}: in keys, apart from who parses it
 *   tenant: 1             # whose notifications these are
 *   body: json            # or envelope: postonce's own form (envelope.h), which needs no rules
 *   rules:                # in order, the first that matches wins; see rule_load.h
 *     - …
 *
 * A body that no rule matches is refused, never ignored in silence.
 */
#ifndef CHANNEL_PROFILE_H
#define CHANNEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/rule.h"
#include "postonce/error.h"
#include "postonce/notification.h"

enum { PROFILE_RULES_MAX = 64 };

enum profile_body {
        PROFILE_JSON,
        PROFILE_ENVELOPE,
};

struct document;

struct rule_list {
        size_t count;
        struct rule *items;
};

/* Read only to everyone but profile.c. */
struct profile {
        struct document *document; /* owns the texts */
        char channel[PO_CHANNEL_BYTES];
        int64_t tenant_id;
        enum profile_body body;
        struct rule_list rules;
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

/* The first rule that matches, or NULL. */
const struct rule *profile_match(const struct profile *profile, struct json_object *root);

#endif
