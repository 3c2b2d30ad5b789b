#include "unit.h"

#include "commands/parts.h"

START_TEST(whoever_used_sudo_is_named)
{
        char who[64];
        setenv("SUDO_USER", "alice", 1);
        ck_assert_str_eq(parts_who(who, sizeof who), "alice");
}
END_TEST

START_TEST(without_sudo_the_login_is_named)
{
        char who[64];
        unsetenv("SUDO_USER");
        ck_assert_uint_gt(strlen(parts_who(who, sizeof who)), 0);
        setenv("SUDO_USER", "", 1);
        ck_assert_uint_gt(strlen(parts_who(who, sizeof who)), 0);
}
END_TEST

START_TEST(a_server_that_is_away_is_transient)
{
        struct po_error error;
        struct db *db = NULL;
        const struct settings settings = {
                .mysql = { .host = "127.0.0.1",
                           .port = 1,
                           .user = "nobody",
                           .connect_timeout_ms = 2000,
                           .read_timeout_ms = 2000,
                           .write_timeout_ms = 2000,
                           .wait_timeout_ms = 5000 },
        };
        ck_assert_int_eq(parts_open_db(&settings, &db, &error), PO_TRANSIENT);
        db_close(db);
}
END_TEST

UNIT_MAIN("parts", whoever_used_sudo_is_named, without_sudo_the_login_is_named,
          a_server_that_is_away_is_transient)
