#include "channel/charset.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct charset_converter {
        iconv_t handle;
};

bool charset_find(const char *name, enum charset *charset_out)
{
        static const struct {
                const char *name;
                enum charset charset;
        } charsets[] = {
                { "utf-8", CHARSET_UTF8 },      { "utf8", CHARSET_UTF8 },
                { "gbk", CHARSET_GB18030 },     { "gb2312", CHARSET_GB18030 },
                { "gb18030", CHARSET_GB18030 },
        };
        for (size_t i = 0; i < sizeof charsets / sizeof charsets[0]; i++) {
                if (strcasecmp(charsets[i].name, name) != 0)
                        continue;
                *charset_out = charsets[i].charset;
                return true;
        }
        return false;
}

enum po_class charset_open(struct charset_converter **converter_out, struct po_error *error)
{
        struct charset_converter *converter = calloc(1, sizeof *converter);
        if (converter == NULL)
                return po_fail(error, PO_SYSTEMIC, ENOMEM, "no memory for a converter");
        converter->handle = iconv_open("UTF-8", "GB18030");
        if (converter->handle == (iconv_t)-1) {
                free(converter);
                return po_fail(error, PO_SYSTEMIC, errno,
                               "iconv does not convert GB18030 here: are its modules installed?");
        }
        *converter_out = converter;
        return PO_OK;
}

void charset_close(struct charset_converter *converter)
{
        if (converter == NULL)
                return;
        iconv_close(converter->handle);
        free(converter);
}

enum po_class charset_convert(struct charset_converter *converter, const char *bytes, size_t length,
                              char *buffer, size_t *length_out, struct po_error *error)
{
        char *from = (char *)bytes; /* iconv writes nothing there; its type says otherwise */
        char *to = buffer;
        size_t left = length, room = charset_room(length);
        iconv(converter->handle, NULL, NULL, NULL, NULL);
        size_t odd = iconv(converter->handle, &from, &left, &to, &room);
        if (odd != 0 || left != 0)
                return po_refuse_at(error, "INVALID_GB18030", length - left,
                                    "no GB18030 at byte %zu of the text", length - left);
        *length_out = (size_t)(to - buffer);
        return PO_OK;
}
