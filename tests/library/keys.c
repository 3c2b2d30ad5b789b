/*
 * Prints what a channel's body says, one line a notification: key and amount.
 *
 *   keys PROFILE CHANNEL <body
 *
 * CHANNEL "-": the record's header says it (here: ENVELOPE).
 */
#include <stdio.h>
#include <string.h>

#include <postonce/decode.h>

int main(int argc, char **argv)
{
        static char body[65536];
        static struct po_notification notifications[PO_NOTIFICATIONS_MAX];
        if (argc != 3)
                return 64;

        const struct po_header header = { "channel", "ENVELOPE", strlen("ENVELOPE") };
        const char *const profiles[] = { argv[1] };
        struct po_record record = { 0 };
        record.topic = "http";
        record.partition = -1;
        record.value = body;
        record.value_bytes = fread(body, 1, sizeof body, stdin);
        record.headers = &header;
        record.headers_count = 1;

        size_t count = 0;
        struct po_decoder *decoder;
        struct po_error error;
        const char *channel = strcmp(argv[2], "-") != 0 ? argv[2] : NULL;
        enum po_class kind = po_decoder_open(&decoder, ".", profiles, 1, &error);
        if (kind == PO_OK)
                kind = po_decode(decoder, &record, channel, notifications, PO_NOTIFICATIONS_MAX,
                                 &count, &error);
        po_decoder_close(decoder);
        if (kind != PO_OK) {
                printf("%s %s: %s\n", po_class_name(kind),
                       error.reason != NULL ? error.reason : "-", error.text);
                return 1;
        }
        for (size_t i = 0; i < count; i++)
                printf("%s %lld %s\n", notifications[i].key,
                       (long long)notifications[i].amount_minor, notifications[i].currency);
        return 0;
}
