/* Opening what several commands need from the configuration. */
#ifndef COMMANDS_PARTS_H
#define COMMANDS_PARTS_H

#include "channel/decode.h"
#include "commands/settings.h"
#include "ledger/rules.h"
#include "mysql/db.h"
#include "postonce/error.h"

/*
 * Connects and checks the schema's version. *db_out is open, maybe unconnected, after any class but
 * out of memory; its options live in settings.
 */
PO_MUST_USE enum po_class parts_open_db(const struct settings *settings, struct db **db_out,
                                        struct po_error *error);
/* The same for one that is open: connects, checks the schema's version. */
PO_MUST_USE enum po_class parts_check_db(struct db *db, struct po_error *error);
/* The profiles of `channels`. */
PO_MUST_USE enum po_class parts_open_decoder(const struct settings *settings,
                                             struct decoder **decoder_out, struct po_error *error);
/* `orders` and `events`. */
PO_MUST_USE enum po_class parts_read_rules(const struct settings *settings,
                                           struct rules **rules_out, struct po_error *error);
/* Who acts, for the audit: $SUDO_USER, else the login's name, else "uid 1000". */
const char *parts_who(char *buffer, size_t capacity);

#endif
