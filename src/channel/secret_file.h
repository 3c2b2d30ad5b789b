/* Secrets and keys that a profile names by their files. No error ever shows what is in them. */
#ifndef CHANNEL_SECRET_FILE_H
#define CHANNEL_SECRET_FILE_H

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

#endif
