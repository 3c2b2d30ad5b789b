/*
 * Decoding: what a channel sent, as raw bytes, becomes notifications, by the same channel profiles
 * as the workers'. Pure: no database, no broker, no clock, nothing written anywhere.
 *
 * A decoder is used by one thread at a time; several decoders by as many threads.
 */
#ifndef POSTONCE_DECODE_H
#define POSTONCE_DECODE_H

#include <stddef.h>

#include "postonce/error.h"
#include "postonce/notification.h"
#include "postonce/record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PO_NOTIFICATIONS_MAX = 64 }; /* of one record */

struct po_decoder;

/*
 * Opens a decoder over profile files (YAML; docs/channels.md is their manual); relative paths are
 * read from base_directory. The strings need not outlive the call. The caller closes it.
 * SYSTEMIC, and *decoder_out is NULL: no memory, a profile that cannot be read or is wrong (with
 * file:line:column), or two profiles of one channel.
 */
PO_MUST_USE enum po_class po_decoder_open(struct po_decoder **decoder_out,
                                          const char *base_directory,
                                          const char *const *profile_paths, size_t profile_count,
                                          struct po_error *error);
void po_decoder_close(struct po_decoder *decoder); /* takes NULL */

/*
 * Decodes one record into *count_out notifications, each sealed: with its key and fingerprint.
 * channel: the label of the profile that the record is read by; NULL: the record's header
 * "channel", else the member "channel" of postonce's own envelope.
 * notifications: the caller's, with room for capacity, at least PO_NOTIFICATIONS_MAX.
 * OK with *count_out 0: the profile says that there is nothing to do.
 * RECORD: this record can never be decoded so; error->reason is a stable word (docs/channels.md
 * lists them), the text never holds the payload. SYSTEMIC: no memory. BUG: too little capacity, or
 * a library failed where it cannot.
 */
PO_MUST_USE enum po_class po_decode(struct po_decoder *decoder, const struct po_record *record,
                                    const char *channel, struct po_notification *notifications,
                                    size_t capacity, size_t *count_out, struct po_error *error);

#ifdef __cplusplus
}
#endif

#endif
