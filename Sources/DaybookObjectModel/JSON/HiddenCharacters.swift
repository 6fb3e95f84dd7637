extension Unicode.Scalar {
    /// Whether the character is invisible and affects the text around it: control characters, which
    /// command a terminal, and marks that end lines or reverse the order of letters.
    ///
    /// Printed text must show its content, so such characters are written out.
    package var isHidden: Bool {
        switch value {
        case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether a byte of UTF-8 may begin a hidden character outside of ASCII.
    package static func mayBeginHidden(_ byte: UInt8) -> Bool {
        byte == 0xC2 || byte == 0xD8 || byte == 0xE2
    }
}
