// `import Daybook` is all a program writes: the modules whose types it meets come along.
@_exported public import JournalLog
@_exported public import ObjectGraph
@_exported public import ObjectModel
@_exported public import SnapshotStore
