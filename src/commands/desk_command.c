#include "commands/desk_command.h"

#include <assert.h>

#include "commands/command.h"

enum { COLUMNS_MAX = 16 };

bool desk_read(struct desk *desk, const struct options *options, int argc, char **argv,
               int *code_out)
{
        int first;
        if (!options_read(options, argc, argv, &first, code_out))
                return false;
        desk->operands = argv + first;
        return true;
}

int desk_run(struct desk *desk, desk_act act)
{
        struct po_error error;
        int code = desk_open(desk);
        if (code == EXIT_DONE && act(desk, &error) != PO_OK)
                code = command_fail(&error);
        else if (code == EXIT_DONE && desk->findings)
                code = EXIT_FINDINGS;
        desk_close(desk);
        return code;
}

int desk_command(struct desk *desk, const struct options *options, int argc, char **argv,
                 desk_act act)
{
        int code;
        return desk_read(desk, options, argc, argv, &code) ? desk_run(desk, act) : code;
}

enum po_class desk_print_rows(struct desk *desk, const char *name,
                              const struct table_column *columns, struct po_error *error)
{
        unsigned count = 0;
        while (columns[count].name != NULL)
                count++;
        assert(count <= COLUMNS_MAX);
        struct table *table = table_open(name, columns);
        while (db_next_row(desk->db)) {
                const char *texts[COLUMNS_MAX];
                for (unsigned i = 0; i < count; i++)
                        texts[i] = db_text(desk->db, i);
                table_add(table, texts, count);
        }
        db_rows_end(desk->db);
        return table_show(table, (enum table_format)desk->format, error);
}
