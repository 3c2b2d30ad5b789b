/* Named bounds. What is sized at open is sized from these. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
        BATCH_RECORDS_MAX = 5000,          /* upper bound of batch.max_records */
        NOTIFICATIONS_PER_RECORD_MAX = 64, /* a channel's largest batch is well below */
        RESULT_BYTES = 160,                /* outcome.result_json */
        STATUS_BYTES = 33,                 /* order states: [A-Z_]{1,32} */
        ACCOUNT_CODE_BYTES = 129,          /* account.code */
        RULE_STATES_MAX = 16,              /* states named by one list of an event rule */
        RULE_LINES_MAX = 8,                /* posting lines of one event rule */
        TOPIC_BYTES = 250,                 /* Kafka's own limit is 249 */
        JSON_DEPTH_MAX = 32,
        PARK_DELAYS_MAX = 16, /* of park.delays */
        REDRIVE_ROWS_MAX = 100, /* parked notifications that one worker tries at once */
        VALUE_BYTES_MAX = 16 * 1024 * 1024, /* larger records are refused before they are parsed */
};

#endif
