extension ReadTransaction {
    /// The same transaction under another name, for a value that wraps it during one call.
    ///
    /// Nothing but lending it again to a closure may be done with it: it ends with the body that
    /// the original was lent to.
    package func shared() -> ReadTransaction {
        ReadTransaction(access)
    }
}
