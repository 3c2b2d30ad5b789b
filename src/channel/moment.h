/*
 * Moments: a channel's times to microseconds since 1970-01-01T00:00:00Z. Pure arithmetic on the
 * proleptic Gregorian calendar, no time zone database, no clock. Years 1970 to 9999.
 */
#ifndef CHANNEL_MOMENT_H
#define CHANNEL_MOMENT_H

#include <stddef.h>
#include <stdint.h>

#include "postonce/error.h"

enum moment_format {
        MOMENT_RFC3339, /* 2026-01-14T12:41:07.231+08:00; digits beyond the microsecond are cut */
        MOMENT_SECONDS, /* 1768365667: since 1970 */
        MOMENT_MILLISECONDS,
};

/* RECORD with TIME_MALFORMED: not of that form, no such day or time, or outside the years. */
PO_MUST_USE enum po_class moment_parse(enum moment_format format, const char *text, size_t length,
                                       int64_t *us_out, struct po_error *error);

#endif
