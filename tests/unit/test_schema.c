/* Tables of fields: what is read, what is refused and where, what help prints. */
#include "config/schema.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct tls {
        const char *ca;
        int64_t depth;
};

struct server {
        const char *user;
        const char *password;
        int64_t port;
        char log[6];
        bool verbose;
        int64_t wait_ms;
        struct tls tls;
        int64_t delays_ms[4];
        size_t delays;
};

static enum po_class read_delays(const struct node *node, const struct field *field, void *target,
                                 struct po_error *error)
{
        int64_t *delays_ms = target;
        ck_assert_str_eq(field->name, "delays");
        for (size_t i = 0; i < node_count(node); i++) {
                enum po_class kind =
                        schema_duration(node_at(node, i), 1, 86400000, &delays_ms[i], error);
                if (kind != PO_OK)
                        return kind;
        }
        return PO_OK;
}

static const char *const levels[] = { "info", "debug", "error", NULL };

static const struct field tls_fields[] = {
        { .name = "ca", .kind = FIELD_TEXT, .offset = offsetof(struct tls, ca), .required = true },
        { .name = "depth",
          .kind = FIELD_INTEGER,
          .offset = offsetof(struct tls, depth),
          .min = -1,
          .max = 9,
          .fallback = "3" },
        { 0 },
};

static const struct field fields[] = {
        { .name = "user",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct server, user),
          .required = true,
          .help = "who logs in" },
        { .name = "password",
          .kind = FIELD_TEXT,
          .offset = offsetof(struct server, password),
          .secret = true,
          .fallback = "swordfish" },
        { .name = "port",
          .kind = FIELD_INTEGER,
          .offset = offsetof(struct server, port),
          .min = 1,
          .max = 65535,
          .unit = "(TCP)",
          .fallback = "3306",
          .help = "where it listens" },
        { .name = "log",
          .kind = FIELD_WORD,
          .offset = offsetof(struct server, log),
          .size = sizeof((struct server *)0)->log,
          .words = levels,
          .fallback = "info" },
        { .name = "verbose", .kind = FIELD_BOOLEAN, .offset = offsetof(struct server, verbose) },
        { .name = "wait",
          .kind = FIELD_DURATION,
          .offset = offsetof(struct server, wait_ms),
          .min = 250,
          .max = 3600000,
          .fallback = "90s" },
        { .name = "tls",
          .kind = FIELD_SECTION,
          .offset = offsetof(struct server, tls),
          .section = tls_fields },
        { .name = "delays",
          .kind = FIELD_CUSTOM,
          .offset = offsetof(struct server, delays_ms),
          .reader = read_delays,
          .fallback = "[5s, 30s]" },
        { 0 },
};

static char folder[1024];
static struct dirent **files;
static int files_count;

