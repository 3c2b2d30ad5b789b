/*
 * What decoding one notification costs: CPU time and allocations.
 *
 *   build/tests/bench/decode/decode_bench [COUNT [FILE CHANNEL]]
 *
 * Without FILE: a JSON body of 700 bytes through deploy/channels/sqb.yaml, nothing to unwrap or to
 * verify. The best of five rounds counts: the machine may be busy, a decoder cannot be too fast.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "channel/decode.h"

enum { ROUNDS = 5, BYTES_MAX = 1024 * 1024, PATH_BYTES = 1024 };

/* glibc's own; malloc() and its kin here count and pass on. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static unsigned long long allocations;

void *malloc(size_t size)
{
        allocations++;
        return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
        allocations++;
        return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
        allocations++;
        return __libc_realloc(memory, size);
}

static long long cpu_ns(void)
{
        struct timespec now;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static const char *source_path(const char *path)
{
        static char whole[PATH_BYTES];
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(whole, sizeof whole, "%s/%s", source != NULL ? source : ".", path);
        return whole;
}

static int fail(const char *text)
{
        fprintf(stderr, "decode_bench: %s\n", text);
        return EXIT_FAILURE;
}

static int measure(struct decoder *decoder, const struct record *record, const char *channel,
                   int count)
{
        static struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
        long long best_ns = 0;
        unsigned long long allocated = 0;
        for (int round = 0; round < ROUNDS; round++) {
                unsigned long long allocated_before = allocations;
                long long start_ns = cpu_ns();
                size_t made = 0;
                for (int i = 0; i < count; i++) {
                        struct po_error error;
                        size_t here;
                        if (decode_record(decoder, record, channel, notifications,
                                          NOTIFICATIONS_PER_RECORD_MAX, &here, &error) != PO_OK)
                                return fail(error.text);
                        made += here;
                }
                if (made == 0)
                        return fail("the file becomes no notification");
                long long each_ns = (cpu_ns() - start_ns) / (long long)made;
                allocated = allocations - allocated_before;
                if (round == 0 || each_ns < best_ns)
                        best_ns = each_ns;
        }
        printf("%zu bytes: %lld.%02lld us of CPU a notification, %llu allocations a record\n",
               record->value_bytes, best_ns / 1000, best_ns % 1000 / 10,
               allocated / (unsigned long long)count);
        return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
        static const char *const profiles[] = { "deploy/channels/sqb.yaml",
                                                "deploy/channels/stripe.yaml",
                                                "deploy/channels/adyen.yaml",
                                                "deploy/channels/alipay.yaml" };
        static char bytes[BYTES_MAX];
        int count = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100000;
        const char *file = argc > 3 ? argv[2] : source_path("tests/bench/decode/sqb-700.json");
        const char *channel = argc > 3 ? argv[3] : "SQB";
        FILE *stream = fopen(file, "rb");
        if (count <= 0 || stream == NULL)
                return fail("usage: decode_bench [COUNT [FILE CHANNEL]], from the source's folder");
        struct record record = { .topic = "bench", .value = bytes };
        record.value_bytes = fread(bytes, 1, sizeof bytes, stream);
        fclose(stream);

        struct decoder *decoder;
        struct po_error error;
        if (decoder_open(&decoder, source_path("."), profiles, sizeof profiles / sizeof profiles[0],
                         &error) != PO_OK)
                return fail(error.text);
        int status = measure(decoder, &record, channel, count);
        decoder_close(decoder);
        return status;
}
