/*
 * Moments: a channel's times to microseconds since 1970-01-01T00:00:00Z. Pure arithmetic on the
 * proleptic Gregorian calendar, no time zone database, no clock. Years 1970 to 9999.
 */
#ifndef CHANNEL_MOMENT_H
#define CHANNEL_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postonce/error.h"

enum moment_format {
        MOMENT_RFC3339, /* 2026-01-14T12:41:07.231+08:00; digits beyond the microsecond are cut */
        MOMENT_SECONDS, /* 1768365667: since 1970 */
        MOMENT_MILLISECONDS,
        MOMENT_DATETIME, /* 2026-01-14 12:41:07.231, in the form's zone */
        MOMENT_COMPACT,  /* 20260114124107, in the form's zone */
};

enum { ZONE_MINUTES_MAX = 24 * 60 - 1 };

struct moment_form {
        enum moment_format format;
        int zone_minutes; /* east of Greenwich: 480 is +08:00; of no matter to the other formats */
};

/* "+08:00", "-05:30" or "Z"; false: something else. */
bool moment_zone(const char *text, int *minutes_out);

/* RECORD with TIME_MALFORMED: not of that form, no such day or time, or outside the years. */
PO_MUST_USE enum po_class moment_parse(const struct moment_form *form, const char *text,
                                       size_t length, int64_t *us_out, struct po_error *error);

#endif
