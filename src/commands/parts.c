#include "commands/parts.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "channel/tenant.h"
#include "mysql/migrate.h"

enum po_class parts_open_db(const struct settings *settings, struct db **db_out,
                            struct po_error *error)
{
        if (db_open(db_out, &settings->mysql, error) != PO_OK)
                return error->kind;
        return parts_check_db(*db_out, error);
}

enum po_class parts_check_db(struct db *db, struct po_error *error)
{
        if (db_connect(db, error) != PO_OK)
                return error->kind;
        return migrate_check(db, error);
}

enum po_class parts_open_decoder(const struct settings *settings, struct decoder **decoder_out,
                                 struct po_error *error)
{
        if (decoder_open(decoder_out, settings->directory, settings->channels.items,
                         settings->channels.count, error) != PO_OK)
                return error->kind;
        decoder_use_tenants(*decoder_out, &settings->tenants);
        return PO_OK;
}

enum po_class parts_read_rules(const struct settings *settings, struct rules **rules_out,
                               struct po_error *error)
{
        return rules_read(settings->orders, settings->events, rules_out, error);
}

const char *parts_who(char *buffer, size_t capacity)
{
        const char *sudo = getenv("SUDO_USER");
        const struct passwd *entry = getpwuid(getuid());
        if (sudo != NULL && sudo[0] != '\0')
                snprintf(buffer, capacity, "%s", sudo);
        else if (entry != NULL)
                snprintf(buffer, capacity, "%s", entry->pw_name);
        else
                snprintf(buffer, capacity, "uid %ld", (long)getuid());
        return buffer;
}
