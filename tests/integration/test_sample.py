"""postonce check --sample: what one payload becomes."""
import json
import pathlib

SAMPLES = pathlib.Path(__file__).resolve().parents[1] / "data" / "channel"


def test_a_sample_shows_its_notification(postonce):
    done = postonce.run("check", "-o", "json", "--sample", SAMPLES / "sqb-paid.json", "--channel", "SQB")
    [row] = json.loads(done.stdout)["notifications"]
    assert row["key"] == "SQB:7895010041237719:PAYMENT_RECEIVED"
    assert (row["amount_minor"], row["currency"]) == (12880, "CNY")
    assert (row["event"], row["order_no"], row["amount_kind"]) == ("PAYMENT_RECEIVED", "R8-20260114-000731", "this")
    assert len(row["fingerprint"]) == 64


def test_a_sample_shows_the_fee_that_the_channel_keeps(postonce):
    postonce.configure({"channels": [str(SAMPLES.parent / "square.yaml")]})
    done = postonce.run("check", "-o", "json", "--sample", SAMPLES / "square-completed.json", "--channel", "SQUARE")
    [row] = json.loads(done.stdout)["notifications"]
    assert (row["amount_minor"], row["fee_minor"]) == (12880, 404)


def test_a_header_chooses_the_profile(postonce):
    done = postonce.run("check", "--sample", SAMPLES / "sqb-paid.json", "--header", "channel=SQB")
    assert "SQB:7895010041237719:PAYMENT_RECEIVED" in done.stdout


def test_a_refused_sample_says_why_and_where_and_exits_1(postonce):
    done = postonce.run("check", "--sample", SAMPLES / "hostile-truncated.json", "--channel", "SQB", check=False)
    assert done.returncode == 1
    assert "TRUNCATED_JSON" in done.stdout and "byte 133" in done.stdout


def test_a_refusal_in_json_has_reason_and_byte_apart(postonce):
    done = postonce.run("check", "-o", "json", "--sample", SAMPLES / "hostile-truncated.json", "--channel", "SQB",
                        check=False)
    answer = json.loads(done.stdout)
    [refusal] = answer["refused"]
    assert done.returncode == 1 and answer["notifications"] == []
    assert (refusal["reason"], refusal["byte"]) == ("TRUNCATED_JSON", 133)


def test_a_refusal_of_no_byte_in_particular_has_none(postonce):
    done = postonce.run("check", "-o", "json", "--sample", SAMPLES / "hostile-no-rule.json", "--channel", "SQB",
                        check=False)
    [refusal] = json.loads(done.stdout)["refused"]
    assert (refusal["reason"], refusal["byte"]) == ("NO_RULE", None)


def test_an_ignored_sample_says_so(postonce):
    done = postonce.run("check", "--sample", SAMPLES / "sqb-pay-canceled.json", "--channel", "SQB")
    assert "ignores" in done.stdout


def test_a_header_without_a_value_is_refused(postonce):
    done = postonce.run("check", "--sample", SAMPLES / "sqb-paid.json", "--header", "channel", check=False)
    assert done.returncode == 1 and "NAME=VALUE" in done.stderr
