#include "channel/xml_body.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "channel/json_body.h"
#include "channel/json_scan.h"
#include "channel/utf8.h"

struct builder {
        XML_Parser parser;
        struct json_object *levels[JSON_DEPTH_MAX]; /* NULL: no child so far; owned by the root */
        size_t depth;
        size_t elements;
        char *text; /* of the innermost element, since its last child */
        size_t text_length;
        struct po_error *error;
        enum po_class kind; /* not PO_OK: a handler stopped the parser */
};

/* Expat says -1 before it has read anything. */
static size_t byte_index(const struct builder *builder)
{
        XML_Index at = XML_GetCurrentByteIndex(builder->parser);
        return at < 0 ? 0 : (size_t)at;
}

static void stop(struct builder *builder, const char *reason, const char *what)
{
        size_t at = byte_index(builder);
        builder->kind = po_refuse_at(builder->error, reason, at, "%s at byte %zu", what, at);
        XML_StopParser(builder->parser, XML_FALSE);
}

static void stop_without_memory(struct builder *builder)
{
        builder->kind = po_fail(builder->error, PO_BUG, 0, "no memory for an XML tree");
        XML_StopParser(builder->parser, XML_FALSE);
}

static void refuse_doctype(void *context, const XML_Char *name, const XML_Char *system,
                           const XML_Char *public, int has_internal)
{
        (void)name;
        (void)system;
        (void)public;
        (void)has_internal;
        stop(context, "DOCTYPE_REFUSED", "a document type");
}

static bool text_is_space(const struct builder *builder)
{
        for (size_t i = 0; i < builder->text_length; i++)
                if (strchr(" \t\r\n", builder->text[i]) == NULL)
                        return false;
        return true;
}

static void element_begin(void *context, const XML_Char *name, const XML_Char **attributes)
{
        struct builder *builder = context;
        (void)attributes;
        if (builder->kind != PO_OK)
                return;
        if (++builder->elements > JSON_VALUES_MAX) {
                stop(builder, "TOO_MANY_VALUES", "one element too many");
                return;
        }
        if (builder->depth == JSON_DEPTH_MAX) {
                stop(builder, "NESTING_TOO_DEEP", "one level too many");
                return;
        }
        if (!text_is_space(builder)) {
                stop(builder, "MIXED_CONTENT", "text beside an element");
                return;
        }
        builder->text_length = 0;
        if (builder->depth > 0) {
                struct json_object **parent = &builder->levels[builder->depth - 1];
                if (*parent == NULL)
                        *parent = json_object_new_object();
                if (*parent == NULL) {
                        stop_without_memory(builder);
                        return;
                }
                if (json_object_object_get_ex(*parent, name, NULL)) {
                        stop(builder, "DUPLICATE_ELEMENT", "an element that is there already");
                        return;
                }
        }
        builder->levels[builder->depth++] = NULL;
}

static void element_end(void *context, const XML_Char *name)
{
        struct builder *builder = context;
        if (builder->kind != PO_OK)
                return;
        if (builder->levels[builder->depth - 1] != NULL && !text_is_space(builder)) {
                stop(builder, "MIXED_CONTENT", "text beside an element");
                return;
        }
        if (builder->depth == 1) {
                if (builder->levels[0] == NULL)
                        stop(builder, "WRONG_TYPE", "no element within the outermost,");
                return;
        }
        struct json_object *value = builder->levels[--builder->depth];
        builder->levels[builder->depth] = NULL;
        if (value == NULL)
                value = json_object_new_string_len(builder->text, (int)builder->text_length);
        builder->text_length = 0;
        if (value == NULL ||
            json_object_object_add(builder->levels[builder->depth - 1], name, value) != 0) {
                json_object_put(value);
                stop_without_memory(builder);
        }
}

/* There is room: no entity makes a text longer than it is written. */
static void text_add(void *context, const XML_Char *text, int length)
{
        struct builder *builder = context;
        if (builder->kind != PO_OK)
                return;
        memcpy(builder->text + builder->text_length, text, (size_t)length);
        builder->text_length += (size_t)length;
}

/* What expat itself refuses. */
static enum po_class refuse(const struct builder *builder, const char *bytes, size_t length)
{
        enum XML_Error code = XML_GetErrorCode(builder->parser);
        size_t at = byte_index(builder);
        const char *reason = "MALFORMED_XML";
        if (code == XML_ERROR_NO_MEMORY)
                return po_fail(builder->error, PO_BUG, code, "no memory for an XML parser");
        if (code == XML_ERROR_UNKNOWN_ENCODING || code == XML_ERROR_INCORRECT_ENCODING)
                reason = "CHARSET_UNKNOWN";
        if (code == XML_ERROR_JUNK_AFTER_DOC_ELEMENT)
                reason = "TRAILING_BYTES";
        if ((code == XML_ERROR_INVALID_TOKEN || code == XML_ERROR_PARTIAL_CHAR) &&
            utf8_check(bytes, length) != length)
                reason = "INVALID_UTF8";
        return po_refuse_at(builder->error, reason, at, "%s at byte %zu", XML_ErrorString(code),
                            at);
}

static enum po_class parse(struct builder *builder, const char *bytes, size_t length)
{
        XML_SetUserData(builder->parser, builder);
        XML_SetElementHandler(builder->parser, element_begin, element_end);
        XML_SetCharacterDataHandler(builder->parser, text_add);
        XML_SetStartDoctypeDeclHandler(builder->parser, refuse_doctype);
        enum XML_Status status = XML_Parse(builder->parser, bytes, (int)length, XML_TRUE);
        if (builder->kind != PO_OK)
                return builder->kind;
        return status == XML_STATUS_OK ? PO_OK : refuse(builder, bytes, length);
}

enum po_class xml_body_parse(const char *bytes, size_t length, bool converted,
                             struct json_object **root_out, struct po_error *error)
{
        assert(length <= 2 * (size_t)VALUE_BYTES_MAX);
        /* ISO-8859-1 doubles at most, in UTF-16 two bytes become three. */
        CLEANUP(cleanup_free) char *text = malloc(2 * length + 1);
        struct builder builder = { .text = text, .error = error };
        builder.parser = XML_ParserCreate(converted ? "UTF-8" : NULL);
        if (text == NULL || builder.parser == NULL) {
                if (builder.parser != NULL)
                        XML_ParserFree(builder.parser);
                return po_fail(error, PO_BUG, 0, "no memory for an XML parser");
        }
        enum po_class kind = parse(&builder, bytes, length);
        XML_ParserFree(builder.parser);
        if (kind == PO_OK) {
                *root_out = builder.levels[0];
                return PO_OK;
        }
        /* What is under way hangs in no parent yet. */
        for (size_t i = 0; i < JSON_DEPTH_MAX; i++)
                json_object_put(builder.levels[i]);
        return kind;
}
