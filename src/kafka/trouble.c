#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "kafka/client.h"
#include "kafka/codes.h"
#include "kafka/source_internal.h"

enum { PROBE_EVERY_MS = 1000, PROBE_WAIT_MS = 500, REASON_BYTES = 2 * PO_ERROR_TEXT_BYTES };

/* Of two troubles the one that a person must mend stays; a fatal one stays for good. */
void trouble_note(struct source *source, int code, const char *text)
{
        enum po_class kind = kafka_class(code);
        struct po_error *trouble = &source->trouble;
        if (source->fatal || (trouble->kind == PO_SYSTEMIC && kind != PO_SYSTEMIC))
                return;
        bool news = trouble->kind != kind || trouble->code != code;
        if (trouble->kind == PO_OK)
                source->next_probe_ms = clock_ms() + PROBE_EVERY_MS;
        po_fail(trouble, kind, code, "kafka: %s", text);
        source->fatal =
                code == RD_KAFKA_RESP_ERR__FATAL || code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
        if (news)
                log_failure(kind == PO_SYSTEMIC ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN, "kafka_trouble",
                            trouble);
}

void trouble_clear(struct source *source)
{
        if (source->trouble.kind == PO_OK || source->fatal)
                return;
        log_info("kafka_recovered", "code=%d", source->trouble.code);
        source->trouble = (struct po_error){ 0 };
}

void trouble_probe(struct source *source, int64_t now_ms)
{
        bool asks = source->trouble.kind != PO_OK || source->suspected;
        if (!asks || source->fatal || now_ms < source->next_probe_ms)
                return;
        char text[REASON_BYTES];
        const char *culprit;
        CLEANUP(client_list_free)
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_resp_err_t code = subscription_read(source, list, PROBE_WAIT_MS, &culprit);
        snprintf(text, sizeof text, "topic %s: %s", culprit, rd_kafka_err2str(code));
        /* The right to read the group, which fetching alone does not show. Only now: the question
           waits behind a rebalance that is under way. */
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR && list->cnt > 0 &&
            source->trouble.code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) {
                code = offsets_read(source, list, PROBE_WAIT_MS);
                snprintf(text, sizeof text, "group: %s", rd_kafka_err2str(code));
        }
        source->next_probe_ms = clock_ms() + PROBE_EVERY_MS;
        source->suspected = code != RD_KAFKA_RESP_ERR_NO_ERROR;
        /* An answer, even "no such topic", says more than the failed login before it. */
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                trouble_clear(source);
        else if (kafka_class(code) == PO_SYSTEMIC || source->trouble.kind == PO_OK)
                trouble_note(source, code, text);
}

/*
 * A connection broke. librdkafka says when the last one did, but not always: it counts brokers, of
 * which the group's coordinator is one that loses its address meanwhile (2.0.2). So the brokers are
 * asked.
 */
static void suspect(struct source *source)
{
        if (source->suspected || source->trouble.kind != PO_OK)
                return;
        source->suspected = true;
        source->next_probe_ms = clock_ms() + PROBE_EVERY_MS;
}

/*
 * Errors of the client, on the polling thread. One broker of several being away is no trouble: only
 * all of them are, and what no retry mends.
 */
void trouble_hear(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
        struct source *source = opaque;
        char text[REASON_BYTES];
        if (code == RD_KAFKA_RESP_ERR__FATAL) {
                rd_kafka_resp_err_t cause = rd_kafka_fatal_error(client, text, sizeof text);
                trouble_note(source, code, text);
                log_error("kafka_fatal", "cause=%s", rd_kafka_err2name(cause));
                return;
        }
        if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || kafka_class(code) == PO_SYSTEMIC) {
                trouble_note(source, code, reason);
                return;
        }
        if (kafka_class(code) == PO_TRANSIENT)
                suspect(source);
        char quoted[REASON_BYTES];
        log_event(code == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
                  "kafka_error", "code=%s reason=%s", rd_kafka_err2name((rd_kafka_resp_err_t)code),
                  log_quote(quoted, sizeof quoted, reason));
}
