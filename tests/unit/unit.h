/*
 * What the unit tests share. UNIT_MAIN(name, case, …) runs the cases, each in a process of its own
 * (so module state is fresh) unless CK_FORK=no.
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNIT_MAIN(name, ...)                                                                       \
        int main(void)                                                                             \
        {                                                                                          \
                const TTest *const cases[] = { __VA_ARGS__ };                                      \
                Suite *suite = suite_create(name);                                                 \
                TCase *tcase = tcase_create(name);                                                 \
                tcase_set_timeout(tcase, 60);                                                      \
                for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)                        \
                        tcase_add_test(tcase, cases[i]);                                           \
                suite_add_tcase(suite, tcase);                                                     \
                SRunner *runner = srunner_create(suite);                                           \
                srunner_run_all(runner, CK_ENV);                                                   \
                int failed = srunner_ntests_failed(runner);                                        \
                srunner_free(runner);                                                              \
                return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;                                  \
        }

/* Asserts that needle stands in text; the failure shows both. */
#define unit_assert_in(text, needle)                                                               \
        ck_assert_msg(strstr(text, needle) != NULL, "\"%s\" is not in \"%s\"", needle, text)
#define unit_assert_not_in(text, needle)                                                           \
        ck_assert_msg(strstr(text, needle) == NULL, "\"%s\" is in \"%s\"", needle, text)

/* What is written to a descriptor (1 or 2) between begin and end. */
struct unit_capture {
        int fd, saved_fd;
        FILE *file;
        char text[16384];
};

static inline void unit_capture_begin(struct unit_capture *capture, int fd)
{
        fflush(NULL);
        capture->fd = fd;
        capture->saved_fd = dup(fd);
        capture->file = tmpfile();
        ck_assert_ptr_nonnull(capture->file);
        ck_assert_int_eq(dup2(fileno(capture->file), fd), fd);
}

/* Lives in capture. */
static inline const char *unit_capture_end(struct unit_capture *capture)
{
        fflush(NULL);
        ck_assert_int_eq(dup2(capture->saved_fd, capture->fd), capture->fd);
        close(capture->saved_fd);
        rewind(capture->file);
        size_t bytes = fread(capture->text, 1, sizeof capture->text - 1, capture->file);
        capture->text[bytes] = '\0';
        fclose(capture->file);
        return capture->text;
}

#endif
