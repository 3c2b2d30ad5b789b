/* Packed records: what can be taken apart is the same when it is packed again. */
#include "fuzz.h"

#include <string.h>

#include "base/record_pack.h"

void fuzz_record_pack(const uint8_t *bytes, size_t length)
{
        size_t count = record_pack_headers(bytes, length);
        FUZZ_MUST(count <= length);
        struct record_header *headers = count == 0 ? NULL : malloc(count * sizeof *headers);
        struct record record;
        struct po_error error;
        FUZZ_MUST(count == 0 || headers != NULL);
        if (record_unpack(bytes, length, &record, headers, count, &error) == PO_OK) {
                FUZZ_MUST(record_pack_bytes(&record) == length);
                unsigned char *again = malloc(length);
                FUZZ_MUST(again != NULL);
                record_pack(&record, again);
                FUZZ_MUST(memcmp(again, bytes, length) == 0);
                free(again);
        } else {
                FUZZ_MUST(error.kind == PO_BUG);
        }
        free(headers);
}
