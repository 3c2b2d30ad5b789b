/*
 * librdkafka's codes and what postonce must do next: the one table of src/kafka.
 *
 * A code that the table does not know is SYSTEMIC: intake stops and is probed until it works
 * again. It is never RECORD, so nothing is dead-lettered because of an error that nobody thought
 * of.
 */
#ifndef KAFKA_CODES_H
#define KAFKA_CODES_H

#include <stddef.h>

#include "postonce/error.h"

struct kafka_code {
        int code;         /* rd_kafka_resp_err_t; negative ones are the client's own */
        const char *name; /* as librdkafka spells it, without the prefix */
        enum po_class kind;
        const char *meaning; /* what happened, for `check --errors` */
};

/* The whole table, static. */
const struct kafka_code *kafka_codes(size_t *count_out);

/* 0 is OK. */
enum po_class kafka_class(int code);

/* What a person mends where no broker could be asked, naming the options; "" where nothing is
 * known. */
const char *kafka_mend(int code);

/* Fills *error with the code's class and "context: librdkafka's words"; returns the class. */
enum po_class kafka_fail(struct po_error *error, int code, const char *context);

#endif
