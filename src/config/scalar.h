/*
 * One scalar as a field wants it: what schema.c reads members with. Needs of the field its kind,
 * bounds, words, unit, secret; its name, if it has one, stands in complaints. A complaint shows a
 * value as it is written in the file, never what a variable put there, and never a secret's.
 */
#ifndef CONFIG_SCALAR_H
#define CONFIG_SCALAR_H

#include "config/schema.h"

enum { SCALAR_RANGE_BYTES = 96 };

/* target as enum field_kind says; asserts that the kind is one of a scalar. */
PO_MUST_USE enum po_class scalar_read(const struct node *node, const struct field *field,
                                      void *target, struct po_error *error);

/* node_fail() with "name: " in front. */
enum po_class scalar_fail(const struct node *node, const struct field *field,
                          struct po_error *error, const char *format, ...) PO_FORMAT(4, 5);

/* "1 to 5000 records", "250ms to 10m": the range of an integer or duration. */
void scalar_range(char buffer[static SCALAR_RANGE_BYTES], const struct field *field);

#endif
