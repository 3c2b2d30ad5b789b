#include "channel/tenant.h"

#include <stdlib.h>

const char *const tenant_source_words[] = {
        [TENANT_PAYLOAD] = "payload",
        [TENANT_HEADER] = "header",
        [TENANT_CONSTANT] = "constant",
        NULL,
};

bool tenant_read(const char *text, size_t length, int64_t *tenant_id_out)
{
        int64_t tenant_id = 0;
        for (size_t i = 0; i < length; i++) {
                int digit = text[i] - '0';
                if (digit < 0 || digit > 9 || tenant_id > (INT64_MAX - digit) / 10)
                        return false;
                tenant_id = tenant_id * 10 + digit;
        }
        *tenant_id_out = tenant_id;
        return tenant_id > 0;
}

static int compare_ids(const void *left, const void *right)
{
        const int64_t *a = left, *b = right;
        return *a < *b ? -1 : *a > *b;
}

bool tenant_is_known(const struct tenants *tenants, int64_t tenant_id)
{
        return tenants->known_count == 0 ||
               bsearch(&tenant_id, tenants->known, tenants->known_count, sizeof tenant_id,
                       compare_ids) != NULL;
}

static enum po_class read_header(const struct tenants *tenants, const struct record *record,
                                 int64_t *tenant_id_out, struct po_error *error)
{
        const struct record_header *header = record_header(record, tenants->header);
        if (header == NULL || header->value == NULL)
                return po_refuse(error, "TENANT_MISSING", "the record has no header \"%s\"",
                                 tenants->header);
        if (!tenant_read(header->value, header->value_bytes, tenant_id_out))
                return po_refuse(error, "TENANT_MALFORMED",
                                 "header \"%s\" is no tenant's number, 1 and up", tenants->header);
        return PO_OK;
}

enum po_class tenants_settle(const struct tenants *tenants, const struct record *record,
                             struct po_notification *notifications, size_t count,
                             struct po_error *error)
{
        int64_t tenant_id = tenants->constant;
        if (count > 0 && tenants->from == TENANT_HEADER &&
            read_header(tenants, record, &tenant_id, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < count; i++) {
                if (tenants->from != TENANT_PAYLOAD)
                        notifications[i].tenant_id = tenant_id;
                if (!tenant_is_known(tenants, notifications[i].tenant_id))
                        return po_refuse(error, "TENANT_UNKNOWN",
                                         "tenant %lld is not in tenants.known",
                                         (long long)notifications[i].tenant_id);
        }
        return PO_OK;
}
