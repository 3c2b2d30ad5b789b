"""postonce check --explain: which rules were tried, and why each did not match."""
import json
import pathlib

SAMPLES = pathlib.Path(__file__).resolve().parents[1] / "data" / "channel"


def tried(postonce, name, channel):
    done = postonce.run("check", "-o", "json", "--explain", "--sample", SAMPLES / name, "--channel", channel,
                        check=False)
    return json.loads(done.stdout)


def test_each_rule_says_which_condition_fails_and_what_stands_there(postonce):
    answer = tried(postonce, "sqb-refunded.json", "SQB")
    payment, refund = answer["tried"]
    assert (payment["matches"], refund["matches"]) == (False, True)
    assert payment["because"] == '/order_status eq PAID: found the text "REFUNDED"'
    assert refund["event"] == "REFUND_SUCCEEDED" and refund["because"] is None
    assert refund["line"] > payment["line"] > 0
    assert len(answer["notifications"]) == 1 and answer["refused"] == []


def test_a_body_without_a_rule_shows_why_every_rule_failed(postonce):
    answer = tried(postonce, "hostile-no-rule.json", "SQB")
    assert [row["reason"] for row in answer["refused"]] == ["NO_RULE"]
    assert answer["tried"] and not any(row["matches"] for row in answer["tried"])


def test_the_items_of_a_list_are_told_apart(postonce):
    answer = tried(postonce, "adyen-batch.json", "ADYEN")
    assert {row["item"] for row in answer["tried"]} == set(range(len(answer["notifications"])))


def test_the_table_shows_the_same_for_people(postonce):
    done = postonce.run("check", "--explain", "--sample", SAMPLES / "sqb-paid.json", "--channel", "SQB")
    assert "TRIED" in done.stdout and "rule 1" in done.stdout and "SQB:7895010041237719" in done.stdout


def test_explain_without_a_sample_is_refused(postonce):
    assert postonce.run("check", "--explain", check=False).returncode == 64
