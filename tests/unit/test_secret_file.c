#include "unit.h"

#include "channel/secret_file.h"

static char folder[] = "/tmp/test_secret_file.XXXXXX";
static char secret[SECRET_BYTES_MAX];
static size_t length;
static struct po_error error;

static void file_write(const char *bytes, size_t count)
{
        char path[128];
        ck_assert_ptr_nonnull(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/key", folder);
        FILE *file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        fwrite(bytes, 1, count, file);
        fclose(file);
}

static enum po_class load(const char *text)
{
        char name[128], path[128];
        struct document *document;
        snprintf(name, sizeof name, "%s/t.yaml", folder);
        ck_assert_int_eq(document_parse(&document, name, text, strlen(text), &error), PO_OK);
        enum po_class kind = secret_read(document_root(document), secret, &length, &error);
        document_close(document);
        snprintf(path, sizeof path, "%s/key", folder);
        unlink(path);
        rmdir(folder);
        return kind;
}

START_TEST(a_secret_is_what_stands_in_front_of_one_line_break)
{
        file_write("abc\n\r\n", 6);
        ck_assert_int_eq(load("key"), PO_OK);
        ck_assert_uint_eq(length, 4);
        ck_assert_mem_eq(secret, "abc\n", 4);
}
END_TEST

START_TEST(a_secret_may_fill_its_bound)
{
        char bytes[SECRET_BYTES_MAX];
        memset(bytes, 'x', sizeof bytes);
        file_write(bytes, sizeof bytes);
        ck_assert_int_eq(load("key"), PO_OK);
        ck_assert_uint_eq(length, SECRET_BYTES_MAX);
}
END_TEST

START_TEST(a_secret_beyond_its_bound_is_refused)
{
        char bytes[SECRET_BYTES_MAX + 1];
        memset(bytes, 'x', sizeof bytes);
        file_write(bytes, sizeof bytes);
        ck_assert_int_eq(load("key"), PO_SYSTEMIC);
        unit_assert_not_in(error.text, "xxx");
}
END_TEST

START_TEST(an_empty_file_is_no_secret)
{
        file_write("\n", 1);
        ck_assert_int_eq(load("key"), PO_SYSTEMIC);
        unit_assert_in(error.text, "1:1: ");
}
END_TEST

START_TEST(a_file_that_is_not_there_is_named)
{
        file_write("abc", 3);
        ck_assert_int_eq(load("other"), PO_SYSTEMIC);
        unit_assert_in(error.text, "/other: No such file");
}
END_TEST

START_TEST(a_variable_that_is_empty_counts_as_not_set)
{
        unsetenv("UNIT_NO_SUCH");
        setenv("UNIT_EMPTY", "", 1);
        setenv("UNIT_SET", "x", 1);
        ck_assert(secret_is_unset("${env:UNIT_NO_SUCH}"));
        ck_assert(secret_is_unset("${env:UNIT_EMPTY}"));
        ck_assert(!secret_is_unset("${env:UNIT_SET}"));
        ck_assert(!secret_is_unset("keys/${env:UNIT_NO_SUCH}"));
        ck_assert(!secret_is_unset("${env:"));
        ck_assert(!secret_is_unset(""));
}
END_TEST

static enum po_class count_text(const struct node *node, void *context, struct po_error *why)
{
        (void)why;
        ck_assert_int_eq(node_kind(node), NODE_TEXT);
        ++*(int *)context;
        return PO_OK;
}

static enum po_class each_of(const char *text, int *count_out)
{
        struct document *document;
        *count_out = 0;
        ck_assert_int_eq(document_parse(&document, "t", text, strlen(text), &error), PO_OK);
        enum po_class kind =
                secret_files_each(document_root(document), 2, count_text, count_out, &error);
        document_close(document);
        return kind;
}

START_TEST(one_file_or_several_up_to_the_bound_are_read)
{
        int count;
        ck_assert_int_eq(each_of("a", &count), PO_OK);
        ck_assert_int_eq(count, 1);
        ck_assert_int_eq(each_of("[a, b]", &count), PO_OK);
        ck_assert_int_eq(count, 2);
        ck_assert_int_eq(each_of("[]", &count), PO_SYSTEMIC);
        ck_assert_int_eq(each_of("[a, b, c]", &count), PO_SYSTEMIC);
        unit_assert_in(error.text, "1:1: key_file wants 1 to 2 files");
        ck_assert_int_eq(count, 0);
}
END_TEST

UNIT_MAIN("secret_file", a_secret_is_what_stands_in_front_of_one_line_break,
          a_secret_may_fill_its_bound, a_secret_beyond_its_bound_is_refused,
          an_empty_file_is_no_secret, a_file_that_is_not_there_is_named,
          a_variable_that_is_empty_counts_as_not_set, one_file_or_several_up_to_the_bound_are_read)
