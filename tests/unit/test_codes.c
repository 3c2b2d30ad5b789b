#include "kafka/codes.h"

#include <librdkafka/rdkafka.h>

#include "unit.h"

START_TEST(no_code_stands_twice_and_every_one_has_a_meaning)
{
        size_t count;
        const struct kafka_code *codes = kafka_codes(&count);
        ck_assert_uint_gt(count, 50);
        for (size_t i = 0; i < count; i++) {
                ck_assert_int_ne(codes[i].kind, PO_OK);
                ck_assert_int_eq(kafka_class(codes[i].code), codes[i].kind);
                ck_assert_str_eq(codes[i].name,
                                 rd_kafka_err2name((rd_kafka_resp_err_t)codes[i].code));
                ck_assert_uint_gt(strlen(codes[i].meaning), 3);
                for (size_t j = 0; j < i; j++)
                        ck_assert_int_ne(codes[i].code, codes[j].code);
        }
}
END_TEST

START_TEST(only_size_is_the_fault_of_a_record)
{
        size_t count;
        const struct kafka_code *codes = kafka_codes(&count);
        for (size_t i = 0; i < count; i++)
                if (codes[i].kind == PO_RECORD)
                        ck_assert(codes[i].code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
                                  codes[i].code == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE);
}
END_TEST

START_TEST(an_unknown_code_stops_intake_and_dead_letters_nothing)
{
        struct po_error error;
        ck_assert_int_eq(kafka_class(32000), PO_SYSTEMIC);
        ck_assert_int_eq(kafka_class(RD_KAFKA_RESP_ERR_NO_ERROR), PO_OK);
        ck_assert_int_eq(kafka_fail(&error, RD_KAFKA_RESP_ERR__TRANSPORT, "ask"), PO_TRANSIENT);
        ck_assert_int_eq(error.code, RD_KAFKA_RESP_ERR__TRANSPORT);
        unit_assert_in(error.text, "ask: ");
}
END_TEST

START_TEST(what_keeps_brokers_from_being_asked_has_its_mend)
{
        unit_assert_in(kafka_mend(RD_KAFKA_RESP_ERR__SSL), "ssl.ca.location");
        unit_assert_in(kafka_mend(RD_KAFKA_RESP_ERR__AUTHENTICATION), "sasl.password");
        unit_assert_in(kafka_mend(RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED), "sasl.mechanism");
        unit_assert_in(kafka_mend(RD_KAFKA_RESP_ERR__TRANSPORT), "security.protocol");
        ck_assert_str_eq(kafka_mend(RD_KAFKA_RESP_ERR_NO_ERROR), "");
}
END_TEST

UNIT_MAIN("codes", no_code_stands_twice_and_every_one_has_a_meaning,
          only_size_is_the_fault_of_a_record, an_unknown_code_stops_intake_and_dead_letters_nothing,
          what_keeps_brokers_from_being_asked_has_its_mend)
