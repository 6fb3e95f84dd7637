// The room of power cuts: what programs wrote and synced, as Tools/PowerLoss/recorder.c has recorded it, and every state
// in which a disk may be when the power goes in between. It knows nothing of stores.

import Foundation

/// What programs did to files, in order.
struct PowerLog {
    /// One call that has returned.
    enum Event {
        /// Bytes of a file; `isDurable` when the call returned only when they were on the disk.
        case write(offset: Int, bytes: Data, isDurable: Bool)
        /// A new length of a file.
        case length(Int)
        /// All that was written to the file before is on the disk.
        case sync
        /// Bytes for standard output.
        case output(Data)
    }

    /// The calls that concern one file, and all output.
    let events: [Event]

    /// Reads a log.
    ///
    /// - Parameters:
    ///   - url: The log.
    ///   - file: The inode of the file.
    /// - Throws: Foundation's error when it cannot be read.
    init(contentsOf url: URL, about file: UInt64) throws {
        let log = try Data(contentsOf: url)
        var events: [Event] = []
        var place = 0
        func number(_ offset: Int) -> UInt64 {
            log.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: place + offset, as: UInt64.self)
            }
        }
        while place + Self.headerSize <= log.count {
            let kind = log[place]
            let (subject, offset, length) = (number(1), Int(number(9)), Int(number(17)))
            place += Self.headerSize
            var bytes = Data()
            if kind == UInt8(ascii: "w") || kind == UInt8(ascii: "d") || kind == UInt8(ascii: "o") {
                bytes = log[place..<place + length]
                place += length
            }
            if kind == UInt8(ascii: "o") {
                events.append(.output(bytes))
                continue
            }
            guard subject == file else { continue }
            switch kind {
            case UInt8(ascii: "w"):
                events.append(.write(offset: offset, bytes: bytes, isDurable: false))
            case UInt8(ascii: "d"):
                events.append(.write(offset: offset, bytes: bytes, isDurable: true))
            case UInt8(ascii: "t"): events.append(.length(length))
            default: events.append(.sync)
            }
        }
        self.events = events
    }

    private static let headerSize = 25
}

/// The states of a file after a power cut at some moment: what was synced is there, and of the rest any part, in sectors
/// or pages.
struct PowerCut {
    /// How much of a write that was not synced came to the disk.
    enum Part {
        case all, none
        /// So many sectors or pages from its beginning.
        case beginning(Int, size: Int)
        /// Some of its sectors or pages.
        case some(Set<Int>, size: Int)
    }

    private let events: [PowerLog.Event]
    /// Whether nothing is ever synced, to show that the checks find what is lost then.
    private let ignoresSyncs: Bool
    /// The file with everything that is on the disk for certain.
    private var durable = Data()
    /// What is not, and when it was written.
    private(set) var pending: [Int] = []
    /// How many calls have returned.
    private(set) var moment = 0

    init(_ log: PowerLog, ignoringSyncs: Bool = false) {
        events = log.events
        ignoresSyncs = ignoringSyncs
    }

    /// Whether a call is under way at this moment: of what it writes, too, any part may be there.
    var isAtEnd: Bool { moment >= events.count }

    /// Lets the next call return.
    ///
    /// - Returns: What it put out, if that was what it did.
    mutating func advance() -> Data? {
        defer { moment += 1 }
        switch events[moment] {
        case .output(let bytes): return bytes
        case .length: pending.append(moment)
        case .write(_, _, let isDurable):
            pending.append(moment)
            let now = moment
            if isDurable && !ignoresSyncs { settle { $0 == now } }
        case .sync:
            if !ignoresSyncs { settle { _ in true } }
        }
        return nil
    }

    private mutating func settle(_ isSettled: (Int) -> Bool) {
        var settled = durable
        for index in pending where isSettled(index) { apply(index, .all, to: &settled) }
        durable = settled
        pending = pending.filter { !isSettled($0) }
    }

    /// What may be lost now: the calls that were not synced, and the one under way.
    var uncertain: [Int] {
        guard !isAtEnd else { return pending }
        switch events[moment] {
        case .write, .length: return pending + [moment]
        case .sync, .output: return pending
        }
    }

    /// The number of bytes that a call writes.
    func byteCount(of index: Int) -> Int {
        if case .write(_, let bytes, _) = events[index] { bytes.count } else { 0 }
    }

    /// The file after a cut now.
    ///
    /// - Parameter part: What came to the disk of each call that is uncertain.
    /// - Returns: Its bytes.
    func state(_ part: (Int) -> Part) -> Data {
        var state = durable
        for index in uncertain { apply(index, part(index), to: &state) }
        return state
    }

    private func apply(_ index: Int, _ part: Part, to file: inout Data) {
        switch events[index] {
        case .length(let length):
            if case .none = part { return }
            if length > file.count {
                file.append(Data(count: length - file.count))
            } else {
                file = file.prefix(length)
            }
        case .write(let offset, let bytes, _):
            switch part {
            case .none: return
            case .all: put(bytes, at: offset, in: &file)
            case .beginning(let count, let size):
                // Sectors are where the disk has them, wherever the write begins.
                let end = min((offset / size + count) * size, offset + bytes.count)
                if end > offset { put(bytes.prefix(end - offset), at: offset, in: &file) }
            case .some(let sectors, let size):
                for sector in sectors {
                    let begin = max(offset, (offset / size + sector) * size)
                    let end = min((offset / size + sector + 1) * size, offset + bytes.count)
                    guard begin < end else { continue }
                    let first = bytes.startIndex + begin - offset
                    put(bytes[first..<first + end - begin], at: begin, in: &file)
                }
            }
        case .sync, .output: return
        }
    }

    private func put(_ bytes: Data, at offset: Int, in file: inout Data) {
        if file.count < offset + bytes.count {
            file.append(Data(count: offset + bytes.count - file.count))
        }
        file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
}
