/* Documents: what is read, where it stands, and what is refused. */
#include "config/document.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void assert_refused(const char *text, size_t text_bytes, const char *complaint)
{
        struct document *document = (struct document *)&document;
        struct po_error error = { 0 };
        ck_assert_int_eq(document_parse(&document, "t.yaml", text, text_bytes, &error),
                         PO_SYSTEMIC);
        ck_assert_int_eq(error.kind, PO_SYSTEMIC);
        ck_assert_str_eq(error.text, complaint);
        ck_assert_ptr_null(document);
}

static void assert_stands(const struct node *node, const char *place)
{
        struct po_error error = { 0 };
        char expected[64];
        snprintf(expected, sizeof expected, "t.yaml:%s: here 7", place);
        ck_assert_int_eq(node_fail(node, &error, "here %d", 7), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, expected);
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

        snprintf(path, sizeof path, "%s/%s", folder, files[_i]->d_name);
        ck_assert_msg(document_load(&document, path, &error) == PO_SYSTEMIC, "%s was read", path);
        ck_assert_ptr_null(document);

        snprintf(path, sizeof path, "%s/%.*sexpect", folder,
                 (int)(strlen(files[_i]->d_name) - strlen("yaml")), files[_i]->d_name);
        FILE *file = fopen(path, "r");
        ck_assert_msg(file != NULL, "%s is missing", path);
        ck_assert_ptr_nonnull(fgets(expected, sizeof expected, file));
        fclose(file);
        expected[strcspn(expected, "\n")] = '\0';
        ck_assert_int_eq(strncmp(error.text, folder, strlen(folder)), 0);
        ck_assert_str_eq(error.text + strlen(folder) + 1, expected);
}
END_TEST

START_TEST(a_map_gives_its_members_by_name_and_in_order)
{
        struct document *document = parse("b: 1\na: two\n");
        const struct node *root = document_root(document);
        ck_assert_int_eq(node_kind(root), NODE_MAP);
        ck_assert_uint_eq(node_count(root), 2);
        ck_assert_str_eq(node_text(node_key(root, 0)), "b");
        ck_assert_str_eq(node_text(node_at(root, 0)), "1");
        ck_assert_str_eq(node_text(node_key(root, 1)), "a");
        ck_assert_ptr_eq(node_member(root, "a"), node_at(root, 1));
        ck_assert_ptr_null(node_member(root, "c"));
        ck_assert_ptr_eq(node_document(node_at(root, 0)), document);
        ck_assert_str_eq(document_name(document), "t.yaml");
        document_close(document);
}
END_TEST

START_TEST(a_list_gives_its_elements_in_order)
{
        struct document *document = parse("[x, [], {}]");
        const struct node *root = document_root(document);
        ck_assert_int_eq(node_kind(root), NODE_LIST);
        ck_assert_uint_eq(node_count(root), 3);
        ck_assert_str_eq(node_text(node_at(root, 0)), "x");
        ck_assert_int_eq(node_kind(node_at(root, 1)), NODE_LIST);
        ck_assert_uint_eq(node_count(node_at(root, 1)), 0);
        ck_assert_int_eq(node_kind(node_at(root, 2)), NODE_MAP);
        ck_assert_uint_eq(node_count(node_at(root, 2)), 0);
        document_close(document);
}
END_TEST

START_TEST(a_root_may_be_a_text)
{
        struct document *document = parse("''");
        ck_assert_int_eq(node_kind(document_root(document)), NODE_TEXT);
        ck_assert_str_eq(node_text(document_root(document)), "");
        document_close(document);
}
END_TEST

START_TEST(lines_and_columns_count_from_one_in_characters)
{
        struct document *document = parse("# 注释\nmysql:\n  port: 3306\n  用户: [é, b]\n");
        const struct node *root = document_root(document);
        const struct node *mysql = node_member(root, "mysql");
        assert_stands(root, "2:1");
        assert_stands(mysql, "3:3");
        assert_stands(node_member(mysql, "port"), "3:9");
        assert_stands(node_key(mysql, 1), "4:3");
        assert_stands(node_at(node_member(mysql, "用户"), 1), "4:11");
        document_close(document);
}
END_TEST

