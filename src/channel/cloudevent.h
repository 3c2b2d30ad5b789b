/*
 * CloudEvents 1.0 by the Kafka protocol binding, in both modes, as one tree: the attributes are its
 * members, the event's data is its member "data", a tree as well. A rule that reads /type, /source
 * and /data/amount works for either mode.
 *
 *   structured   header content-type begins application/cloudevents; the value is JSON with "data"
 *                or "data_base64"
 *   binary       headers ce_specversion, ce_type, …; the value is the data, content-type its type
 *
 * Data is JSON unless its type says form or XML. There is no batch mode on Kafka.
 */
#ifndef CHANNEL_CLOUDEVENT_H
#define CHANNEL_CLOUDEVENT_H

#include "base/record.h"
#include "channel/body.h"
#include "postonce/error.h"

/*
 * The tree is the caller's, to be put with json_object_put(). charset: of data that is a form or
 * XML. RECORD: NOT_A_CLOUDEVENT (neither mode), CLOUDEVENT_MALFORMED (an attribute that must be
 * there is not, data twice, no base64), CONTENT_TYPE_UNKNOWN, and what body_parse() refuses.
 * BUG: no memory.
 */
PO_MUST_USE enum po_class cloudevent_read(struct body_parser *parser,
                                          const struct charset_map *charset,
                                          const struct record *record,
                                          struct json_object **root_out, struct po_error *error);

#endif
