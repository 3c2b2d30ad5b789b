/* The parts of `postonce ledger`, each in a file of its own; ledger.c has the others. */
#ifndef COMMANDS_LEDGER_H
#define COMMANDS_LEDGER_H

#include "commands/desk.h"

/* desk_open() for long reading: a statement may take an hour until its first row. */
int ledger_desk_open(struct desk *desk, const char *config);

int ledger_export(int argc, char **argv);
int ledger_open_balances(int argc, char **argv);

#endif
