#include "kafka/codes.h"

#include <librdkafka/rdkafka.h>

#define CODE(symbol, kind, meaning)                                                                \
        {                                                                                          \
                RD_KAFKA_RESP_ERR_##symbol, #symbol, kind, meaning                                 \
        }

static const struct kafka_code codes[] = {
        /* The way to the brokers. */
        CODE(_ALL_BROKERS_DOWN, PO_TRANSIENT, "no broker can be reached"),
        CODE(_TRANSPORT, PO_TRANSIENT, "the connection to a broker broke"),
        CODE(_RESOLVE, PO_TRANSIENT, "a broker's name does not resolve"),
        CODE(_TIMED_OUT, PO_TRANSIENT, "no answer in time"),
        CODE(_TIMED_OUT_QUEUE, PO_TRANSIENT, "no answer in time, the request was never sent"),
        CODE(_MSG_TIMED_OUT, PO_TRANSIENT, "no acknowledgement in time; it may still arrive"),
        CODE(_QUEUE_FULL, PO_TRANSIENT, "the producer's queue is full"),
        CODE(_RETRY, PO_TRANSIENT, "the client asks for another try"),
        CODE(_WAIT_CACHE, PO_TRANSIENT, "metadata is not there yet"),
        CODE(_NODE_UPDATE, PO_TRANSIENT, "the broker's address changed"),
        CODE(_INTR, PO_TRANSIENT, "interrupted"),
        CODE(_PURGE_QUEUE, PO_TRANSIENT, "dropped before it was sent"),
        CODE(_PURGE_INFLIGHT, PO_TRANSIENT, "dropped while in flight; it may still arrive"),
        CODE(_DESTROY, PO_TRANSIENT, "the client is closing"),
        CODE(_FAIL, PO_TRANSIENT, "the client failed for once"),
        CODE(_PREV_IN_PROGRESS, PO_TRANSIENT, "an earlier call is still under way"),
        CODE(_IN_PROGRESS, PO_TRANSIENT, "still under way"),
        CODE(_OUTDATED, PO_TRANSIENT, "overtaken by a newer state"),
        CODE(_STATE, PO_TRANSIENT, "not in this state; a rebalance is under way"),
        /* Brokers and leaders that are being moved or are behind. */
        CODE(LEADER_NOT_AVAILABLE, PO_TRANSIENT, "a leader is being elected"),
        CODE(NOT_LEADER_FOR_PARTITION, PO_TRANSIENT, "the leader moved"),
        CODE(REQUEST_TIMED_OUT, PO_TRANSIENT, "the broker gave up in time"),
        CODE(BROKER_NOT_AVAILABLE, PO_TRANSIENT, "the broker is away"),
        CODE(REPLICA_NOT_AVAILABLE, PO_TRANSIENT, "the replica is away"),
        CODE(NETWORK_EXCEPTION, PO_TRANSIENT, "the broker lost the connection"),
        CODE(NOT_ENOUGH_REPLICAS, PO_TRANSIENT, "too few replicas in sync"),
        CODE(NOT_ENOUGH_REPLICAS_AFTER_APPEND, PO_TRANSIENT, "written, too few replicas in sync"),
        CODE(FENCED_LEADER_EPOCH, PO_TRANSIENT, "the leader changed"),
        CODE(UNKNOWN_LEADER_EPOCH, PO_TRANSIENT, "the broker is behind"),
        CODE(OFFSET_NOT_AVAILABLE, PO_TRANSIENT, "the leader is catching up"),
        CODE(KAFKA_STORAGE_ERROR, PO_TRANSIENT, "the broker's disk failed; another takes over"),
        CODE(THROTTLING_QUOTA_EXCEEDED, PO_TRANSIENT, "over quota"),
        CODE(UNKNOWN, PO_TRANSIENT, "the broker met something unexpected"),
        /* The group. */
        CODE(_WAIT_COORD, PO_TRANSIENT, "waiting for the group's coordinator"),
        CODE(COORDINATOR_LOAD_IN_PROGRESS, PO_TRANSIENT, "the coordinator is starting"),
        CODE(COORDINATOR_NOT_AVAILABLE, PO_TRANSIENT, "the coordinator is away"),
        CODE(NOT_COORDINATOR, PO_TRANSIENT, "the coordinator moved"),
        CODE(ILLEGAL_GENERATION, PO_TRANSIENT, "the group went on without us; joining again"),
        CODE(UNKNOWN_MEMBER_ID, PO_TRANSIENT, "the group forgot us; joining again"),
        CODE(REBALANCE_IN_PROGRESS, PO_TRANSIENT, "a rebalance is under way"),
        CODE(MEMBER_ID_REQUIRED, PO_TRANSIENT, "joining in two steps"),
        CODE(UNSTABLE_OFFSET_COMMIT, PO_TRANSIENT, "a transaction holds the group's offsets"),
        CODE(_ASSIGNMENT_LOST, PO_TRANSIENT, "the partitions are another member's by now"),
        CODE(_MAX_POLL_EXCEEDED, PO_TRANSIENT, "polled too late; the partitions were given away"),
        CODE(_NO_OFFSET, PO_TRANSIENT, "nothing to commit"),
        /* Bytes that cannot be read: fetched again, the partition does not pass. */
        CODE(_BAD_MSG, PO_TRANSIENT, "a batch failed its checksum or cannot be read"),
        CODE(_BAD_COMPRESSION, PO_TRANSIENT, "a batch cannot be decompressed"),
        CODE(_UNDERFLOW, PO_TRANSIENT, "a batch is cut short"),
        CODE(INVALID_MSG, PO_TRANSIENT, "the broker found a batch corrupt"),
        /* What only a person mends. */
        CODE(_FATAL, PO_SYSTEMIC, "the client cannot go on"),
        CODE(_AUTHENTICATION, PO_SYSTEMIC, "the broker refuses the login"),
        CODE(_SSL, PO_SYSTEMIC, "TLS cannot be set up"),
        CODE(_INVALID_ARG, PO_SYSTEMIC, "a wrong argument or property"),
        CODE(_UNKNOWN_TOPIC, PO_SYSTEMIC, "the topic does not exist"),
        CODE(_UNKNOWN_PARTITION, PO_SYSTEMIC, "the partition does not exist"),
        CODE(_UNSUPPORTED_FEATURE, PO_SYSTEMIC, "the broker is too old"),
        CODE(_NOT_IMPLEMENTED, PO_SYSTEMIC, "librdkafka cannot do this"),
        CODE(_AUTO_OFFSET_RESET, PO_SYSTEMIC, "the committed offset is not in the log any more"),
        CODE(_INCONSISTENT, PO_SYSTEMIC, "the broker's answer contradicts itself"),
        CODE(_FENCED, PO_SYSTEMIC, "another instance took this one's place"),
        CODE(UNKNOWN_TOPIC_OR_PART, PO_SYSTEMIC, "the topic or partition does not exist"),
        CODE(TOPIC_EXCEPTION, PO_SYSTEMIC, "the topic's name is not allowed"),
        CODE(INVALID_REQUIRED_ACKS, PO_SYSTEMIC, "acks=all is not accepted"),
        CODE(OFFSET_OUT_OF_RANGE, PO_SYSTEMIC, "the offset is not in the log"),
        CODE(TOPIC_AUTHORIZATION_FAILED, PO_SYSTEMIC, "no right on the topic"),
        CODE(GROUP_AUTHORIZATION_FAILED, PO_SYSTEMIC, "no right on the group"),
        CODE(CLUSTER_AUTHORIZATION_FAILED, PO_SYSTEMIC, "no right on the cluster"),
        CODE(SASL_AUTHENTICATION_FAILED, PO_SYSTEMIC, "the broker refuses the login"),
        CODE(UNSUPPORTED_SASL_MECHANISM, PO_SYSTEMIC, "the broker knows no such login"),
        CODE(UNSUPPORTED_VERSION, PO_SYSTEMIC, "the broker is too old"),
        CODE(INVALID_GROUP_ID, PO_SYSTEMIC, "the group's name is not allowed"),
        CODE(INVALID_SESSION_TIMEOUT, PO_SYSTEMIC, "session.timeout.ms is outside the broker's"),
        CODE(INCONSISTENT_GROUP_PROTOCOL, PO_SYSTEMIC, "the group's members use other assignors"),
        CODE(GROUP_MAX_SIZE_REACHED, PO_SYSTEMIC, "the group is full"),
        CODE(FENCED_INSTANCE_ID, PO_SYSTEMIC, "another worker has the same group.instance.id"),
        CODE(UNSUPPORTED_COMPRESSION_TYPE, PO_SYSTEMIC, "the codec is unknown to one side"),
        CODE(INVALID_RECORD, PO_SYSTEMIC, "refused by the topic (compacted, and no key?)"),
        CODE(INVALID_TIMESTAMP, PO_SYSTEMIC, "outside the topic's bounds for timestamps"),
        CODE(POLICY_VIOLATION, PO_SYSTEMIC, "the broker's policy forbids it"),
        CODE(OUT_OF_ORDER_SEQUENCE_NUMBER, PO_TRANSIENT, "the producer must be opened again"),
        CODE(UNKNOWN_PRODUCER_ID, PO_TRANSIENT, "the producer must be opened again"),
        CODE(INVALID_PRODUCER_EPOCH, PO_TRANSIENT, "the producer must be opened again"),
        /* Transactions. */
        CODE(CONCURRENT_TRANSACTIONS, PO_TRANSIENT, "the transaction before is still ending"),
        CODE(TRANSACTION_COORDINATOR_FENCED, PO_TRANSIENT, "the coordinator moved"),
        CODE(INVALID_TXN_STATE, PO_TRANSIENT, "the producer must be opened again"),
        CODE(INVALID_PRODUCER_ID_MAPPING, PO_TRANSIENT, "the producer must be opened again"),
        CODE(PRODUCER_FENCED, PO_SYSTEMIC, "another producer took this one's place"),
        CODE(TRANSACTIONAL_ID_AUTHORIZATION_FAILED, PO_SYSTEMIC,
             "no right on the transactional id"),
        CODE(INVALID_TRANSACTION_TIMEOUT, PO_SYSTEMIC,
             "transaction.timeout.ms is outside the broker's"),
        /* The one record. */
        CODE(MSG_SIZE_TOO_LARGE, PO_RECORD, "larger than the topic takes"),
        CODE(RECORD_LIST_TOO_LARGE, PO_RECORD, "larger than a segment of the topic"),
};
enum { CODES = sizeof codes / sizeof codes[0] };

const struct kafka_code *kafka_codes(size_t *count_out)
{
        *count_out = CODES;
        return codes;
}

enum po_class kafka_class(int code)
{
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
                return PO_OK;
        for (size_t i = 0; i < CODES; i++) {
                if (codes[i].code == code)
                        return codes[i].kind;
        }
        return PO_SYSTEMIC;
}

const char *kafka_mend(int code)
{
        switch (code) {
        case RD_KAFKA_RESP_ERR__SSL:
                return "mend kafka.ssl.ca.location: the brokers' certificate must be by that "
                       "authority and for the name in bootstrap.servers";
        case RD_KAFKA_RESP_ERR__AUTHENTICATION:
        case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
                return "mend kafka.sasl.username, sasl.password and sasl.mechanism";
        case RD_KAFKA_RESP_ERR__TRANSPORT:
        case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        case RD_KAFKA_RESP_ERR__TIMED_OUT:
                return "start the brokers, or mend kafka.bootstrap.servers and security.protocol";
        default:
                return "";
        }
}

enum po_class kafka_fail(struct po_error *error, int code, const char *context)
{
        return po_fail(error, kafka_class(code), code, "%s: %s", context,
                       rd_kafka_err2str((rd_kafka_resp_err_t)code));
}
