/* Profiles: one that is let in decodes anything without harm. */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "channel/json_body.h"
#include "channel/profile.h"

static struct json_object *body_read(void)
{
        static const char text[] =
                "{\"sn\":\"1\",\"status\":\"SUCCESS\",\"order_status\":\"PAID\",\"a\":{\"b\":[1,2]},"
                "\"total_amount\":\"12\",\"currency\":\"CNY\",\"data\":{\"object\":{\"id\":\"x\"}}}";
        static struct json_body *body;
        struct po_error error;
        struct json_object *root;
        if (body == NULL)
                FUZZ_MUST(json_body_open(&body, &error) == PO_OK);
        FUZZ_MUST(json_body_parse(body, text, strlen(text), &root, &error) == PO_OK);
        return root;
}

void fuzz_profile(const uint8_t *bytes, size_t length)
{
        static struct po_notification notifications[NOTIFICATIONS_PER_RECORD_MAX];
        struct profile *profile;
        struct po_error error;
        size_t count;
        if (profile_parse(&profile, "f", (const char *)bytes, length, &error) != PO_OK) {
                FUZZ_MUST(error.kind == PO_SYSTEMIC);
                return;
        }
        struct json_object *root = body_read();
        const struct scope scope = { .root = root };
        struct po_notification blank;
        if (profile_blank(profile, &scope, &blank, &error) == PO_OK)
                for (size_t i = 0; i < profile->shapes.count; i++) {
                        enum po_class kind = shape_apply(&profile->shapes.items[i], &scope, &blank,
                                                         notifications, &count, &error);
                        FUZZ_MUST(kind == PO_OK || kind == PO_RECORD);
                }
        json_object_put(root);
        profile_close(profile);
}
