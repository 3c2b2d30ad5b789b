#include "base/record.h"

#include <string.h>

const struct record_header *record_header(const struct record *record, const char *name)
{
        for (size_t i = record->headers_count; i > 0; i--)
                if (strcmp(record->headers[i - 1].name, name) == 0)
                        return &record->headers[i - 1];
        return NULL;
}
