#include "channel/body.h"

#include <assert.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "channel/envelope.h"
#include "channel/form_body.h"
#include "channel/json_body.h"
#include "channel/xml_body.h"

struct body_parser {
        struct json_body *json;
        struct charset_converter *converter; /* NULL: no profile needs it */
};

enum po_class body_open(struct body_parser **parser_out, bool converter, struct po_error *error)
{
        struct body_parser *parser = calloc(1, sizeof *parser);
        if (parser == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "no memory for a parser of bodies");
        if (json_body_open(&parser->json, error) != PO_OK ||
            (converter && charset_open(&parser->converter, error) != PO_OK)) {
                body_close(parser);
                return error->kind;
        }
        *parser_out = parser;
        return PO_OK;
}

void body_close(struct body_parser *parser)
{
        if (parser == NULL)
                return;
        charset_close(parser->converter);
        json_body_close(parser->json);
        free(parser);
}

/* UTF-8, now, of JSON or XML. */
static enum po_class text_parse(struct body_parser *parser, enum body_kind kind, bool converted,
                                const char *bytes, size_t length, struct json_object **root_out,
                                struct po_error *error)
{
        if (kind == BODY_XML)
                return xml_body_parse(bytes, length, converted, root_out, error);
        if (length > VALUE_BYTES_MAX)
                return po_refuse(error, "VALUE_TOO_LARGE", "in UTF-8 the body has %zu bytes",
                                 length);
        const char *unread = kind == BODY_ENVELOPE ? ENVELOPE_UNREAD : NULL;
        return json_body_parse_but(parser->json, unread, bytes, length, root_out, error);
}

enum po_class body_parse(struct body_parser *parser, enum body_kind kind,
                         const struct charset_map *charset, const char *bytes, size_t length,
                         struct json_object **root_out, struct po_error *error)
{
        assert(length <= VALUE_BYTES_MAX && kind != BODY_CLOUDEVENTS);
        assert(!charset->needs_converter || parser->converter != NULL);
        if (kind == BODY_FORM)
                return form_body_parse(bytes, length, charset, parser->converter, root_out, error);
        if (charset->fallback == CHARSET_UTF8)
                return text_parse(parser, kind, false, bytes, length, root_out, error);

        CLEANUP(cleanup_free) char *converted = malloc(charset_room(length) + 1);
        if (converted == NULL)
                return po_fail(error, PO_BUG, 0, "no memory for a converted body");
        size_t converted_length;
        if (charset_convert(parser->converter, bytes, length, converted, &converted_length,
                            error) != PO_OK)
                return error->kind;
        return text_parse(parser, kind, true, converted, converted_length, root_out, error);
}
