#include "base/failpoint.h"

#include <fiu.h>
#include <fiu-control.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

enum { POINTS_MAX = 32, NAME_BYTES = 64, SPEC_BYTES = 2048, PASS_MAX = 1000000000 };

enum action { ACTION_NONE, ACTION_KILL, ACTION_FREEZE, ACTION_ERROR, ACTION_BUG, ACTION_ERRORS };

static const char *const action_words[] = {
        [ACTION_KILL] = "kill", [ACTION_FREEZE] = "freeze", [ACTION_ERROR] = "error",
        [ACTION_BUG] = "bug",   [ACTION_ERRORS] = "errors",
};
enum { ACTIONS = sizeof action_words / sizeof action_words[0] };

struct point {
        char name[NAME_BYTES];
        enum action action;
        unsigned strike; /* at this pass, counted from 1 */
        unsigned passes;
};

static struct point points[POINTS_MAX];
static size_t points_count;

static struct point *point_find(const char *name)
{
        for (size_t i = 0; i < points_count; i++)
                if (strcmp(points[i].name, name) == 0)
                        return &points[i];
        return NULL;
}

/* libfiu asks at each pass of an enabled point: non-zero says "fail, with *failnum". */
static int decide(const char *name, int *failnum, void **failinfo, unsigned *flags)
{
        (void)failinfo;
        (void)flags;
        struct point *point = point_find(name);
        if (point == NULL)
                return 0;
        point->passes++;
        bool due = point->action == ACTION_ERRORS ? point->passes >= point->strike
                                                  : point->passes == point->strike;
        if (due)
                *failnum = (int)point->action;
        return due;
}

static enum action action_parse(const char *word, size_t length)
{
        for (int i = ACTION_NONE + 1; i < ACTIONS; i++)
                if (strlen(action_words[i]) == length &&
                    strncmp(action_words[i], word, length) == 0)
                        return (enum action)i;
        return ACTION_NONE;
}

/* "3" → 3; 0 for anything that is not 1…PASS_MAX. */
static unsigned pass_parse(const char *text)
{
        unsigned long value = 0;
        for (const char *at = text; *at != '\0'; at++) {
                if (*at < '0' || *at > '9' || value > PASS_MAX / 10)
                        return 0;
                value = value * 10 + (unsigned long)(*at - '0');
        }
        return value <= PASS_MAX ? (unsigned)value : 0;
}

/* One "name=action@n". */
static enum po_class point_add(const char *text, struct po_error *error)
{
        const char *equals = strchr(text, '=');
        if (equals == NULL || equals == text || equals - text >= NAME_BYTES)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "POSTONCE_FAILPOINTS: %s: expected name=action@n", text);
        if (points_count == POINTS_MAX)
                return po_fail(error, PO_SYSTEMIC, 0, "POSTONCE_FAILPOINTS: more than %d points",
                               POINTS_MAX);
        struct point *point = &points[points_count];
        memset(point, 0, sizeof *point);
        memcpy(point->name, text, (size_t)(equals - text));
        if (point_find(point->name) != NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "POSTONCE_FAILPOINTS: %s is named twice",
                               point->name);
        const char *word = equals + 1;
        const char *at = strchr(word, '@');
        point->action = action_parse(word, at == NULL ? strlen(word) : (size_t)(at - word));
        if (point->action == ACTION_NONE)
                return po_fail(
                        error, PO_SYSTEMIC, 0,
                        "POSTONCE_FAILPOINTS: %s: expected kill, freeze, error, bug or errors",
                        text);
        point->strike = at == NULL ? 1 : pass_parse(at + 1);
        if (point->strike == 0)
                return po_fail(error, PO_SYSTEMIC, 0,
                               "POSTONCE_FAILPOINTS: %s: expected a pass of 1 and up after @",
                               text);
        points_count++;
        if (fiu_enable_external(point->name, 1, NULL, 0, decide) != 0)
                return po_fail(error, PO_BUG, 0, "POSTONCE_FAILPOINTS: libfiu refused %s",
                               point->name);
        return PO_OK;
}

static void points_clear(void)
{
        for (size_t i = 0; i < points_count; i++)
                fiu_disable(points[i].name);
        points_count = 0;
}

enum po_class failpoint_init(struct po_error *error)
{
        points_clear();
        const char *spec = getenv("POSTONCE_FAILPOINTS");
        if (spec == NULL || *spec == '\0')
                return PO_OK;
        if (fiu_init(0) != 0)
                return po_fail(error, PO_BUG, 0, "libfiu does not start");
        char copy[SPEC_BYTES];
        if (strlen(spec) >= sizeof copy)
                return po_fail(error, PO_SYSTEMIC, 0, "POSTONCE_FAILPOINTS: over %d bytes",
                               SPEC_BYTES - 1);
        snprintf(copy, sizeof copy, "%s", spec);
        char *rest = copy;
        for (char *text; (text = strsep(&rest, ",")) != NULL;) {
                if (point_add(text, error) != PO_OK) {
                        points_clear();
                        return error->kind;
                }
        }
        return PO_OK;
}

/* The line tells a test that its fault struck; nothing of it may come after SIGKILL. */
static void tell(const struct point *point)
{
        log_warn("failpoint", "name=%s action=%s pass=%u", point->name, action_words[point->action],
                 point->passes);
}

enum po_class failpoint_hit(const char *name, struct po_error *error)
{
        if (points_count == 0)
                return PO_OK;
        enum action action = (enum action)fiu_fail(name);
        if (action == ACTION_NONE)
                return PO_OK;
        tell(point_find(name));
        switch (action) {
        case ACTION_KILL:
                kill(getpid(), SIGKILL);
                break;
        case ACTION_FREEZE:
                /* The whole process, librdkafka's threads too: its heartbeats stop as on a dead
                 * machine. */
                kill(getpid(), SIGSTOP);
                break;
        case ACTION_BUG:
                return po_fail(error, PO_BUG, 0, "failpoint %s", name);
        case ACTION_ERROR:
        case ACTION_ERRORS:
                return po_fail(error, PO_TRANSIENT, 0, "failpoint %s", name);
        case ACTION_NONE:
                break;
        }
        return PO_OK;
}
