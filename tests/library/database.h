/* The database that these programs work with, from their environment. */
#ifndef LIBRARY_DATABASE_H
#define LIBRARY_DATABASE_H

#include <stdlib.h>

#include <postonce/ledger.h>

static struct po_database database_of_environment(void)
{
        const char *port = getenv("DB_PORT");
        struct po_database database = { 0 };
        database.host = getenv("DB_HOST");
        database.port = port != NULL ? strtol(port, NULL, 10) : 0;
        database.user = getenv("DB_USER");
        database.password_file = getenv("DB_PASSWORD_FILE");
        database.database = getenv("DB_NAME");
        return database;
}

#endif