START_TEST(a_byte_order_mark_moves_no_column)
{
        struct document *document = parse("\xEF\xBB\xBF"
                                          "a: 1\nb: 2\n");
        assert_stands(node_key(document_root(document), 0), "1:1");
        assert_stands(node_key(document_root(document), 1), "2:1");
        document_close(document);
}
END_TEST

START_TEST(lines_may_end_as_on_windows)
{
        struct document *document = parse("a: 1\r\nb: x\r\n");
        ck_assert_str_eq(node_text(node_member(document_root(document), "b")), "x");
        assert_stands(node_key(document_root(document), 1), "2:1");
        document_close(document);
}
END_TEST

START_TEST(only_a_scalar_without_quotes_is_plain)
{
        struct document *document = parse("[5, \"5\", '5', ]");
        const struct node *root = document_root(document);
        ck_assert(node_is_plain(node_at(root, 0)));
        ck_assert(!node_is_plain(node_at(root, 1)));
        ck_assert(!node_is_plain(node_at(root, 2)));
        ck_assert(!node_is_plain(root));
        ck_assert_uint_eq(node_count(root), 3);
        document_close(document);
}
END_TEST

START_TEST(a_quoted_merge_sign_is_a_key_like_any_other)
{
        struct document *document = parse("\"<<\": 1\n");
        ck_assert_str_eq(node_text(node_member(document_root(document), "<<")), "1");
        document_close(document);
}
END_TEST

START_TEST(an_anchor_that_nothing_uses_is_harmless)
{
        struct document *document = parse("a: &x 1\n");
        ck_assert_str_eq(node_text(node_member(document_root(document), "a")), "1");
        document_close(document);
}
END_TEST

START_TEST(the_name_and_the_text_are_copied)
{
        char name[] = "n.yaml", text[] = "a: b";
        struct document *document;
        struct po_error error = { 0 };
        ck_assert_int_eq(document_parse(&document, name, text, strlen(text), &error), PO_OK);
        memset(name, 'x', sizeof name - 1);
        memset(text, 'x', sizeof text - 1);
        ck_assert_str_eq(document_name(document), "n.yaml");
        ck_assert_str_eq(node_text(node_member(document_root(document), "a")), "b");
        document_close(document);
}
END_TEST

START_TEST(a_nul_byte_is_refused_at_its_place)
{
        assert_refused("a: 1\nb: \0", 9, "t.yaml:2:4: a NUL byte: not a text");
}
END_TEST

START_TEST(invalid_utf8_is_refused_at_its_place)
{
        assert_refused("a: é\nbé: \xFFx\n", 13, "t.yaml:2:5: invalid leading UTF-8 octet");
        assert_refused("a: \xC0\xAF\n", 6, "t.yaml:1:4: invalid length of a UTF-8 sequence");
        assert_refused("a: \xE4\xB8", 5, "t.yaml:1:4: incomplete UTF-8 octet sequence");
}
END_TEST

START_TEST(a_control_character_is_refused_at_its_place)
{
        assert_refused("a: 1\nb: \x01\n", 10, "t.yaml:2:4: control characters are not allowed");
}
END_TEST

START_TEST(utf16_is_refused)
{
        assert_refused("\xFE\xFF\x4E\x2D", 4, "t.yaml:1:1: invalid leading UTF-8 octet");
}
END_TEST

START_TEST(an_empty_text_is_refused)
{
        assert_refused("", 0, "t.yaml:1:1: empty: nothing but blanks and comments");
}
END_TEST

static char *repeated(const char *piece, size_t times)
{
        size_t bytes = strlen(piece);
        char *text = malloc(bytes * times + 1);
        ck_assert_ptr_nonnull(text);
        for (size_t i = 0; i < times; i++)
                memcpy(text + i * bytes, piece, bytes);
        text[bytes * times] = '\0';
        return text;
}

