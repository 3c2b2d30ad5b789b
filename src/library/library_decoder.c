#include "postonce/decode.h"

#include <stdlib.h>

#include "base/limits.h"
#include "channel/decode.h"

_Static_assert((int)PO_NOTIFICATIONS_MAX == (int)NOTIFICATIONS_PER_RECORD_MAX,
               "what the manual asks for is what decoding needs");

struct po_decoder {
        struct decoder *decoder;
        struct record_header *headers; /* the record in hand's, as decoding reads them */
        size_t headers_capacity;
};

enum po_class po_decoder_open(struct po_decoder **decoder_out, const char *base_directory,
                              const char *const *profile_paths, size_t profile_count,
                              struct po_error *error)
{
        *decoder_out = NULL;
        struct po_decoder *decoder = calloc(1, sizeof *decoder);
        if (decoder == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for a decoder");
        if (decoder_open(&decoder->decoder, base_directory, profile_paths, profile_count, error) !=
            PO_OK) {
                free(decoder);
                return error->kind;
        }
        *decoder_out = decoder;
        return PO_OK;
}

void po_decoder_close(struct po_decoder *decoder)
{
        if (decoder == NULL)
                return;
        decoder_close(decoder->decoder);
        free(decoder->headers);
        free(decoder);
}

static enum po_class take_headers(struct po_decoder *decoder, const struct po_record *record,
                                  struct po_error *error)
{
        if (record->headers_count > decoder->headers_capacity) {
                struct record_header *grown = reallocarray(decoder->headers, record->headers_count,
                                                           sizeof *decoder->headers);
                if (grown == NULL)
                        return po_fail(error, PO_SYSTEMIC, 0, "out of memory for %zu headers",
                                       record->headers_count);
                decoder->headers = grown;
                decoder->headers_capacity = record->headers_count;
        }
        for (size_t i = 0; i < record->headers_count; i++)
                decoder->headers[i] =
                        (struct record_header){ .name = record->headers[i].name,
                                                .value = record->headers[i].value,
                                                .value_bytes = record->headers[i].value_bytes };
        return PO_OK;
}

enum po_class po_decode(struct po_decoder *decoder, const struct po_record *record,
                        const char *channel, struct po_notification *notifications, size_t capacity,
                        size_t *count_out, struct po_error *error)
{
        *count_out = 0;
        if (capacity < PO_NOTIFICATIONS_MAX)
                return po_fail(error, PO_BUG, 0, "room for %zu notifications, %d are needed",
                               capacity, PO_NOTIFICATIONS_MAX);
        if (take_headers(decoder, record, error) != PO_OK)
                return error->kind;
        const struct record delivery = {
                .topic = record->topic != NULL ? record->topic : "",
                .partition = record->partition,
                .offset = record->offset,
                .timestamp_ms = -1,
                .value = record->value,
                .value_bytes = record->value != NULL ? record->value_bytes : 0,
                .headers = decoder->headers,
                .headers_count = record->headers_count,
        };
        return decode_record(decoder->decoder, &delivery, channel, notifications, capacity,
                             count_out, error);
}
