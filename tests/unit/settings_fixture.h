/* What the tests of the configuration share: a folder of their own with ./postonce.yaml in it. */
#ifndef SETTINGS_FIXTURE_H
#define SETTINGS_FIXTURE_H

#include "unit.h"

#include "commands/settings.h"

static struct settings *settings;
static struct po_error error;
static char folder[] = "/tmp/postonce-settings-XXXXXX";

/* Each case works in a folder of its own, where ./postonce.yaml is what it writes. */
static inline void enter(void)
{
        ck_assert_ptr_nonnull(mkdtemp(folder));
        ck_assert_int_eq(chdir(folder), 0);
        unsetenv("POSTONCE_CONFIG");
}

static inline void leave(void)
{
        settings_close(settings);
        settings = NULL;
        unlink("postonce.yaml");
        ck_assert_int_eq(chdir("/"), 0);
        rmdir(folder);
}

static inline void write_file(const char *path, const char *text)
{
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(text, file), 0);
        ck_assert_int_eq(fclose(file), 0);
}

static inline void load(const char *text)
{
        write_file("postonce.yaml", text);
        settings_close(settings);
        ck_assert_msg(settings_load("postonce.yaml", &settings, &error) == PO_OK, "%s", error.text);
}

static inline void refuse(const char *text, const char *complaint)
{
        write_file("postonce.yaml", text);
        settings_close(settings);
        ck_assert_int_eq(settings_load("postonce.yaml", &settings, &error), PO_SYSTEMIC);
        ck_assert_ptr_null(settings);
        unit_assert_in(error.text, complaint);
}

/* A complete file (10 lines) with one more line of the caller at its end, line 11. */
#define KAFKA                                                                                      \
        "kafka:\n"                                                                                 \
        "  bootstrap.servers: 127.0.0.1:9092\n"                                                    \
        "  group.id: postonce\n"
#define TOPICS "topics: { callbacks: {} }\n"
#define MYSQL                                                                                      \
        "mysql:\n"                                                                                 \
        "  user: postonce\n"                                                                       \
        "  database: postonce\n"
#define EVENTS                                                                                     \
        "events:\n"                                                                                \
        "  PAYMENT_RECEIVED:\n"                                                                    \
        "    otherwise: suspense\n"
#define WHOLE KAFKA TOPICS MYSQL EVENTS

#endif
