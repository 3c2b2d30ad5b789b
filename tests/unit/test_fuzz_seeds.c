/*
 * Every fuzz target on all of its seeds and, for those that are not long, on every beginning of
 * each: what a connection that breaks would leave. See tests/fuzz/fuzz.h.
 */
#include "unit.h"

#include <dirent.h>
#include <sys/stat.h>

#include "../fuzz/fuzz.h"

enum { PATH_BYTES = 1024, SEED_BYTES = 1024 * 1024, BEGINNINGS_OF_BYTES = 1200, STEPS = 40 };

static size_t seeds;

/* On memory of its very size, so that a sanitizer sees a step too far. */
static void run(void (*target)(const uint8_t *bytes, size_t length), const uint8_t *seed,
                size_t length)
{
        uint8_t *bytes = malloc(length == 0 ? 1 : length);
        ck_assert_ptr_nonnull(bytes);
        memcpy(bytes, seed, length);
        target(bytes, length);
        free(bytes);
}

static void run_file(void (*target)(const uint8_t *bytes, size_t length), const char *path)
{
        static uint8_t seed[SEED_BYTES];
        FILE *file = fopen(path, "rb");
        ck_assert_msg(file != NULL, "%s cannot be read", path);
        size_t length = fread(seed, 1, sizeof seed, file);
        fclose(file);
        run(target, seed, length);
        seeds++;
        if (length <= BEGINNINGS_OF_BYTES)
                for (size_t part = 0; part < length; part += 1 + length / STEPS)
                        run(target, seed, part);
}

static void run_folder(void (*target)(const uint8_t *bytes, size_t length), const char *folder)
{
        char base[PATH_BYTES], path[2 * PATH_BYTES];
        struct stat status;
        DIR *directory = opendir(fuzz_path(base, sizeof base, folder));
        ck_assert_msg(directory != NULL, "%s is not there", base);
        for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
                snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
                if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
                        run_file(target, path);
        }
        closedir(directory);
}

#define SEEDS_CASE(name, folder)                                                                   \
        START_TEST(name##_stands_its_seeds)                                                        \
        {                                                                                          \
                run_folder(fuzz_##name, "tests/fuzz/seeds/" #name);                                \
                if (folder[0] != '\0')                                                             \
                        run_folder(fuzz_##name, folder);                                           \
                ck_assert_uint_gt(seeds, 0);                                                       \
        }                                                                                          \
        END_TEST

FUZZ_LIST(SEEDS_CASE)

#define SEEDS_NAME(name, folder) name##_stands_its_seeds,

int main(void)
{
        const TTest *const cases[] = { FUZZ_LIST(SEEDS_NAME) };
        Suite *suite = suite_create("fuzz_seeds");
        TCase *tcase = tcase_create("fuzz_seeds");
        tcase_set_timeout(tcase, 60);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
                tcase_add_test(tcase, cases[i]);
        suite_add_tcase(suite, tcase);
        SRunner *runner = srunner_create(suite);
        srunner_run_all(runner, CK_ENV);
        int failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
