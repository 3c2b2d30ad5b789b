"""What integration and fault tests stand on: real servers, a Kafka and a database client, workers, a proxy."""
