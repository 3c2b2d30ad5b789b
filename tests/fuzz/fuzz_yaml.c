/* Documents: every node that was let in can be walked. */
#include "fuzz.h"

#include <string.h>

#include "config/document.h"

static size_t walk(const struct node *node)
{
        size_t count = 1;
        FUZZ_MUST(node_line(node) > 0);
        if (node_kind(node) == NODE_TEXT) {
                FUZZ_MUST(strlen(node_text(node)) < DOCUMENT_BYTES_MAX);
                return 1;
        }
        for (size_t i = 0; i < node_count(node); i++) {
                if (node_kind(node) == NODE_MAP)
                        FUZZ_MUST(node_member(node, node_text(node_key(node, i))) ==
                                  node_at(node, i));
                count += walk(node_at(node, i));
        }
        return count;
}

void fuzz_yaml(const uint8_t *bytes, size_t length)
{
        struct document *document;
        struct po_error error;
        if (document_parse(&document, "f", (const char *)bytes, length, &error) != PO_OK) {
                FUZZ_MUST(error.kind == PO_SYSTEMIC && document == NULL);
                return;
        }
        FUZZ_MUST(walk(document_root(document)) <= DOCUMENT_NODES_MAX);
        document_close(document);
}
