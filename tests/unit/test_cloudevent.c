#include "unit.h"

#include "channel/cloudevent.h"

static const struct charset_map by_field = { .field = "charset",
                                             .fallback = CHARSET_UTF8,
                                             .needs_converter = true };
static struct body_parser *parser;
static struct record_header headers[8];
static size_t headers_count;
static struct json_object *root;
static struct po_error error;

static void header(const char *name, const char *value)
{
        headers[headers_count++] = (struct record_header){ name, value, strlen(value) };
}

static enum po_class read_event(const char *value)
{
        const struct record record = { .value = value,
                                       .value_bytes = strlen(value),
                                       .headers = headers,
                                       .headers_count = headers_count };
        if (parser == NULL)
                ck_assert_int_eq(body_open(&parser, true, &error), PO_OK);
        error.reason = "none";
        return cloudevent_read(parser, &by_field, &record, &root, &error);
}

static void assert_tree(const char *value, const char *expected)
{
        enum po_class kind = read_event(value);
        ck_assert_msg(kind == PO_OK, "%s: %s", value, error.text);
        ck_assert_str_eq(json_object_to_json_string_ext(root, JSON_C_TO_STRING_NOSLASHESCAPE), expected);
        json_object_put(root);
}

static void assert_refused(const char *value, const char *reason)
{
        enum po_class kind = read_event(value);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s", value,
                      error.reason);
}

#define HEAD "\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/s\",\"type\":\"t\""

static void binary_setup(const char *content_type)
{
        headers_count = 0;
        header("ce_specversion", "1.0");
        header("ce_id", "1");
        header("ce_source", "/s");
        header("ce_type", "t");
        if (content_type != NULL)
                header("content-type", content_type);
}

START_TEST(both_modes_give_the_same_tree)
{
        static const char tree[] = "{" HEAD ",\"data\":{\"a\":1}}";
        header("content-type", "Application/CloudEvents+JSON; charset=UTF-8");
        assert_tree(tree, tree);
        binary_setup("application/json; charset=utf-8");
        assert_tree("{\"a\":1}", tree);
        binary_setup(NULL);
        header("other", "x");
        assert_tree("{\"a\":1}", tree);
}
END_TEST

START_TEST(data_in_base64_is_parsed_by_its_type)
{
        header("content-type", "application/cloudevents+json");
        assert_tree("{" HEAD ",\"data_base64\":\"eyJhIjoxfQ==\"}",
                    "{" HEAD ",\"data_base64\":\"eyJhIjoxfQ==\",\"data\":{\"a\":1}}");
        ck_assert_int_eq(read_event("{" HEAD ",\"datacontenttype\":"
                                    "\"application/x-www-form-urlencoded\","
                                    "\"data_base64\":\"cz0lQ0MlQzMmY2hhcnNldD1HQks=\"}"),
                         PO_OK);
        struct json_object *data, *text;
        ck_assert(json_object_object_get_ex(root, "data", &data));
        ck_assert(json_object_object_get_ex(data, "s", &text));
        ck_assert_str_eq(json_object_get_string(text), "\xE5\xA0\x82");
        json_object_put(root);
}
END_TEST

START_TEST(data_that_is_a_text_of_another_type_is_parsed_by_that_type)
{
        header("content-type", "application/cloudevents");
        assert_tree("{" HEAD ",\"datacontenttype\":\"text/xml\",\"data\":\"<x><a>1</a></x>\"}",
                    "{" HEAD ",\"datacontenttype\":\"text/xml\",\"data\":{\"a\":\"1\"}}");
        assert_tree("{" HEAD ",\"datacontenttype\":\"text/json\",\"data\":\"{}\"}",
                    "{" HEAD ",\"datacontenttype\":\"text/json\",\"data\":\"{}\"}");
        binary_setup("application/vnd.bank+xml");
        assert_tree("<x><a>1</a></x>", "{" HEAD ",\"data\":{\"a\":\"1\"}}");
        binary_setup("application/x-www-form-urlencoded");
        assert_tree("a=1", "{" HEAD ",\"data\":{\"a\":\"1\"}}");
}
END_TEST

START_TEST(an_event_without_data_is_an_event)
{
        header("content-type", "application/cloudevents+json");
        assert_tree("{" HEAD "}", "{" HEAD "}");
}
END_TEST

START_TEST(what_is_no_cloudevent_is_refused)
{
        assert_refused("{" HEAD "}", "NOT_A_CLOUDEVENT");
        header("content-type", "application/cloudevents-batch+json");
        assert_refused("[{" HEAD "}]", "CONTENT_TYPE_UNKNOWN");
        headers_count = 0;
        header("content-type", "application/cloudevents+avro");
        assert_refused("{" HEAD "}", "CONTENT_TYPE_UNKNOWN");
        binary_setup("application/octet-stream");
        assert_refused("{}", "CONTENT_TYPE_UNKNOWN");
}
END_TEST

START_TEST(a_broken_event_is_refused)
{
        header("content-type", "application/cloudevents+json");
        assert_refused("[1]", "CLOUDEVENT_MALFORMED");
        assert_refused("{\"specversion\":\"0.3\"}", "CLOUDEVENT_MALFORMED");
        assert_refused("{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"\",\"type\":\"t\"}",
                       "CLOUDEVENT_MALFORMED");
        unit_assert_in(error.text, "source");
        assert_refused("{" HEAD ",\"data\":{},\"data_base64\":\"\"}", "CLOUDEVENT_MALFORMED");
        assert_refused("{" HEAD ",\"data_base64\":\"!\"}", "CLOUDEVENT_MALFORMED");
        assert_refused("{" HEAD ",\"data_base64\":1}", "CLOUDEVENT_MALFORMED");
        assert_refused("{" HEAD ",\"data_base64\":\"eyJhIjox\"}", "TRUNCATED_JSON");
        assert_refused("{" HEAD, "TRUNCATED_JSON");
}
END_TEST

START_TEST(a_header_cannot_stand_in_for_the_data)
{
        binary_setup("application/json");
        header("ce_data", "forged");
        assert_tree("{\"a\":1}", "{" HEAD ",\"data\":{\"a\":1}}");
        assert_refused("", "TRUNCATED_JSON");
}
END_TEST

UNIT_MAIN("cloudevent", both_modes_give_the_same_tree, data_in_base64_is_parsed_by_its_type,
          data_that_is_a_text_of_another_type_is_parsed_by_that_type,
          an_event_without_data_is_an_event, what_is_no_cloudevent_is_refused,
          a_broken_event_is_refused, a_header_cannot_stand_in_for_the_data)
