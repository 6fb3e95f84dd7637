// `import DaybookAudit` is all a program writes: sequence numbers, digests and errors come along.
@_exported public import JournalLog
@_exported public import SnapshotStore
