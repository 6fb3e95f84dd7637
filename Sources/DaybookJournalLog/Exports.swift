// Readers of a journal need digests.
@_exported public import DaybookDigest
