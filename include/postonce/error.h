/*
 * Errors: what the caller must do next, and what a person must read.
 *
 * A function that can fail returns a class. The failing line fills the caller's struct po_error
 * once; each level up may put its context in front with po_within(); only the worker and the
 * commands log it. Nothing here allocates.
 */
#ifndef POSTONCE_ERROR_H
#define POSTONCE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum po_class {
        PO_OK = 0,
        PO_TRANSIENT, /* passes by itself: roll back, retry with back-off, for ever */
        PO_UNCERTAIN, /* COMMIT was sent and its answer is lost: reconnect and read what is there */
        PO_SYSTEMIC,  /* nothing of its kind can work until a person mends it: stop intake, probe */
        PO_RECORD,    /* this one record is at fault: isolate it, count the failure, dead letter */
        PO_EXISTS, /* a unique key said "already there"; only claim.c may call that a duplicate */
        PO_BUG,    /* must not be: RECORD when it reproduces alone, else SYSTEMIC */
};

enum { PO_ERROR_TEXT_BYTES = 512 };

struct po_error {
        enum po_class kind;
        int code; /* errno of the library that spoke (MySQL, librdkafka), or 0 */
        const char
                *reason; /* stable upper-case word of a refused record (NO_RULE); static; or NULL */
        int64_t place;   /* byte, from 0, of the text that was refused; -1: at no byte in particular
                          */
        char text[PO_ERROR_TEXT_BYTES];
};

#define PO_MUST_USE              __attribute__((warn_unused_result))
#define PO_FORMAT(string, first) __attribute__((format(printf, string, first)))

/* Fills *error and returns its class. The text is cut at its bound, never refused. */
enum po_class po_fail(struct po_error *error, enum po_class kind, int code, const char *format, ...)
        PO_FORMAT(4, 5);

/* A refused record: class PO_RECORD with a stable reason (a string literal, kept by reference). */
enum po_class po_refuse(struct po_error *error, const char *reason, const char *format, ...)
        PO_FORMAT(3, 4);

/* The same where one byte of the text is at fault; format says so, too. */
enum po_class po_refuse_at(struct po_error *error, const char *reason, size_t place,
                           const char *format, ...) PO_FORMAT(4, 5);

/* Puts "context: " in front of the text; returns the class that is already there. */
enum po_class po_within(struct po_error *error, const char *format, ...) PO_FORMAT(2, 3);

/* "TRANSIENT", … */
const char *po_class_name(enum po_class kind);

#ifdef __cplusplus
}
#endif

#endif
