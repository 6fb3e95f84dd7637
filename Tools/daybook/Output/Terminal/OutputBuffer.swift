/// Buffered bytes on their way to standard output.
///
/// Invariants:
/// - Bytes leave in the order in which they came.
/// - After ``flush()`` returned, every byte given so far has been handed to the system.
/// - Once the reader is gone nothing more is written.
final class OutputBuffer {
    /// The reaction when the reader is gone.
    enum ClosedPolicy {
        /// Throw ``OutputClosed``: the output was the purpose of the command.
        case stop
        /// Continue silently: the output only reports on work that must be finished.
        case discard
    }

    /// The bytes of one system call.
    static let bufferSize = 64 * 1024

    /// Set by commands whose work does not end with their reader.
    var whenClosed = ClosedPolicy.stop

    private let descriptor: SystemCall.Descriptor
    private var buffer: [UInt8] = []
    private var isClosed = false

    init(_ descriptor: SystemCall.Descriptor) {
        self.descriptor = descriptor
        buffer.reserveCapacity(Self.bufferSize)
    }

    func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        try flushIfFull()
    }

    func write(_ bytes: some Sequence<UInt8>) throws {
        buffer.append(contentsOf: bytes)
        try flushIfFull()
    }

    func flush() throws {
        guard !buffer.isEmpty else { return }
        defer { buffer.removeAll(keepingCapacity: true) }
        if !isClosed {
            switch SystemCall.write(buffer, to: descriptor) {
            case .written: return
            case .closed: isClosed = true
            case .failed(let number):
                throw ToolError.system("Standard output cannot be written", number)
            }
        }
        if whenClosed == .stop { throw OutputClosed() }
    }

    private func flushIfFull() throws {
        if buffer.count >= Self.bufferSize { try flush() }
    }
}
