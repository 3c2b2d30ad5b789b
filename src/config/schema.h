/*
 * From nodes to checked values: one table of fields is the struct's parser, its checks, its
 * defaults, its --help and its reference page.
 */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "config/document.h"

struct field;

/* Reads a node of any form into target (the field's own address). */
typedef enum po_class (*field_reader)(const struct node *node, const struct field *field,
                                      void *target, struct po_error *error);

enum field_kind {
        FIELD_TEXT,     /* const char *, not empty; lives as long as the document */
        FIELD_WORD,     /* char[size]: copied, not empty, no control characters, no space at an end;
                           must match one of words if given; refused if too long */
        FIELD_INTEGER,  /* int64_t in min…max, decimal */
        FIELD_BOOLEAN,  /* bool: true or false */
        FIELD_DURATION, /* int64_t milliseconds in min…max: 250ms, 5s, 30m, 24h, 7d */
        FIELD_SECTION,  /* a nested struct at offset, described by section */
        FIELD_CUSTOM,   /* read by reader */
};

struct field {
        const char *name;
        enum field_kind kind;
        size_t offset;    /* of the member in the struct; see FIELD() users */
        size_t size;      /* FIELD_WORD: bytes of the array */
        int64_t min, max; /* FIELD_INTEGER, FIELD_DURATION (ms) */
        bool required;
        bool secret;              /* never printed */
        const char *fallback;     /* the default as it would be written in the file; NULL: none */
        const char *const *words; /* FIELD_TEXT, FIELD_WORD: what is allowed; NULL at the end */
        const struct field *section; /* FIELD_SECTION: ends with a field without a name */
        field_reader reader;         /* FIELD_CUSTOM */
        const char *unit; /* FIELD_INTEGER: for complaints and help ("bytes"); NULL: none */
        const char *help; /* one sentence: the meaning; range and words are added to it */
};

/*
 * Reads map into target by a table that ends with a field without a name. Unknown members, wrong
 * types, values out of range and missing required ones are SYSTEMIC with file:line:column (a
 * missing one: of the map). Scalars may hold ${env:NAME}: replaced by the environment's value
 * before it is checked; an unset variable is an error that names it.
 * An absent member gets its fallback, parsed as if it stood in the file (for FIELD_CUSTOM too);
 * one that has none is left as the caller zeroed it. An absent FIELD_SECTION gets the fallbacks of
 * its members; what is required inside is not asked for unless the section itself is required.
 */
PO_MUST_USE enum po_class schema_read(const struct node *map, const struct field *fields,
                                      void *target, struct po_error *error);

/*
 * One scalar with every ${env:NAME} in it replaced; *text_out lives as long as the document. It may
 * be empty if it is quoted. There is no escape: a text that must hold "${" comes from a variable,
 * whose value is taken as it is. Refused: any other "${", null (nothing, ~, null without quotes).
 */
PO_MUST_USE enum po_class schema_text(const struct node *node, const char **text_out,
                                      struct po_error *error);
/* One scalar as FIELD_WORD reads it, copied into buffer of buffer_bytes. */
PO_MUST_USE enum po_class schema_word(const struct node *node, char *buffer, size_t buffer_bytes,
                                      struct po_error *error);
/*
 * A list of words into a two-dimensional array, char[max][item_bytes]; repeated ones are refused,
 * an empty list is not. single_allowed: a scalar counts as a list of one.
 */
PO_MUST_USE enum po_class schema_words(const struct node *node, bool single_allowed, void *array,
                                       size_t item_bytes, size_t max, size_t *count_out,
                                       struct po_error *error);
/* One scalar that is one of words (NULL-terminated), as its index: for enums. */
PO_MUST_USE enum po_class schema_choice(const struct node *node, const char *const *words,
                                        size_t *index_out, struct po_error *error);
/* One scalar as an integer / duration in ms, range-checked / boolean. */
PO_MUST_USE enum po_class schema_integer(const struct node *node, int64_t min, int64_t max,
                                         int64_t *value_out, struct po_error *error);
PO_MUST_USE enum po_class schema_duration(const struct node *node, int64_t min_ms, int64_t max_ms,
                                          int64_t *ms_out, struct po_error *error);
PO_MUST_USE enum po_class schema_boolean(const struct node *node, bool *value_out,
                                         struct po_error *error);

/*
 * Prints the table as indented "name: default   # help (range)" lines. Commented out is what has no
 * default, and a section that may be left out but not without its members; so the output is a
 * configuration as soon as what is required is filled in. No secret's default is printed.
 */
void schema_help(const struct field *fields, int indent, FILE *stream);

#endif
