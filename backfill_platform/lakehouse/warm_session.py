"""What `connect_server` has Spark run: a session, for as long as its JVM is there.

A script and no module: whoever starts it has put every option beside it.
"""

import sys
from contextlib import suppress

from pyspark.sql import SparkSession

if __name__ == "__main__":
    SparkSession.builder.getOrCreate()
    with suppress(KeyboardInterrupt):
        sys.stdin.read()  # which the JVM holds open
