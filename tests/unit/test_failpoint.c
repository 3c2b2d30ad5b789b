#include "unit.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/failpoint.h"

static struct po_error wrong;

static void arm(const char *spec)
{
        setenv("POSTONCE_FAILPOINTS", spec, 1);
        ck_assert_msg(failpoint_init(&wrong) == PO_OK, "%s", wrong.text);
}

static enum po_class pass(const char *name)
{
        return failpoint_hit(name, &wrong);
}

static void refuse(const char *spec, const char *complaint)
{
        setenv("POSTONCE_FAILPOINTS", spec, 1);
        ck_assert_int_eq(failpoint_init(&wrong), PO_SYSTEMIC);
        unit_assert_in(wrong.text, complaint);
}

START_TEST(without_the_variable_every_point_passes)
{
        unsetenv("POSTONCE_FAILPOINTS");
        ck_assert_int_eq(failpoint_init(&wrong), PO_OK);
        ck_assert_int_eq(pass("claim.committed"), PO_OK);
        arm("");
        ck_assert_int_eq(pass("claim.committed"), PO_OK);
}
END_TEST

START_TEST(an_error_strikes_once_at_its_pass)
{
        arm("claim.committed=error@3");
        ck_assert_int_eq(pass("claim.committed"), PO_OK);
        ck_assert_int_eq(pass("claim.committed"), PO_OK);
        ck_assert_int_eq(pass("claim.committed"), PO_TRANSIENT);
        ck_assert_str_eq(wrong.text, "failpoint claim.committed");
        for (int i = 0; i < 5; i++)
                ck_assert_int_eq(pass("claim.committed"), PO_OK);
}
END_TEST

START_TEST(a_pass_that_is_not_given_is_the_first)
{
        arm("a=bug");
        ck_assert_int_eq(pass("a"), PO_BUG);
        ck_assert_int_eq(pass("a"), PO_OK);
}
END_TEST

START_TEST(errors_strike_from_their_pass_on)
{
        arm("a=errors@2");
        ck_assert_int_eq(pass("a"), PO_OK);
        for (int i = 0; i < 5; i++)
                ck_assert_int_eq(pass("a"), PO_TRANSIENT);
}
END_TEST

START_TEST(points_count_their_passes_apart)
{
        arm("a=error@2,b=bug@1");
        ck_assert_int_eq(pass("a"), PO_OK);
        ck_assert_int_eq(pass("b"), PO_BUG);
        ck_assert_int_eq(pass("c"), PO_OK);
        ck_assert_int_eq(pass("a"), PO_TRANSIENT);
}
END_TEST

START_TEST(a_struck_point_says_so_on_standard_error)
{
        static struct unit_capture capture;
        arm("a=error@2");
        unit_capture_begin(&capture, STDERR_FILENO);
        ck_assert_int_eq(pass("a"), PO_OK);
        ck_assert_int_eq(pass("a"), PO_TRANSIENT);
        unit_assert_in(unit_capture_end(&capture), "event=failpoint name=a action=error pass=2\n");
}
END_TEST

START_TEST(kill_ends_the_process_at_once)
{
        pid_t child = fork();
        if (child == 0) {
                arm("a=kill@2");
                if (pass("a") == PO_OK && pass("a") == PO_OK)
                        _exit(0);
                _exit(1);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

START_TEST(freeze_stops_the_process_until_it_is_continued)
{
        pid_t child = fork();
        if (child == 0) {
                arm("a=freeze");
                _exit(pass("a") == PO_OK ? 42 : 1);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
        ck_assert(WIFSTOPPED(status));
        kill(child, SIGCONT);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 42);
}
END_TEST

START_TEST(a_wrong_specification_is_refused_by_name)
{
        refuse("claim", "claim: expected name=action@n");
        refuse("=kill", "=kill: expected name=action@n");
        refuse("a=explode", "a=explode: expected kill, freeze, error, bug or errors");
        refuse("a=kill@0", "a=kill@0: expected a pass");
        refuse("a=kill@", "a=kill@: expected a pass");
        refuse("a=kill@two", "a=kill@two: expected a pass");
        refuse("a=kill@99999999999999999999", "expected a pass");
        refuse("a=error,a=bug", "a is named twice");
        refuse("a=error,", "expected name=action@n");
}
END_TEST

START_TEST(a_refused_specification_leaves_nothing_armed)
{
        refuse("a=error,b=nonsense", "b=nonsense");
        ck_assert_int_eq(pass("a"), PO_OK);
}
END_TEST

UNIT_MAIN("failpoint", without_the_variable_every_point_passes, an_error_strikes_once_at_its_pass,
          a_pass_that_is_not_given_is_the_first, errors_strike_from_their_pass_on,
          points_count_their_passes_apart, a_struck_point_says_so_on_standard_error,
          kill_ends_the_process_at_once, freeze_stops_the_process_until_it_is_continued,
          a_wrong_specification_is_refused_by_name, a_refused_specification_leaves_nothing_armed)
