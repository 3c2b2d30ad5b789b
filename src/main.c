#include <stddef.h>

#include "commands/command.h"

static const struct command commands[] = {
        { "run", "one worker, until SIGTERM", command_run },
        { "relay", "publishes the outbox; of any number one is active", command_relay },
        { "migrate", "creates or upgrades the tables", command_migrate },
        { "check", "looks at everything and names each finding with its mend", command_check },
        { "park", "lists, releases and discards parked notifications", command_park },
        { "hold", "lists, releases and skips records that hold their partition", command_hold },
        { "pause", "stops the intake, whole or of a channel, audited", command_pause },
        { "resume", "ends a pause", command_resume },
        { "order", "registers, sets and shows orders", command_order },
        { "claim", "takes over an older idempotency table", command_claim },
        { "ledger", "balances, statements, export, opening balances", command_ledger },
        { "refund", "registers and shows refunds", command_refund },
        { "replay", "sends dead letters back to the topics they came from", command_replay },
        { "dev-broker", "an in-process Kafka for trying things without a broker",
          command_dev_broker },
        { "version", "the program's version", command_version },
        { NULL, NULL, NULL },
};

int main(int argc, char **argv)
{
        const struct command_set postonce = {
                .name = "postonce",
                .summary = "Posts payment-channel notifications from Kafka to a MySQL ledger, each "
                           "exactly once.",
                .version = version_text,
                .commands = commands,
        };
        struct po_error error;
        if (command_prepare(&error) != PO_OK)
                return command_fail(&error);
        return command_finish(command_dispatch(&postonce, argc, argv));
}
