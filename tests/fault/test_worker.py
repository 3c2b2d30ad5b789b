"""Readiness tells the truth: red while an outage lasts, green when it is over, also for a worker without work."""
import flood
from support.worker import free_port, notification


def test_a_broker_outage_turns_readiness_red_and_its_end_green_without_a_record(postonce, kafka):
    port = free_port()
    postonce.configure({"http": {"port": port}})
    postonce.migrate()
    worker = postonce.start()
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "the worker has joined")
    kafka.servers[0].kill()
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 503, "readiness goes red")
    assert flood.page(port, "/healthz")[0] == 200
    kafka.servers[0].start()
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "readiness is green again", 60)
    assert worker.alive()
    assert flood.metric(port, "postonce_records_total") == 0


def test_a_worker_whose_held_partition_went_to_another_is_ready_again(postonce, db):
    port = free_port()
    postonce.configure({"http": {"port": port}})
    postonce.migrate()
    db.execute("CREATE TRIGGER refuse BEFORE INSERT ON outcome FOR EACH ROW "
               "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1142, MESSAGE_TEXT = 'refused'")
    first = postonce.start()
    flood.register(db, [notification("T-1", "R-1")])
    postonce.publish(notification("T-1", "R-1"), partition=0)
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 503, "the first worker stops its intake")
    first.freeze()
    second = postonce.start(changes={"http": {"port": free_port()}})
    postonce.wait_for(lambda: second.log_text().count("assigned=4"), "the second worker has all partitions", 60)
    db.execute("DROP TRIGGER refuse")
    postonce.wait_for(lambda: flood.outcomes(db) == 1, "the second worker posts")
    second.freeze()
    first.thaw()
    postonce.wait_for(lambda: flood.page(port, "/readyz")[0] == 200, "the first worker is ready again", 60)
    second.thaw()
    assert first.alive() and second.alive()
