/* What the tests of an operator's commands share: the desk, and what is typed. */
#ifndef DESK_FIXTURE_H
#define DESK_FIXTURE_H

#include "fake_db.h"

#include <getopt.h>
#include <stdint.h>

#include "commands/command.h"
#include "commands/desk.h"

static struct db *db;

static struct unit_capture capture;
static int opened;
static int opening_code = EXIT_DONE;

/* The desk of the tests' own: an empty configuration, the fake database. */
int desk_open(struct desk *desk)
{
        static struct settings settings;
        opened++;
        desk->settings = &settings;
        desk->db = db;
        snprintf(desk->who, sizeof desk->who, "ann");
        return opening_code;
}

void desk_close(struct desk *desk)
{
        opened--;
        sql_free(&desk->sql);
}

/* The command with these words; what it says on fd is in capture.text. */
static int run(int fd, int (*command)(int argc, char **argv), const char *const *words,
               size_t count)
{
        char *argv[16] = { NULL };
        for (size_t i = 0; i < count; i++)
                argv[i] = (char *)(uintptr_t)words[i];
        optind = 0;
        unit_capture_begin(&capture, fd);
        int code = command((int)count, argv);
        unit_capture_end(&capture);
        ck_assert_int_eq(opened, 0);
        return code;
}

#define typed(fd, command, ...)                                                                    \
        run(fd, command, (const char *const[]){ __VA_ARGS__ },                                     \
            sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

#endif
