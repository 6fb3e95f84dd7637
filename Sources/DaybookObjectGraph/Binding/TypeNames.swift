import Synchronization

/// The names of classes, each worked out once: a request asks for one, and describing a type looks at what
/// it conforms to.
enum TypeNames {
    private static let names = Mutex<[ObjectIdentifier: String]>([:])

    /// The name of a class, without its module.
    static func name(of type: AnyClass) -> String {
        if let name = names.withLock({ $0[ObjectIdentifier(type)] }) { return name }
        let name = String(describing: type)
        names.withLock { $0[ObjectIdentifier(type)] = name }
        return name
    }
}
