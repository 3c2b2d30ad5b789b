/* What consumer and producer have in common: opening a handle, librdkafka's log as ours. */
#ifndef KAFKA_CLIENT_H
#define KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>

#include "postonce/error.h"

/* A configuration whose callbacks get opaque and whose log lines become ours. */
rd_kafka_conf_t *client_conf_new(void *opaque);
void client_conf_free(rd_kafka_conf_t **conf); /* for CLEANUP */

void client_list_free(rd_kafka_topic_partition_list_t **list); /* for CLEANUP; takes NULL */

/* Takes *conf over when it succeeds (and leaves NULL there). SYSTEMIC: librdkafka's words. */
PO_MUST_USE enum po_class client_new(rd_kafka_t **client_out, rd_kafka_type_t type,
                                     rd_kafka_conf_t **conf, struct po_error *error);

#endif
