/* Secrets and keys that a profile names by their files. No error ever shows what is in them. */
#ifndef CHANNEL_SECRET_FILE_H
#define CHANNEL_SECRET_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/document.h"
#include "postonce/error.h"

enum { SECRET_BYTES_MAX = 256 };

/*
 * Reads the file that the text at node names, relative to the folder of node's document, into
 * buffer of capacity bytes. The caller overwrites it after use. SYSTEMIC with file:line:column: it
 * cannot be read, is empty, or has capacity bytes or more.
 */
PO_MUST_USE enum po_class secret_file_read(const struct node *node, char *buffer, size_t capacity,
                                           size_t *length_out, struct po_error *error);

/* A secret of 1 to SECRET_BYTES_MAX bytes: the same without one line break at the end. */
PO_MUST_USE enum po_class secret_read(const struct node *node, char secret[SECRET_BYTES_MAX],
                                      size_t *length_out, struct po_error *error);

typedef enum po_class (*secret_reader)(const struct node *node, void *context,
                                       struct po_error *error);

/* Calls read for the text at node, or for each of the 1 to most texts of the list at node. */
PO_MUST_USE enum po_class secret_files_each(const struct node *node, size_t most,
                                            secret_reader read, void *context,
                                            struct po_error *error);

/*
 * Where text is ${env:NAME} and nothing else, and the environment has no such variable or an empty
 * one: true. Whatever else is wrong with a text is not said here.
 */
bool secret_is_unset(const char *text);

#endif
