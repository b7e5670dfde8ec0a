"""The run tags by which Dagster and the platform understand each other; one name each."""

REASON = "backfill/reason"
TICKET = "backfill/ticket"
KIND = "backfill/kind"
MODE = "backfill/mode"
KNOWLEDGE = "backfill/knowledge"
REQUESTED_BY = "backfill/requested_by"
PUBLISH_SCOPE = "backfill/publish_scope"
AS_OF = "backfill/as_of"
ACCEPT_SCHEMA_CHANGE = "backfill/accept_schema_change"  # columns, with spaces between
COMPUTE_ALL = "backfill/compute_all"  # true: also days that are proved to come out as they are

# How it is judged otherwise than its table, with commas between: `values_valid=WARN`,
# `cases_opened=2, breaches=0.5%`, `breaches=-90%..-60%`. A run tag may hold any characters.
SEVERITY = "backfill/severity"
TOLERANCE = "backfill/tolerance"
EXPECT = "backfill/expect"

# A run that is planned already, or several of them with spaces between: the launch carries it out.
RUN = "backfill/run"

# One launch may be several Dagster runs; they share the launch's name and its whole scope.
LAUNCH = "backfill/launch"
DAYS = "backfill/days"

# `backfill/transform.<layer>.<table>: 2.4.1` and `backfill/reference.<name>: <version>:<semantics>`
TRANSFORM_PREFIX = "backfill/transform."
REFERENCE_PREFIX = "backfill/reference."

# Written by the platform, never read: what each Dagster run turned out to be.
RUN_ID_PREFIX = "backfill/run_id."
MANIFEST_PREFIX = "backfill/manifest."
CODE_PREFIX = "backfill/code."
VERSION_PREFIX = "backfill/version."
GROUP = "backfill/group"

RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
BACKFILL_ID = "dagster/backfill"
ROOT_BACKFILL_ID = "dagster/root_backfill_id"  # of a backfill of what failed in another

# Who is signed in, where a proxy before the webserver knows; see `run_coordinator`.
IDENTITY = "backfill/signed_in"
PRIORITY = "dagster/priority"

# Written on what takes a place in the queue that the daily load must find; see `run_coordinator`.
GIVES_WAY = "backfill/gives_way"

# Who carries the Dagster run out, so that it can be told when nobody does any more.
WORKER = "backfill/worker"

# The process that `run_launcher` has started for a run; the UI does not show tags named like this.
PROCESS = ".dagster/backfill_process"
