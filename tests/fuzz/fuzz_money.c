/* An amount that is taken is within its bound and is the same when it is written and read again. */
#include "fuzz.h"

#include <inttypes.h>
#include <string.h>

#include "channel/money.h"

static void look(int64_t minor)
{
        char written[32];
        struct po_error error;
        int64_t again;
        FUZZ_MUST(minor >= -MONEY_MINOR_MAX && minor <= MONEY_MINOR_MAX);
        snprintf(written, sizeof written, "%" PRId64, minor);
        FUZZ_MUST(money_parse_minor(written, strlen(written), &again, &error) == PO_OK);
        FUZZ_MUST(again == minor);
        for (int from = 0; from <= 4; from++)
                for (int to = 0; to <= 4; to++) {
                        int64_t there;
                        if (money_shift(minor, from, to, &there, &error) != PO_OK)
                                continue;
                        FUZZ_MUST(money_shift(there, to, from, &again, &error) == PO_OK);
                        FUZZ_MUST(again == minor);
                }
}

void fuzz_money(const uint8_t *bytes, size_t length)
{
        struct po_error error;
        int64_t minor;
        if (money_parse_minor((const char *)bytes, length, &minor, &error) == PO_OK)
                look(minor);
        for (int exponent = 0; exponent <= 4; exponent++)
                if (money_parse_decimal((const char *)bytes, length, exponent, &minor, &error) ==
                    PO_OK)
                        look(minor);
}
