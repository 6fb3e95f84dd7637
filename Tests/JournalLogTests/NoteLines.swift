import Foundation
import Testing

/// The lines of a note, and a forger's changes to them.
struct NoteLines {
    private let lines: [String]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    subscript(index: Int) -> String { lines[index] }

    func last(_ isWanted: (String) -> Bool) -> String? { lines.last(where: isWanted) }
}

extension NoteLines {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

    /// The character of base64 after another.
    static func neighbour(of character: Character?) -> Character {
        let index = character.flatMap { alphabet.firstIndex(of: $0) } ?? 0
        return alphabet[index ^ 1]
    }

    /// Some bytes in base64.
    static func base64(count: Int) -> String {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }).base64EncodedString()
    }

    /// A signature line under the id of another line's key.
    static func line(_ line: String, withIDOf other: String) throws -> String {
        let words = line.split(separator: " ").map(String.init)
        var bytes = try #require(Data(base64Encoded: words[2]))
        let word = try #require(other.split(separator: " ").last)
        let known = try #require(Data(base64Encoded: String(word)))
        bytes.replaceSubrange(0..<4, with: known.prefix(4))
        return "\(words[0]) \(words[1]) \(bytes.base64EncodedString())"
    }

    /// A note whose last signature has the order of the curve added to its second half, which stands
    /// for the same number.
    static func addingOrder(to note: String) throws -> String {
        let order: [UInt8] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9,
            0xde, 0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ]
        let line = try #require(note.split(separator: "\n").last)
        let word = try #require(line.split(separator: " ").last)
        var bytes = [UInt8](try #require(Data(base64Encoded: String(word))))
        var carry = 0
        for index in 0..<32 {
            let sum = Int(bytes[36 + index]) + Int(order[index]) + carry
            bytes[36 + index] = UInt8(sum & 0xFF)
            carry = sum >> 8
        }
        return note.replacing(word, with: Data(bytes).base64EncodedString())
    }
}
