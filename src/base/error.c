#include "postonce/error.h"

#include <stdio.h>
#include <string.h>

static void fill(struct po_error *error, enum po_class kind, int code, const char *reason,
                 const char *format, va_list arguments) PO_FORMAT(5, 0);

static void fill(struct po_error *error, enum po_class kind, int code, const char *reason,
                 const char *format, va_list arguments)
{
        error->kind = kind;
        error->code = code;
        error->reason = reason;
        error->place = -1;
        vsnprintf(error->text, sizeof error->text, format, arguments);
}

enum po_class po_fail(struct po_error *error, enum po_class kind, int code, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        fill(error, kind, code, NULL, format, arguments);
        va_end(arguments);
        return kind;
}

enum po_class po_refuse(struct po_error *error, const char *reason, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        fill(error, PO_RECORD, 0, reason, format, arguments);
        va_end(arguments);
        return PO_RECORD;
}

enum po_class po_refuse_at(struct po_error *error, const char *reason, size_t place,
                           const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        fill(error, PO_RECORD, 0, reason, format, arguments);
        va_end(arguments);
        error->place = (int64_t)place;
        return PO_RECORD;
}

enum po_class po_within(struct po_error *error, const char *format, ...)
{
        char below[PO_ERROR_TEXT_BYTES];
        memcpy(below, error->text, sizeof below);

        va_list arguments;
        va_start(arguments, format);
        int used = vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        if (used >= 0 && (size_t)used < sizeof error->text)
                snprintf(error->text + used, sizeof error->text - (size_t)used, ": %s", below);
        return error->kind;
}

const char *po_class_name(enum po_class kind)
{
        switch (kind) {
        case PO_OK:
                return "OK";
        case PO_TRANSIENT:
                return "TRANSIENT";
        case PO_UNCERTAIN:
                return "UNCERTAIN";
        case PO_SYSTEMIC:
                return "SYSTEMIC";
        case PO_RECORD:
                return "RECORD";
        case PO_EXISTS:
                return "EXISTS";
        case PO_BUG:
                return "BUG";
        }
        return "UNKNOWN";
}
