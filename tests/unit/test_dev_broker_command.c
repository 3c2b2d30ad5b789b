#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "commands/command.h"

static struct unit_capture capture;
static char folder[] = "/tmp/postonce-broker-XXXXXX";
static char address_file[64];

struct child {
        pid_t pid;
        FILE *output;
};

/* argv ends with NULL. */
static int run(char **argv)
{
        int argc = 0;
        while (argv[argc] != NULL)
                argc++;
        return command_dev_broker(argc, argv);
}

static struct child start(char **argv)
{
        int ends[2];
        ck_assert_int_eq(pipe(ends), 0);
        struct child child = { .pid = fork() };
        if (child.pid == 0) {
                dup2(ends[1], STDOUT_FILENO);
                close(ends[0]);
                close(ends[1]);
                _exit(run(argv));
        }
        close(ends[1]);
        child.output = fdopen(ends[0], "r");
        return child;
}

static int stop(struct child *child, int signal_number)
{
        int status;
        kill(child->pid, signal_number);
        ck_assert_int_eq(waitpid(child->pid, &status, 0), child->pid);
        fclose(child->output);
        ck_assert(WIFEXITED(status));
        return WEXITSTATUS(status);
}

/* The port of "bootstrap.servers=127.0.0.1:PORT", which is the command's first line. */
static int port_said(struct child *child)
{
        char line[128];
        int port = 0;
        ck_assert_ptr_nonnull(fgets(line, sizeof line, child->output));
        ck_assert_msg(sscanf(line, "bootstrap.servers=127.0.0.1:%d\n", &port) == 1, "%s", line);
        return port;
}

static bool port_answers(int port)
{
        struct sockaddr_in address = {
                .sin_family = AF_INET,
                .sin_port = htons((uint16_t)port),
                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        };
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        bool answers = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
        close(fd);
        return answers;
}

START_TEST(it_says_its_address_answers_there_and_ends_on_either_signal)
{
        static const int signals[] = { SIGTERM, SIGINT };
        char name[] = "dev-broker", option[] = "--topic", topic[] = "callbacks:2";
        char *argv[] = { name, option, topic, NULL };
        for (size_t i = 0; i < 2; i++) {
                struct child child = start(argv);
                int port = port_said(&child);
                ck_assert(port_answers(port));
                ck_assert_int_eq(stop(&child, signals[i]), EXIT_DONE);
                ck_assert(!port_answers(port));
        }
}
END_TEST

START_TEST(the_address_file_is_there_before_the_line_and_gone_at_the_end)
{
        ck_assert_ptr_nonnull(mkdtemp(folder));
        snprintf(address_file, sizeof address_file, "%s/address", folder);
        char name[] = "dev-broker", topic[] = "-tcallbacks:1", option[] = "--address-file";
        char *argv[] = { name, topic, option, address_file, NULL };
        struct child child = start(argv);
        int port = port_said(&child), port_written = 0;
        FILE *file = fopen(address_file, "r");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_eq(fscanf(file, "127.0.0.1:%d\n", &port_written), 1);
        fclose(file);
        ck_assert_int_eq(port_written, port);
        ck_assert_int_eq(stop(&child, SIGTERM), EXIT_DONE);
        ck_assert_int_ne(access(address_file, F_OK), 0);
        ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(an_address_file_that_cannot_be_written_ends_it)
{
        char name[] = "dev-broker", topic[] = "-tcallbacks:1";
        char option[] = "--address-file=/nonexistent/address";
        char *argv[] = { name, topic, option, NULL };
        unit_capture_begin(&capture, STDERR_FILENO);
        int code = run(argv);
        unit_assert_in(unit_capture_end(&capture), "postonce: /nonexistent/address");
        ck_assert_int_eq(code, EXIT_CONFIGURATION);
}
END_TEST

START_TEST(a_wrong_topic_or_none_is_a_wrong_command_line)
{
        static char wrongs[][16] = { "x", ":1", "x:", "x:0", "x:65", "x:1x", "x:-1", "x:001" };
        char name[] = "dev-broker", option[] = "--topic";
        for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
                char *argv[] = { name, option, wrongs[i], NULL };
                unit_capture_begin(&capture, STDERR_FILENO);
                int code = run(argv);
                unit_assert_in(unit_capture_end(&capture), "is not NAME:PARTITIONS");
                ck_assert_int_eq(code, EXIT_USAGE);
        }
        char *argv[] = { name, NULL };
        unit_capture_begin(&capture, STDERR_FILENO);
        int code = run(argv);
        unit_assert_in(unit_capture_end(&capture), "expected --topic NAME:PARTITIONS");
        ck_assert_int_eq(code, EXIT_USAGE);
}
END_TEST

UNIT_MAIN("dev_broker_command", it_says_its_address_answers_there_and_ends_on_either_signal,
          the_address_file_is_there_before_the_line_and_gone_at_the_end,
          an_address_file_that_cannot_be_written_ends_it,
          a_wrong_topic_or_none_is_a_wrong_command_line)
