#include "kafka/dev_broker.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "commands/command.h"
#include "commands/options.h"

enum { PARTITIONS_MAX = 64 };

struct wanted {
        struct dev_broker_topic topics[OPTION_TEXTS_MAX];
        char names[OPTION_TEXTS_MAX][TOPIC_BYTES];
        size_t count;
};

/* NAME:PARTITIONS */
static bool topic_parse(const char *text, char name_out[static TOPIC_BYTES], int *partitions_out)
{
        const char *colon = strchr(text, ':');
        size_t length = colon == NULL ? 0 : (size_t)(colon - text);
        if (length == 0 || length >= TOPIC_BYTES || strlen(colon + 1) > 2)
                return false;
        int partitions = 0;
        for (const char *at = colon + 1; *at != '\0'; at++) {
                if (*at < '0' || *at > '9')
                        return false;
                partitions = partitions * 10 + (*at - '0');
        }
        snprintf(name_out, TOPIC_BYTES, "%.*s", (int)length, text);
        *partitions_out = partitions;
        return partitions >= 1 && partitions <= PARTITIONS_MAX;
}

/* Whole or not there: who waits for the file must not read half of it. */
static enum po_class address_write(const char *path, const char *address, struct po_error *error)
{
        char draft[PATH_MAX];
        if (snprintf(draft, sizeof draft, "%s.draft", path) >= (int)sizeof draft)
                return po_fail(error, PO_SYSTEMIC, ENAMETOOLONG, "%s: too long a name", path);
        FILE *file = fopen(draft, "we");
        if (file == NULL)
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", draft, strerror(errno));
        int printed = fprintf(file, "%s\n", address);
        if (fclose(file) != 0 || printed < 0 || rename(draft, path) != 0)
                return po_fail(error, PO_SYSTEMIC, errno, "%s: %s", path, strerror(errno));
        return PO_OK;
}

static enum po_class serve(const struct wanted *wanted, const char *address_file,
                           struct po_error *error)
{
        /* Blocked before the broker's threads begin, so that only sigwait() takes them. */
        sigset_t stops;
        sigemptyset(&stops);
        sigaddset(&stops, SIGTERM);
        sigaddset(&stops, SIGINT);
        sigprocmask(SIG_BLOCK, &stops, NULL);

        struct dev_broker *broker;
        if (dev_broker_open(&broker, wanted->topics, wanted->count, error) != PO_OK)
                return error->kind;
        enum po_class kind = PO_OK;
        if (address_file != NULL)
                kind = address_write(address_file, dev_broker_address(broker), error);
        if (kind == PO_OK) {
                printf("bootstrap.servers=%s\n", dev_broker_address(broker));
                fflush(stdout);
                int stop;
                sigwait(&stops, &stop);
        }
        if (address_file != NULL && kind == PO_OK)
                unlink(address_file);
        dev_broker_close(broker);
        return kind;
}

int command_dev_broker(int argc, char **argv)
{
        struct option_texts topics = { 0 };
        const char *address_file = NULL;
        const struct option_row rows[] = {
                { .name = "topic",
                  .letter = 't',
                  .kind = OPTION_TEXTS,
                  .argument = "NAME:PARTITIONS",
                  .help = "a topic to make; may be repeated",
                  .target = &topics },
                OPTION_ROW_TEXT("address-file", "FILE",
                                "also write 127.0.0.1:PORT there; gone again at the end",
                                &address_file),
                { .name = NULL },
        };
        const struct options options = {
                .command = "postonce dev-broker",
                .summary =
                        "An in-process Kafka on loopback for trying things. It keeps everything in "
                        "memory,\nforgets it at the end, and runs until SIGTERM or SIGINT. Never "
                        "for production.",
                .example = "postonce dev-broker --topic callbacks:4 --topic callbacks.DLT:1",
                .rows = rows,
        };
        int code;
        if (!options_read(&options, argc, argv, NULL, &code))
                return code;
        if (topics.count == 0)
                return options_refuse(&options, "expected --topic NAME:PARTITIONS");

        struct wanted wanted = { .count = topics.count };
        for (size_t i = 0; i < topics.count; i++) {
                struct dev_broker_topic *topic = &wanted.topics[i];
                topic->name = wanted.names[i];
                if (!topic_parse(topics.items[i], wanted.names[i], &topic->partitions))
                        return options_refuse(&options,
                                              "--topic: \"%s\" is not NAME:PARTITIONS with 1…%d "
                                              "partitions",
                                              topics.items[i], PARTITIONS_MAX);
        }
        struct po_error error;
        return serve(&wanted, address_file, &error) == PO_OK ? EXIT_DONE : command_fail(&error);
}
