"""Everview: incremental materialized views for Apache Spark and Delta Lake.

import everview

ev = everview.connect(spark)
ev.sql("CREATE MATERIALIZED VIEW v AS SELECT …")
ev.view("v").refresh()
"""

from everview.catalog.constraints import ForeignKey, PrimaryKey, Unique
from everview.engine import Everview, connect
from everview.errors import (
    CatalogError,
    Code,
    EverviewError,
    Problem,
    RefreshError,
    SetupError,
    SqlError,
)
from everview.materialized_view import MaterializedView
from everview.program.declared_keys import DeclaredKey, KeyState
from everview.program.explain import Explanation
from everview.program.key_checks import KeyCheck
from everview.program.key_suggestions import Suggestion, Suggestions
from everview.program.records import Action, Reason, RefreshResult
from everview.program.summaries import HistoryEntry, ViewDescription, ViewSummary
from everview.program.verification import Verification
from everview.sql.statements import RefreshPolicy

__all__ = [
    "Action",
    "CatalogError",
    "Code",
    "DeclaredKey",
    "Everview",
    "EverviewError",
    "Explanation",
    "ForeignKey",
    "HistoryEntry",
    "KeyCheck",
    "KeyState",
    "MaterializedView",
    "PrimaryKey",
    "Problem",
    "Reason",
    "RefreshError",
    "RefreshPolicy",
    "RefreshResult",
    "SetupError",
    "SqlError",
    "Suggestion",
    "Suggestions",
    "Unique",
    "Verification",
    "ViewDescription",
    "ViewSummary",
    "connect",
]
