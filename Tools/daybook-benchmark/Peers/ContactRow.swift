import CDaybookLMDB

/// The bytes of a row: the number of the entry, six offsets, then five tagged values.
enum ContactRow {
    static let headerLength = 21
    private static let nameEnd = headerLength + 2 + Contacts.nameLength
    private static let mailEnd = nameEnd + 2 + Contacts.mailLength
    private static let addressEnd = mailEnd + 2 + Contacts.addressLength
    private static let ageEnd = addressEnd + 9

    static func write(
        _ contacts: Contacts, _ index: Int, since sequence: UInt64, to row: inout ByteBuffer
    ) {
        row.removeAll()
        row.append(sequence)
        row.append(UInt8(2))
        for end in [nameEnd, mailEnd, addressEnd, ageEnd, ageEnd + 9, 5] {
            row.append(UInt16(end))
        }
        var offset = index * Contacts.textLength
        contacts.texts.withUnsafeBytes { texts in
            for length in [Contacts.nameLength, Contacts.mailLength, Contacts.addressLength] {
                row.append(UInt8(6))
                row.append(UInt8(length))
                row.append(UnsafeRawBufferPointer(rebasing: texts[offset..<(offset + length)]))
                offset += length
            }
        }
        row.append(UInt8(3))
        row.append(UInt64(bitPattern: Int64(contacts.ages[index])))
        row.append(UInt8(4))
        row.append(contacts.balances[index].bitPattern)
    }

    static func age(_ row: MDB_val) -> Int64 {
        guard let start = row.mv_data else { return 0 }
        return Int64(
            bigEndian: start.loadUnaligned(fromByteOffset: addressEnd + 1, as: Int64.self))
    }

    /// All five values, in an instance.
    static func contact(_ row: MDB_val) -> PlainContact {
        let bytes = UnsafeRawBufferPointer(start: row.mv_data, count: row.mv_size)
        func text(_ start: Int) -> String {
            let length = Int(bytes[start + 1])
            return String(
                decoding: UnsafeRawBufferPointer(
                    rebasing: bytes[(start + 2)..<(start + 2 + length)]),
                as: UTF8.self)
        }
        let balance = UInt64(
            bigEndian: bytes.loadUnaligned(fromByteOffset: ageEnd + 1, as: UInt64.self))
        return PlainContact(
            name: text(headerLength), mail: text(nameEnd), address: text(mailEnd),
            age: Int(age(row)), balance: Double(bitPattern: balance))
    }

    static func nameLength(_ row: MDB_val) -> Int {
        guard let start = row.mv_data else { return 0 }
        return Int(start.load(fromByteOffset: headerLength + 1, as: UInt8.self))
    }

    /// Old and new mail, age and balance, each after the number of its property.
    static func appendEdits(_ old: ByteBuffer, _ new: ByteBuffer, to entry: inout ByteBuffer) {
        for (start, end) in [(nameEnd, mailEnd), (addressEnd, ageEnd), (ageEnd, ageEnd + 9)] {
            entry.append(UInt8(1))
            entry.append(old, from: start, to: end)
            entry.append(new, from: start, to: end)
        }
    }
}
