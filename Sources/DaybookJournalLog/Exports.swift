// Whoever reads a journal has digests in hand.
@_exported public import DaybookDigest
