/*
 * Fuzz targets: bytes in, nothing out; what must never be aborts. The same functions are run by
 * libFuzzer (option `fuzzing`, one program each) and, over all seeds and every beginning of each,
 * by tests/unit/test_fuzz_seeds.c, which is how a crash that was mended stays mended.
 *
 * Seeds: tests/fuzz/seeds/TARGET, and the folders that fuzz_targets[] names.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FUZZ_LIST(X)                                                                               \
        X(json, "tests/data/channel")                                                              \
        X(form, "tests/data/channel")                                                              \
        X(xml, "tests/data/channel")                                                               \
        X(charset, "tests/data/channel")                                                           \
        X(decode, "tests/data/channel")                                                            \
        X(signature, "")                                                                           \
        X(pointer, "")                                                                             \
        X(moment, "")                                                                              \
        X(money, "")                                                                               \
        X(yaml, "tests/data/config/document")                                                      \
        X(profile, "deploy/channels")                                                              \
        X(rules, "deploy")                                                                         \
        X(record_pack, "")                                                                         \
        X(letter, "")

#define FUZZ_DECLARE(name, folder) void fuzz_##name(const uint8_t *bytes, size_t length);
FUZZ_LIST(FUZZ_DECLARE)
#undef FUZZ_DECLARE

/* Says what was violated, and aborts, in every build. */
#define FUZZ_MUST(condition)                                                                       \
        do {                                                                                       \
                if (!(condition)) {                                                                \
                        fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__,           \
                                #condition);                                                       \
                        abort();                                                                   \
                }                                                                                  \
        } while (0)

/* A path below the source's folder ($POSTONCE_SOURCE, else the current one), into buffer. */
static inline const char *fuzz_path(char *buffer, size_t capacity, const char *path)
{
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(buffer, capacity, "%s/%s", source != NULL ? source : ".", path);
        return buffer;
}

#endif
