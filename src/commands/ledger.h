/* The parts of `postonce ledger`, each in a file of its own; ledger.c has the others. */
#ifndef COMMANDS_LEDGER_H
#define COMMANDS_LEDGER_H

/* A statement may take an hour until its first row. */
enum { LEDGER_READ_TIMEOUT_MS = 3600 * 1000 };

int ledger_export(int argc, char **argv);
int ledger_open_balances(int argc, char **argv);

#endif
