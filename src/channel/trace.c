#include "channel/trace.h"

#include <string.h>

#include "channel/condition.h"
#include "channel/shape.h"
#include "channel/value.h"

enum { SHOWN_BYTES = 60 };

static void put_words(const struct condition *condition, struct text *text)
{
        static const char *const tests[] = {
                [CONDITION_EQ] = "eq",         [CONDITION_IN] = "in",
                [CONDITION_PREFIX] = "prefix", [CONDITION_EXISTS] = "exists",
                [CONDITION_ABSENT] = "absent", [CONDITION_GT0] = "gt0",
        };
        text_format(text, "%s %s", condition->at.source, tests[condition->test]);
        for (size_t i = 0; i < condition->words_count; i++)
                text_format(text, "%s%s", i == 0 ? " " : " | ", condition->words[i]);
}

/* The text's beginning, cut in front of a character, not inside it. */
static void put_quoted(struct json_object *value, struct text *text)
{
        const char *bytes = json_object_get_string(value);
        char shown[SHOWN_BYTES + 1];
        size_t length = strlen(bytes);
        bool cut = length > SHOWN_BYTES;
        if (cut)
                for (length = SHOWN_BYTES; ((unsigned char)bytes[length] & 0xC0) == 0x80;)
                        length--;
        memcpy(shown, bytes, length);
        shown[length] = '\0';
        text_put(text, "the text ");
        text_put_json(text, shown);
        if (cut)
                text_put(text, "…");
}

static void put_found(struct json_object *value, struct text *text)
{
        struct value_text written;
        switch (json_object_get_type(value)) {
        case json_type_null:
                text_put(text, "nothing (absent, null or empty)");
                return;
        case json_type_object:
                text_put(text, "an object");
                return;
        case json_type_array:
                text_put(text, "a list");
                return;
        case json_type_string:
                put_quoted(value, text);
                return;
        default:
                if (value_written(value, &written))
                        text_format(text, "%.*s", SHOWN_BYTES, written.bytes);
        }
}

void trace_reason(const struct trace_step *step, struct text *text)
{
        if (step->holds)
                return;
        if (step->failed == NULL) {
                if (step->kind == TRACE_SHAPE)
                        text_format(text, "the body does not begin with %c", step->shape->first);
                return;
        }
        put_words(step->failed, text);
        text_put(text, ": found ");
        put_found(pointer_find(&step->failed->at, step->scope), text);
}
