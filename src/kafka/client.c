#include "kafka/client.h"

#include <syslog.h>

#include "base/log.h"

enum { CLIENT_TEXT_BYTES = 512, QUOTED_BYTES = 2 * CLIENT_TEXT_BYTES };

/* librdkafka's own threads speak here; log_event() may be called from any. */
static void client_log(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
        (void)client;
        char quoted[QUOTED_BYTES];
        enum log_level ours = LOG_LEVEL_DEBUG;
        if (level <= LOG_ERR)
                ours = LOG_LEVEL_ERROR;
        else if (level <= LOG_WARNING)
                ours = LOG_LEVEL_WARN;
        else if (level <= LOG_INFO)
                ours = LOG_LEVEL_INFO;
        log_event(ours, "librdkafka", "facility=%s text=%s", facility,
                  log_quote(quoted, sizeof quoted, text));
}

rd_kafka_conf_t *client_conf_new(void *opaque)
{
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        rd_kafka_conf_set_opaque(conf, opaque);
        rd_kafka_conf_set_log_cb(conf, client_log);
        return conf;
}

void client_conf_free(rd_kafka_conf_t **conf)
{
        if (*conf != NULL)
                rd_kafka_conf_destroy(*conf);
}

/* Every list is freed before the client closes: librdkafka waits for them. */
void client_list_free(rd_kafka_topic_partition_list_t **list)
{
        if (*list != NULL)
                rd_kafka_topic_partition_list_destroy(*list);
}

enum po_class client_new(rd_kafka_t **client_out, rd_kafka_type_t type, rd_kafka_conf_t **conf,
                         struct po_error *error)
{
        char text[CLIENT_TEXT_BYTES];
        *client_out = rd_kafka_new(type, *conf, text, sizeof text);
        if (*client_out == NULL)
                return po_fail(error, PO_SYSTEMIC, rd_kafka_last_error(), "kafka: %s", text);
        *conf = NULL; /* librdkafka's from here on */
        return PO_OK;
}
