// `import DaybookAudit` is all a program writes: sequence numbers, digests and errors come along.
@_exported public import DaybookJournalLog
@_exported public import DaybookSnapshotStore
