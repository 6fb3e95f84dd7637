// `import DaybookAudit` suffices: sequence numbers, digests and errors are re-exported.
@_exported public import DaybookJournalLog
@_exported public import DaybookSnapshotStore
