"""Over Spark Connect: only SQL and the DataFrame API are used, so a client is enough."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from everview import Everview

CLIENT = """
    import sys
    from pyspark.sql import SparkSession
    import everview

    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{sys.argv[1]}").getOrCreate()
    ev = everview.connect(spark)
    ev.sql("CREATE SCHEMA over_connect")
    ev.sql("USE over_connect")
    feed = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    ev.sql(f"CREATE TABLE t (k INT NOT NULL PRIMARY KEY RELY, x INT) USING delta {feed}")
    ev.sql("INSERT INTO t VALUES (1, 10), (2, 20)")
    ev.sql("CREATE MATERIALIZED VIEW by_key AS SELECT k, x FROM t WHERE x > 5")
    ev.sql("UPDATE t SET x = 21 WHERE k = 2")
    ev.sql("DELETE FROM t WHERE k = 1")
    view = ev.view("by_key")
    result = view.refresh()
    rows = [tuple(row) for row in view.to_df().collect()]
    print(result.action, view.verify().is_equal, rows, view.refresh().action)
    print(type(spark).__module__)
    spark.stop()
"""


def test_create_change_refresh_verify(ev: Everview, connect_port: int) -> None:
    client = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(CLIENT), str(connect_port)],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert client.returncode == 0, client.stderr
    assert client.stdout.splitlines() == [
        "INCREMENTAL True [(2, 21)] NO_DATA",
        "pyspark.sql.connect.session",
    ]
