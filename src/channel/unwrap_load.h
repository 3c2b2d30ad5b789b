/*
 * Unwrap steps from YAML:
 *
 *   unwrap:
 *     - op: aes-256-gcm            # aes-256-ecb-md5key, base64, url-decode, parse
 *       at: /resource
 *       to: /plain                 # a member of the body that it does not have itself
 *       then: json                 # or xml, form, text
 *       key_file: keys/apiv3       # or a list, newest first, while a key is changed
 *       optional: true             # where only some bodies have it
 *
 *     - op: pick                   # a text out of a list
 *       at: /resource/links
 *       where: [["@/rel", eq, up]] # of its first element for which these hold ...
 *       take: "@/href"             # ... this text ...
 *       after: "/"                 # ... behind the last of these
 *       to: /capture
 *
 * key_file is relative to the profile's folder. One line break at its end does not count.
 */
#ifndef CHANNEL_UNWRAP_LOAD_H
#define CHANNEL_UNWRAP_LOAD_H

#include "channel/unwrap.h"
#include "config/schema.h"

/* target: struct unwrap_list, zeroed. SYSTEMIC: what is wrong, with file:line:column. */
PO_MUST_USE enum po_class read_unwrap(const struct node *node, const struct field *field,
                                      void *target, struct po_error *error);

/* Overwrites the keys. */
void unwrap_reset(struct unwrap_list *list);

#endif
