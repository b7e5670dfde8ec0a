"""One configuration for local sessions and for the Connect server."""

from pathlib import Path

from pyspark.sql import SparkSession

from backfill_platform.lakehouse.round_trip import prove_round_trip
from backfill_platform.lakehouse.session import session_config


def test_the_flags_of_a_short_session_stay_out_of_a_long_one() -> None:
    long, short = session_config(()), session_config((), short_lived=True)

    assert "TieredStopAtLevel=1" not in long["spark.driver.extraJavaOptions"]
    assert "TieredStopAtLevel=1" in short["spark.driver.extraJavaOptions"]


def test_jars_and_cores_are_passed_on() -> None:
    config = session_config((Path("/a.jar"), Path("/b.jar")), cores=3)

    assert config["spark.jars"] == "/a.jar,/b.jar"
    assert config["spark.sql.shuffle.partitions"] == "3"


def test_nothing_listens_beyond_this_machine() -> None:
    config = session_config(())

    assert config["spark.driver.bindAddress"] == config["spark.driver.host"] == "127.0.0.1"


def test_a_session_works_in_utc(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


def test_spark_and_delta_rs_read_each_others_tables(spark: SparkSession, tmp_path: Path) -> None:
    prove_round_trip(spark, tmp_path)
