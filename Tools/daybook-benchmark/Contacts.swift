/// The data of a run: objects of five attributes, the same for every contender.
///
/// Texts have 13, 24 and 40 bytes. They are prepared both as Swift strings and as plain bytes, so
/// that no contender pays for making or converting them while it is timed.
struct Contacts: Sendable {
    static let nameLength = 13
    static let mailLength = 24
    static let addressLength = 40
    static let textLength = nameLength + mailLength + addressLength

    let count: Int
    let names: [String]
    let mails: [String]
    let addresses: [String]
    let ages: [Int]
    let balances: [Double]
    /// Name, mail and address of each, in sequence.
    let texts: [UInt8]

    /// Makes objects. Another revision of the same objects differs in mail, age and balance.
    init(count: Int, revision: Int) {
        self.count = count
        var names: [String] = []
        var mails: [String] = []
        var addresses: [String] = []
        var ages: [Int] = []
        var balances: [Double] = []
        var texts: [UInt8] = []
        texts.reserveCapacity(count * Self.textLength)
        for index in 0..<count {
            names.append(Self.text("Contact ", index, Self.nameLength))
            mails.append(Self.text("mail-\(revision)@example.org/", index, Self.mailLength))
            addresses.append(
                Self.text("Long Street near the Old Harbour ", index, Self.addressLength))
            ages.append(Self.age(index, revision: revision))
            balances.append(Double(index) * 1.25 + Double(revision) * 1000.5)
            texts += Array((names[index] + mails[index] + addresses[index]).utf8)
        }
        self.names = names
        self.mails = mails
        self.addresses = addresses
        self.ages = ages
        self.balances = balances
        self.texts = texts
    }

    /// The share of indexes of one of several threads, which together cover each index once.
    func share(_ number: Int, of sharers: Int) -> Range<Int> {
        (number * count / sharers)..<((number + 1) * count / sharers)
    }

    private static func age(_ index: Int, revision: Int) -> Int {
        (index * 7919 + revision * 31) % 90
    }

    /// Text of exactly `length` bytes that ends with the number.
    private static func text(_ start: String, _ index: Int, _ length: Int) -> String {
        let digits = String(index)
        let room = length - start.utf8.count
        return start + String(repeating: "0", count: max(0, room - digits.utf8.count))
            + String(digits.suffix(room))
    }
}

/// A generator with a seed, so that every contender reads in the same random order.
struct ReadingOrder: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
