#include "commands/desk.h"

#include "commands/command.h"

int desk_open(struct desk *desk)
{
        int code = settings_open(desk->config, &desk->settings);
        if (code != EXIT_DONE)
                return code;
        if (desk->settings->mysql.read_timeout_ms < desk->read_timeout_ms)
                desk->settings->mysql.read_timeout_ms = desk->read_timeout_ms;
        parts_who(desk->who, sizeof desk->who);
        struct po_error error;
        if (parts_read_rules(desk->settings, &desk->rules, &error) != PO_OK ||
            parts_open_db(desk->settings, &desk->db, &error) != PO_OK)
                return command_fail(&error);
        return EXIT_DONE;
}

void desk_close(struct desk *desk)
{
        sql_free(&desk->sql);
        db_close(desk->db);
        rules_free(desk->rules);
        settings_close(desk->settings);
}
