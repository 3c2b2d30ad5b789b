/* `check --errors`: what postonce makes of each error of the database and of the brokers. */
#ifndef COMMANDS_ERROR_TABLE_H
#define COMMANDS_ERROR_TABLE_H

#include "commands/table.h"

/* Prints both tables (mysql/classify.h, kafka/codes.h) as one. Returns an exit code. */
int error_table_print(enum table_format format);

#endif
