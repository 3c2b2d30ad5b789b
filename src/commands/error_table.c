#include "commands/error_table.h"

#include <stdbool.h>
#include <stdio.h>

#include "commands/command.h"
#include "kafka/codes.h"
#include "mysql/classify.h"

enum { NUMBER_TEXT_BYTES = 16, NO_CODE_OF_BROKERS = -100000 };

/* at_commit, while_connecting: the class in those two places, where it may be another. */
static const struct table_column columns[] = {
        { "source", TABLE_TEXT },  { "code", TABLE_NUMBER },    { "name", TABLE_TEXT },
        { "class", TABLE_TEXT },   { "at_commit", TABLE_TEXT }, { "while_connecting", TABLE_TEXT },
        { "meaning", TABLE_TEXT }, { NULL, TABLE_TEXT },
};

static void add_mysql(struct table *table, const struct mysql_class *class, const char *code,
                      const char *name)
{
        bool is_open = (class->flags & MYSQL_COMMIT_OPEN) != 0;
        table_row(table, "mysql", code, name, po_class_name(class->kind),
                  po_class_name(is_open ? PO_UNCERTAIN : class->kind),
                  po_class_name(mysql_classify_connect(class->number)), class->meaning);
}

static void add_mysql_all(struct table *table)
{
        size_t count;
        const struct mysql_class *classes = mysql_classes(&count);
        for (size_t i = 0; i < count; i++) {
                char code[NUMBER_TEXT_BYTES];
                snprintf(code, sizeof code, "%u", classes[i].number);
                add_mysql(table, &classes[i], code, "");
        }
        add_mysql(table, mysql_classify(0), "", "any other");
}

static void add_kafka_all(struct table *table)
{
        size_t count;
        const struct kafka_code *codes = kafka_codes(&count);
        for (size_t i = 0; i < count; i++) {
                char code[NUMBER_TEXT_BYTES];
                snprintf(code, sizeof code, "%d", codes[i].code);
                table_row(table, "kafka", code, codes[i].name, po_class_name(codes[i].kind), "", "",
                          codes[i].meaning);
        }
        table_row(table, "kafka", "", "any other", po_class_name(kafka_class(NO_CODE_OF_BROKERS)),
                  "", "", "an error that this program does not know");
}

int error_table_print(enum table_format format)
{
        struct po_error error;
        struct table *table = table_open("errors", columns);
        add_mysql_all(table);
        add_kafka_all(table);
        return table_show(table, format, &error) == PO_OK ? EXIT_DONE : command_fail(&error);
}