START_TEST(a_text_of_the_largest_size_is_read_and_one_byte_more_is_not)
{
        char *text = repeated("a", DOCUMENT_BYTES_MAX + 1);
        struct document *document;
        struct po_error error = { 0 };
        ck_assert_int_eq(document_parse(&document, "t", text, DOCUMENT_BYTES_MAX, &error), PO_OK);
        document_close(document);
        assert_refused(text, DOCUMENT_BYTES_MAX + 1, "t.yaml: larger than 1048576 bytes");
        free(text);
}
END_TEST

START_TEST(a_file_that_is_too_large_is_refused)
{
        char path[] = "/tmp/postonce-test-XXXXXX";
        int descriptor = mkstemp(path);
        ck_assert_int_ge(descriptor, 0);
        FILE *file = fdopen(descriptor, "w");
        for (size_t i = 0; i <= DOCUMENT_BYTES_MAX; i++)
                fputc('a', file);
        fclose(file);

        struct document *document;
        struct po_error error = { 0 };
        enum po_class kind = document_load(&document, path, &error);
        remove(path);
        ck_assert_int_eq(kind, PO_SYSTEMIC);
        ck_assert_ptr_nonnull(strstr(error.text, ": larger than 1048576 bytes"));
}
END_TEST

START_TEST(too_many_values_are_refused)
{
        char *most = repeated("- a\n", DOCUMENT_NODES_MAX - 1); /* the list is one more */
        document_close(parse(most));
        free(most);
        char *more = repeated("- a\n", DOCUMENT_NODES_MAX);
        assert_refused(more, strlen(more), "t.yaml:20000:3: too many values for one file");
        free(more);
}
END_TEST