static struct document *parse(const char *text)
{
        struct document *document;
        struct po_error error = { 0 };
        enum po_class kind = document_parse(&document, "t.yaml", text, strlen(text), &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
        return document;
}

static struct document *read_server(const char *text, struct server *server)
{
        struct document *document = parse(text);
        struct po_error error = { 0 };
        memset(server, 0, sizeof *server);
        enum po_class kind = schema_read(document_root(document), fields, server, &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
        return document;
}

static int is_case(const struct dirent *entry)
{
        const char *dot = strrchr(entry->d_name, '.');
        return dot != NULL && strcmp(dot, ".yaml") == 0;
}

START_TEST(every_bad_file_is_refused_where_its_expectation_says)
{
        char path[2048], expected[PO_ERROR_TEXT_BYTES] = "";
        struct po_error error = { 0 };
        struct document *document;
        struct server server = { 0 };

        unsetenv("POSTONCE_TEST_UNSET");
        snprintf(path, sizeof path, "%s/%s", folder, files[_i]->d_name);
        ck_assert_msg(document_load(&document, path, &error) == PO_OK, "%s", error.text);
        ck_assert_int_eq(schema_read(document_root(document), fields, &server, &error),
                         PO_SYSTEMIC);
        document_close(document);

        snprintf(path, sizeof path, "%s/%.*sexpect", folder,
                 (int)(strlen(files[_i]->d_name) - strlen("yaml")), files[_i]->d_name);
        FILE *file = fopen(path, "r");
        ck_assert_msg(file != NULL, "%s is missing", path);
        ck_assert_ptr_nonnull(fgets(expected, sizeof expected, file));
        fclose(file);
        expected[strcspn(expected, "\n")] = '\0';
        ck_assert_str_eq(error.text + strlen(folder) + 1, expected);
}
END_TEST

START_TEST(every_member_lands_in_its_place)
{
        struct server server;
        struct document *document = read_server("user: root\n"
                                                "password: 'a b'\n"
                                                "port: 3307\n"
                                                "log: debug\n"
                                                "verbose: true\n"
                                                "wait: 2m\n"
                                                "tls: { ca: /etc/ca.pem, depth: -1 }\n"
                                                "delays: [1s, 250ms, 1h]\n",
                                                &server);
        ck_assert_str_eq(server.user, "root");
        ck_assert_str_eq(server.password, "a b");
        ck_assert_int_eq(server.port, 3307);
        ck_assert_str_eq(server.log, "debug");
        ck_assert(server.verbose);
        ck_assert_int_eq(server.wait_ms, 120000);
        ck_assert_str_eq(server.tls.ca, "/etc/ca.pem");
        ck_assert_int_eq(server.tls.depth, -1);
        ck_assert_int_eq(server.delays_ms[0], 1000);
        ck_assert_int_eq(server.delays_ms[1], 250);
        ck_assert_int_eq(server.delays_ms[2], 3600000);
        document_close(document);
}
END_TEST

START_TEST(absent_members_get_their_defaults)
{
        struct server server;
        struct document *document = read_server("user: root", &server);
        ck_assert_str_eq(server.password, "swordfish");
        ck_assert_int_eq(server.port, 3306);
        ck_assert_str_eq(server.log, "info");
        ck_assert_int_eq(server.wait_ms, 90000);
        ck_assert_int_eq(server.delays_ms[0], 5000);
        ck_assert_int_eq(server.delays_ms[1], 30000);
        document_close(document);
}
END_TEST

START_TEST(an_absent_member_without_a_default_is_left_alone)
{
        struct server server;
        struct document *document = read_server("user: root", &server);
        ck_assert(!server.verbose);
        document_close(document);
}
END_TEST

START_TEST(an_absent_section_gets_its_defaults_and_asks_for_nothing)
{
        struct server server;
        struct document *document = read_server("user: root", &server);
        ck_assert_ptr_null(server.tls.ca);
        ck_assert_int_eq(server.tls.depth, 3);
        document_close(document);
}
END_TEST

START_TEST(a_required_section_is_asked_for)
{
        const struct field required[] = {
                { .name = "tls", .kind = FIELD_SECTION, .section = tls_fields, .required = true },
                { 0 },
        };
        struct tls tls = { 0 };
        struct po_error error = { 0 };
        struct document *document = parse("{}");
        ck_assert_int_eq(schema_read(document_root(document), required, &tls, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t.yaml:1:1: required member \"tls\" is missing");
        document_close(document);
}
END_TEST

START_TEST(a_wrong_default_is_named)
{
        const struct field wrong[] = {
                { .name = "port", .kind = FIELD_INTEGER, .min = 1, .max = 9, .fallback = "10" },
                { 0 },
        };
        int64_t port;
        struct po_error error = { 0 };
        struct document *document = parse("{}");
        ck_assert_int_eq(schema_read(document_root(document), wrong, &port, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text,
                         "(default of port):1:1: port: \"10\" is out of range; allowed: 1 to 9");
        document_close(document);
}
END_TEST

START_TEST(a_variable_fills_a_member_of_any_kind)
{
        struct server server;
        setenv("POSTONCE_TEST_USER", "li", 1);
        setenv("POSTONCE_TEST_PORT", "3308", 1);
        setenv("POSTONCE_TEST_TRUE", "true", 1);
        struct document *document = read_server("{ user: \"${env:POSTONCE_TEST_USER}\","
                                                "  port: \"${env:POSTONCE_TEST_PORT}\","
                                                "  verbose: \"${env:POSTONCE_TEST_TRUE}\" }",
                                                &server);
        ck_assert_str_eq(server.user, "li");
        ck_assert_int_eq(server.port, 3308);
        ck_assert(server.verbose);
        document_close(document);
}
END_TEST

static enum po_class read_words(const char *text, bool single_allowed, char array[3][5],
                                size_t *count_out, struct po_error *error)
{
        struct document *document = parse(text);
        enum po_class kind = schema_words(document_root(document), single_allowed, array, 5, 3,
                                          count_out, error);
        document_close(document);
        return kind;
}

START_TEST(a_list_of_words_fills_an_array)
{
        char array[3][5];
        size_t count;
        struct po_error error = { 0 };
        ck_assert_int_eq(read_words("[PAID, a, \"b\"]", false, array, &count, &error), PO_OK);
        ck_assert_uint_eq(count, 3);
        ck_assert_str_eq(array[0], "PAID");
        ck_assert_str_eq(array[1], "a");
        ck_assert_str_eq(array[2], "b");
        ck_assert_int_eq(read_words("[]", false, array, &count, &error), PO_OK);
        ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(a_single_word_is_a_list_only_where_that_is_allowed)
{
        char array[3][5];
        size_t count;
        struct po_error error = { 0 };
        ck_assert_int_eq(read_words("PAID", true, array, &count, &error), PO_OK);
        ck_assert_uint_eq(count, 1);
        ck_assert_str_eq(array[0], "PAID");
        ck_assert_int_eq(read_words("PAID", false, array, &count, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t.yaml:1:1: must be a list of words");
        ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(a_bad_list_of_words_is_refused_at_its_word)
{
        char array[3][5];
        size_t count;
        struct po_error error = { 0 };
        ck_assert_int_eq(read_words("[a, b, a]", false, array, &count, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t.yaml:1:8: \"a\" stands in the list already");
        ck_assert_int_eq(read_words("[a, bcdef]", false, array, &count, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t.yaml:1:5: 5 bytes long; at most 4 are allowed");
        ck_assert_int_eq(read_words("[a, b, c, d]", false, array, &count, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t.yaml:1:1: 4 words; at most 3 are allowed");
        ck_assert_int_eq(read_words("[a, [b]]", false, array, &count, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t.yaml:1:5: must be one value, not a list");
        ck_assert_int_eq(read_words("{ a: b }", true, array, &count, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t.yaml:1:1: must be a list of words");
}
END_TEST

static char *help(int indent)
{
        char *text = NULL;
        size_t text_bytes;
        FILE *stream = open_memstream(&text, &text_bytes);
        ck_assert_ptr_nonnull(stream);
        schema_help(fields, indent, stream);
        fclose(stream);
        return text;
}

START_TEST(help_prints_a_line_a_member_with_default_and_range)
{
        char *text = help(0);
        ck_assert_str_eq(text, "user:                                # required: who logs in\n"
                               "# password:\n"
                               "port: 3306                           # where it listens"
                               " (1 to 65535 (TCP))\n"
                               "log: info                            # (info | debug | error)\n"
                               "# verbose:\n"
                               "wait: 90s                            # (250ms to 1h)\n"
                               "# tls:\n"
                               "  # ca:                              # required\n"
                               "  # depth: 3                         # (-1 to 9)\n"
                               "delays: [5s, 30s]\n");
        free(text);
}
END_TEST

START_TEST(help_is_indented_as_asked)
{
        char *text = help(4);
        ck_assert_int_eq(strncmp(text, "    user:", 9), 0);
        ck_assert_ptr_nonnull(strstr(text, "\n      # ca:"));
        free(text);
}
END_TEST

START_TEST(help_never_prints_the_default_of_a_secret)
{
        char *text = help(0);
        ck_assert_ptr_null(strstr(text, "swordfish"));
        free(text);
}
END_TEST

START_TEST(help_is_a_configuration_once_the_required_members_are_filled_in)
{
        char *text = help(0), filled[4096];
        ck_assert_int_eq(strncmp(text, "user: ", 6), 0);
        snprintf(filled, sizeof filled, "user: a %s", text + 6);
        struct server from_help, from_nothing;
        struct document *one = read_server(filled, &from_help);
        struct document *other = read_server("user: a", &from_nothing);
        ck_assert_int_eq(from_help.port, from_nothing.port);
        ck_assert_int_eq(from_help.wait_ms, from_nothing.wait_ms);
        ck_assert_int_eq(from_help.tls.depth, from_nothing.tls.depth);
        ck_assert_int_eq(from_help.delays_ms[1], from_nothing.delays_ms[1]);
        ck_assert_str_eq(from_help.user, "a");
        document_close(one);
        document_close(other);
        free(text);
}
END_TEST

static Suite *schema_suite(void)
{
        Suite *suite = suite_create("schema");
        TCase *tables = tcase_create("tables");
        tcase_add_loop_test(tables, every_bad_file_is_refused_where_its_expectation_says, 0,
                            files_count);
        tcase_add_test(tables, every_member_lands_in_its_place);
        tcase_add_test(tables, absent_members_get_their_defaults);
        tcase_add_test(tables, an_absent_member_without_a_default_is_left_alone);
        tcase_add_test(tables, an_absent_section_gets_its_defaults_and_asks_for_nothing);
        tcase_add_test(tables, a_required_section_is_asked_for);
        tcase_add_test(tables, a_wrong_default_is_named);
        tcase_add_test(tables, a_variable_fills_a_member_of_any_kind);
        suite_add_tcase(suite, tables);

        TCase *words = tcase_create("words");
        tcase_add_test(words, a_list_of_words_fills_an_array);
        tcase_add_test(words, a_single_word_is_a_list_only_where_that_is_allowed);
        tcase_add_test(words, a_bad_list_of_words_is_refused_at_its_word);
        suite_add_tcase(suite, words);

        TCase *printed = tcase_create("help");
        tcase_add_test(printed, help_prints_a_line_a_member_with_default_and_range);
        tcase_add_test(printed, help_is_indented_as_asked);
        tcase_add_test(printed, help_never_prints_the_default_of_a_secret);
        tcase_add_test(printed, help_is_a_configuration_once_the_required_members_are_filled_in);
        suite_add_tcase(suite, printed);
        return suite;
}

int main(void)
{
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(folder, sizeof folder, "%s/tests/data/config/schema",
                 source != NULL ? source : ".");
        files_count = scandir(folder, &files, is_case, alphasort);
        if (files_count <= 0) {
                fprintf(stderr, "no cases in %s\n", folder);
                return 1;
        }
        SRunner *runner = srunner_create(schema_suite());
        srunner_run_all(runner, CK_ENV);
        int failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        for (int i = 0; i < files_count; i++)
                free(files[i]);
        free(files);
        return failed != 0;
}
