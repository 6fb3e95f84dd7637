// `import Daybook` is all a program writes: the modules whose types it meets come along.
@_exported public import DaybookJournalLog
@_exported public import DaybookObjectGraph
@_exported public import DaybookObjectModel
@_exported public import DaybookSnapshotStore
