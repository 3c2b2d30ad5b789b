/* libFuzzer's way into one target; FUZZ_TARGET is its function. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
        FUZZ_TARGET(bytes, length);
        return 0;
}