START_TEST(a_list_nested_too_deep_is_refused_at_its_place)
{
        document_close(parse("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[" /* 32 */
                             "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"));
        const char *deep = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[" /* 33 */
                           "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]";
        assert_refused(deep, strlen(deep), "t.yaml:1:33: nested too deep");
}
END_TEST

START_TEST(a_megabyte_of_brackets_is_refused_at_once)
{
        char *deep = repeated("[", DOCUMENT_BYTES_MAX); /* hours, if libyaml went through it */
        assert_refused(deep, DOCUMENT_BYTES_MAX, "t.yaml:1:33: nested too deep");
        free(deep);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_named)
{
        struct document *document;
        struct po_error error = { 0 };
        ck_assert_int_eq(document_load(&document, "/nowhere/postonce.yaml", &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "/nowhere/postonce.yaml: No such file or directory");
        ck_assert_ptr_null(document);
}
END_TEST

START_TEST(a_folder_is_no_file)
{
        struct document *document;
        struct po_error error = { 0 };
        ck_assert_int_eq(document_load(&document, "/", &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "/: Is a directory");
}
END_TEST

START_TEST(closing_nothing_is_allowed)
{
        document_close(NULL);
}
END_TEST

START_TEST(a_text_aside_is_read_and_complains_under_its_own_name)
{
        struct document *document = parse("a: 1");
        const struct node *aside;
        struct po_error error = { 0 };
        ck_assert_int_eq(node_aside(document_root(document), "(aside)", "[x, y]", &aside, &error),
                         PO_OK);
        ck_assert_str_eq(node_text(node_at(aside, 1)), "y");
        ck_assert_ptr_eq(node_document(aside), document);
        node_fail(node_at(aside, 1), &error, "no");
        ck_assert_str_eq(error.text, "(aside):1:5: no");
        ck_assert_int_eq(node_aside(aside, "(other)", "[x", &aside, &error), PO_SYSTEMIC);
        ck_assert_int_eq(strncmp(error.text, "(other):", 8), 0);
        document_close(document);
}
END_TEST

START_TEST(a_kept_text_is_a_copy_that_ends)
{
        struct document *document = parse("a: 1");
        char *kept = node_keep(document_root(document), "abcdef", 3);
        ck_assert_str_eq(kept, "abc");
        document_close(document);
}
END_TEST

START_TEST(room_beside_a_node_is_zeroed)
{
        static const char zeros[1000];
        struct document *document = parse("a: 1");
        ck_assert_mem_eq(node_room(document_root(document), sizeof zeros), zeros, sizeof zeros);
        document_close(document);
}
END_TEST

START_TEST(a_long_complaint_is_cut_and_keeps_its_place)
{
        struct document *document = parse("a: 1");
        char *text = repeated("x", 2000);
        struct po_error error = { 0 };
        ck_assert_int_eq(node_fail(document_root(document), &error, "%s", text), PO_SYSTEMIC);
        ck_assert_uint_eq(strlen(error.text), PO_ERROR_TEXT_BYTES - 1);
        ck_assert_int_eq(strncmp(error.text, "t.yaml:1:1: xxx", 15), 0);
        free(text);
        document_close(document);
}
END_TEST

static Suite *document_suite(void)
{
        Suite *suite = suite_create("document");
        TCase *reads = tcase_create("reads");
        tcase_add_test(reads, a_map_gives_its_members_by_name_and_in_order);
        tcase_add_test(reads, a_list_gives_its_elements_in_order);
        tcase_add_test(reads, a_root_may_be_a_text);
        tcase_add_test(reads, lines_and_columns_count_from_one_in_characters);
        tcase_add_test(reads, a_byte_order_mark_moves_no_column);
        tcase_add_test(reads, lines_may_end_as_on_windows);
        tcase_add_test(reads, only_a_scalar_without_quotes_is_plain);
        tcase_add_test(reads, a_quoted_merge_sign_is_a_key_like_any_other);
        tcase_add_test(reads, an_anchor_that_nothing_uses_is_harmless);
        tcase_add_test(reads, the_name_and_the_text_are_copied);
        tcase_add_test(reads, closing_nothing_is_allowed);
        tcase_add_test(reads, a_text_aside_is_read_and_complains_under_its_own_name);
        tcase_add_test(reads, a_kept_text_is_a_copy_that_ends);
        tcase_add_test(reads, room_beside_a_node_is_zeroed);
        tcase_add_test(reads, a_long_complaint_is_cut_and_keeps_its_place);
        suite_add_tcase(suite, reads);

        TCase *refuses = tcase_create("refuses");
        tcase_add_loop_test(refuses, every_bad_file_is_refused_where_its_expectation_says, 0,
                            files_count);
        tcase_add_test(refuses, a_nul_byte_is_refused_at_its_place);
        tcase_add_test(refuses, invalid_utf8_is_refused_at_its_place);
        tcase_add_test(refuses, a_control_character_is_refused_at_its_place);
        tcase_add_test(refuses, utf16_is_refused);
        tcase_add_test(refuses, an_empty_text_is_refused);
        tcase_add_test(refuses, a_text_of_the_largest_size_is_read_and_one_byte_more_is_not);
        tcase_add_test(refuses, a_file_that_is_too_large_is_refused);
        tcase_add_test(refuses, too_many_values_are_refused);
        tcase_add_test(refuses, a_list_nested_too_deep_is_refused_at_its_place);
        tcase_add_test(refuses, a_megabyte_of_brackets_is_refused_at_once);
        tcase_add_test(refuses, a_file_that_is_not_there_is_named);
        tcase_add_test(refuses, a_folder_is_no_file);
        suite_add_tcase(suite, refuses);
        return suite;
}

int main(void)
{
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(folder, sizeof folder, "%s/tests/data/config/document",
                 source != NULL ? source : ".");
        files_count = scandir(folder, &files, is_case, alphasort);
        if (files_count <= 0) {
                fprintf(stderr, "no cases in %s\n", folder);
                return 1;
        }
        SRunner *runner = srunner_create(document_suite());
        srunner_run_all(runner, CK_ENV);
        int failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        for (int i = 0; i < files_count; i++)
                free(files[i]);
        free(files);
        return failed != 0;
}
