"""Output: statistics, plots, the audit trail, releases, exports and diagnostics.

* **A release is stored, not compressed**, in a fixed order with one fixed time: zlib's output differs between versions.
* **Statistics are one grouped query each**, and `plots_of_*.py` make plots from them as data
  (`curator/domain/statistics.py`). Diagnostics contain versions, paths and log lines, but no text of documents.
  `kb_export.py` writes the knowledge base with names learned from decisions.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.services.records.audit import AuditService
    from curator.services.records.desktop import add_to_desktop, remove_from_desktop
    from curator.services.records.diagnostics import (
        DiagnosticsService,
        last_lines,
        log_folder,
        sqlite_words,
        start_logging,
        stop_logging,
    )
    from curator.services.records.evaluation_errors import (
        KIND_WORDS,
        RELATION_WORDS,
        ErrorFilter,
        ErrorKind,
        ErrorList,
        EvaluationError,
        Relation,
        check_errors_name,
        errors_file,
        errors_of,
        kind_lines,
        type_words,
    )
    from curator.services.records.export_documents import ExportScope
    from curator.services.records.exporting import ExportForecast, ExportReport, ExportService, ExportTarget
    from curator.services.records.inconsistencies import InconsistencyService, decided_words
    from curator.services.records.installation import HOW_WORDS, Installation, check_packages, this_installation
    from curator.services.records.kb_export import LEAST, KnowledgeExport
    from curator.services.records.keeping import BackupService
    from curator.services.records.plots_of_models import LEARNING
    from curator.services.records.release import ReleaseService
    from curator.services.records.statistics import Statistics, StatisticsService, as_json, head_figures, plots
    from curator.services.records.stored_evaluations import StoredEvaluation, StoredEvaluations

__all__ = [
    "HOW_WORDS",
    "KIND_WORDS",
    "LEARNING",
    "LEAST",
    "RELATION_WORDS",
    "AuditService",
    "BackupService",
    "DiagnosticsService",
    "ErrorFilter",
    "ErrorKind",
    "ErrorList",
    "EvaluationError",
    "ExportForecast",
    "ExportReport",
    "ExportScope",
    "ExportService",
    "ExportTarget",
    "InconsistencyService",
    "Installation",
    "KnowledgeExport",
    "Relation",
    "ReleaseService",
    "Statistics",
    "StatisticsService",
    "StoredEvaluation",
    "StoredEvaluations",
    "add_to_desktop",
    "as_json",
    "check_errors_name",
    "check_packages",
    "decided_words",
    "errors_file",
    "errors_of",
    "head_figures",
    "kind_lines",
    "last_lines",
    "log_folder",
    "plots",
    "remove_from_desktop",
    "sqlite_words",
    "start_logging",
    "stop_logging",
    "this_installation",
    "type_words",
]

__getattr__ = opened_late(
    __name__,
    audit="AuditService",
    desktop="add_to_desktop remove_from_desktop",
    diagnostics="DiagnosticsService last_lines log_folder sqlite_words start_logging stop_logging",
    evaluation_errors="ErrorFilter ErrorKind ErrorList EvaluationError KIND_WORDS RELATION_WORDS Relation "
    "check_errors_name errors_file errors_of kind_lines type_words",
    export_documents="ExportScope",
    exporting="ExportForecast ExportReport ExportService ExportTarget",
    inconsistencies="InconsistencyService decided_words",
    installation="HOW_WORDS Installation check_packages this_installation",
    kb_export="KnowledgeExport LEAST",
    keeping="BackupService",
    plots_of_models="LEARNING",
    release="ReleaseService",
    statistics="Statistics StatisticsService as_json head_figures plots",
    stored_evaluations="StoredEvaluation StoredEvaluations",
)
