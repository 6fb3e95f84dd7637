import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// New stores of what is left of damaged ones.
struct RecoveringTests {
    private let directory: TemporaryDirectory
    private let sound: String
    private let damaged: String
    private let new: String

    init() throws {
        directory = try TemporaryDirectory()
        sound = directory.path("sound.daybook")
        damaged = directory.path("damaged.daybook")
        new = directory.path("new.daybook")
    }

    // MARK: - Whole journals

    @Test(arguments: [8, 66, 300])
    func `all of a store whose journal is whole is recovered`(entries: UInt64) throws {
        try DamageSample.make(at: sound, entries: entries)
        try DamagedFile.mark(sound)
        let before = try Data(contentsOf: URL(fileURLWithPath: sound))

        let recovery = try Store.recover(from: sound, into: new)

        #expect(recovery.isComplete)
        #expect(recovery.unchanged.rawValue == entries)
        #expect(try DamageSample.readContent(new) == DamageSample.readContent(sound))
        #expect(try tables(new) == tables(sound))
        #expect(try DamagedFile.marks(new) == DamagedFile.marks(sound))
        #expect(try Store.verify(path: new).isSound)
        #expect(try Data(contentsOf: URL(fileURLWithPath: sound)) == before)
        // Numbers of objects go on where they were.
        let store = try Store.open(at: new)
        let skill = try store.newObject("Skill")
        #expect(try store.row(of: skill, at: nil) == nil)
        try store.close()
    }

    @Test
    func
        `without the first pages all entries are recovered, and what proves itself by nothing is not`()
        throws
    {
        try DamageSample.make(at: sound, entries: 66)
        try DamagedFile.mark(sound)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        bytes.replaceSubrange(0..<2 * 4_096, with: Data(count: 2 * 4_096))
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.unchanged == SequenceNumber(66))
        #expect(recovery.missing.isEmpty && recovery.losses.isEmpty)
        #expect(!recovery.hasMarks && recovery.said == nil && !recovery.isComplete)
        #expect(try digest(new) == digest(sound))
        #expect(try tables(new) == tables(sound))
        let store = try Store.open(at: new)
        let original = try Store.open(at: sound)
        #expect(store.uuid != original.uuid)
        #expect(try store.tags().map(\.name) == ["recovered"])
        for store in [store, original] { try store.close() }
    }

    @Test func `what is damaged beside the journal takes nothing else along`() throws {
        try DamageSample.make(at: sound, entries: 66)
        try DamagedFile.mark(sound)
        let store = try Store.open(at: sound)
        let (uuid, tags) = (store.uuid, try store.tags().map(\.name))
        try store.writing { [meta = store.parts.tables.meta] transaction in
            let key = Array(StoreMetadata.Name.cursors.utf8)
            try transaction.put(meta, key.span.bytes, [1, 2, 3].span.bytes, .upsert)
        }
        try store.close()

        let recovery = try Store.recover(from: sound, into: new)

        #expect(recovery.hasMarks && recovery.lostMarks == ["cursors"])
        #expect(!recovery.isComplete)
        let recovered = try Store.open(at: new)
        #expect(recovered.uuid == uuid)
        #expect(Set(try recovered.tags().map(\.name)).isSuperset(of: tags))
        try recovered.close()
    }

    @Test func `whichever page is lost, only the entries on it are missing`() throws {
        try DamageSample.make(at: sound, entries: 120)
        let whole = try Data(contentsOf: URL(fileURLWithPath: sound))
        let entries = try entries(of: sound)
        var partly = 0

        for page in 0..<whole.count / 4_096 {
            var bytes = whole
            let range = page * 4_096..<(page + 1) * 4_096
            let lost = bytes[range]
            bytes.replaceSubrange(range, with: Data(repeating: 0xA5, count: 4_096))
            try bytes.write(to: URL(fileURLWithPath: damaged))
            let recovery: Recovery
            do {
                recovery = try Store.recover(from: damaged, into: new)
            } catch let error as StoreError {
                Issue.record("page \(page): \(error)")
                continue
            }
            // The tables have the model that the first entry sets.
            let lacksFirst = recovery.missing.first?.lowerBound == SequenceNumber(1)
            #expect(recovery.models == (lacksFirst ? [SequenceNumber(1)] : []), "page \(page)")

            for range in recovery.missing {
                for number in range.lowerBound.rawValue...range.upperBound.rawValue {
                    let entry = entries[Int(number) - 1]
                    #expect(lost.has(entry, in: whole, at: page), "page \(page), entry \(number)")
                }
            }
            if !recovery.missing.isEmpty { partly += 1 }
            let report = try Store.verify(path: new)
            #expect(report.isSound, "page \(page): \(report.findings)")
            let store = try Store.open(at: new)
            for entry in entries.prefix(Int(recovery.unchanged.rawValue)) {
                let digest = try store.entry(entry.sequence).digest
                #expect(digest == entry.digest, "page \(page), entry \(entry.sequence)")
            }
            #expect(
                try store.head().rawValue == recovery.unchanged.rawValue
                    + UInt64(recovery.repeated + recovery.models.count))
            try store.close()
            try Store.remove(at: new)
        }
        #expect(partly > 1)
    }

    @Test func `whatever bytes are changed, the new store is sound and begins like the old one`()
        throws
    {
        try DamageSample.make(at: sound, entries: 70)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        let digests = try entries(of: sound).map(\.digest)
        let seed = TestSeed.value
        var generator = SeededGenerator(seed: seed)

        for round in 0..<120 {
            var bytes = bytes
            for _ in 0..<Int.random(in: 1...400, using: &generator) {
                let place = Int.random(in: bytes.indices, using: &generator)
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
            }
            if round % 5 == 0 {
                bytes = bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))
            }
            try bytes.write(to: URL(fileURLWithPath: damaged))
            let place: Comment = "seed \(seed), round \(round)"
            do {
                let recovery = try Store.recover(from: damaged, into: new)
                #expect(try Store.verify(path: new).isSound, place)
                let store = try Store.open(at: new)
                for (index, digest) in digests.prefix(Int(recovery.unchanged.rawValue)).enumerated()
                {
                    let found = try store.entry(SequenceNumber(UInt64(index) + 1)).digest
                    #expect(found == digest, place)
                }
                try store.close()
                try Store.remove(at: new)
            } catch let error as StoreError {
                #expect([.corrupt, .notAStore].contains(error.code), "\(place): \(error)")
                #expect(!FileManager.default.fileExists(atPath: new), place)
            }
        }
    }

    // MARK: - Gaps

    @Test func `after a gap entries are carried out again, and say which they were`() throws {
        let (france, italy) = try makeSkills()
        try DamagedFile.mark(sound)
        // Entry 4 renames France, entry 6 inserts Poland.
        try lose([4, 6])

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.unchanged == SequenceNumber(3))
        #expect(recovery.missing.map(\.entryName) == ["entry 4", "entry 6"])
        #expect(recovery.repeated == 3)
        #expect(recovery.losses.map(\.sequence.rawValue) == [7, 9, 9])
        #expect(
            recovery.losses.first?.text.contains("the entry that inserted it is missing") == true)
        let store = try Store.open(at: new)
        #expect(try title(france, in: store) == "France 10")
        #expect(try title(italy, in: store) == "Italy 8")
        let entries = try (4...6).map { try store.entry(SequenceNumber($0)) }
        let original = try Store.open(at: sound)
        for (entry, old) in zip(entries, [5, 8, 10] as [UInt64]) {
            let before = try original.entry(SequenceNumber(old))
            #expect(entry.header.author == before.header.author)
            #expect(entry.header.note == before.header.note)
            #expect(entry.recordedAt == before.recordedAt)
            #expect(entry.time == before.time)
            #expect(
                entry.header.info["recovered"]
                    == "entry \(old), digest \(before.digest.hexadecimal)")
        }
        #expect(store.uuid != original.uuid)
        // 'early' stood at entry 2, 'late' at entry 9, of which nothing is left, and 'last' at the end.
        #expect(try store.tags().map(\.name) == ["early", "recovered", "last"])
        #expect(try store.tags().map(\.sequence.rawValue) == [2, 3, 6])
        #expect(recovery.losses.last?.text == "The tag 'late' stood here.")
        #expect(try store.position(ofCursor: "mail") == SequenceNumber(5))
        #expect(try store.userValues() == ["a": .int(7)])
        for store in [store, original] { try store.close() }
        #expect(try Store.verify(path: new).isSound)
    }

    @Test func `a model that was set after a gap is set again, and what is by it follows`() throws {
        let (france, italy) = try makeSkills()
        var model = ManagedObjectModel.sample
        model.entities[3].attributes.append(AttributeDescription(name: "level", type: .int32))
        let options = StoreOptions.counting()
        var store = try Store.open(at: sound, model: model, options: options)
        let step = try store.entry(SequenceNumber(11))
        #expect(step.version != nil)
        try store.commit(
            SaveRequest(changes: [store.update(france, "level", from: .null, to: .int(3))]))
        try store.close()
        try lose([8])

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.missing.map(\.entryName) == ["entry 8"])
        #expect(recovery.losses.isEmpty && recovery.repeated == 4)
        store = try Store.open(at: new)
        #expect(try store.head() == SequenceNumber(11))
        #expect(try store.entry(SequenceNumber(10)).recordedAt == step.recordedAt)
        let row = try #require(try store.read { try $0.row(france) })
        #expect(row.values.contains(.int(3)))
        #expect(try title(italy, in: store) == "Italy")
        try store.close()
        #expect(try Store.verify(path: new).isSound)
    }

    @Test func `without its first entry a store begins with the model of the tables`() throws {
        let (france, italy) = try makeSkills()
        try DamagedFile.mark(sound)
        try lose([1])

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.missing.map(\.entryName) == ["entry 1"])
        #expect(recovery.models == [SequenceNumber(1)])
        #expect(recovery.unchanged == .zero && recovery.repeated == 9)
        #expect(recovery.losses.isEmpty && !recovery.isComplete)
        #expect(recovery.hasMarks && recovery.said == SequenceNumber(10))
        let old = try entries(of: sound)
        let store = try Store.open(at: new)
        #expect(try store.head() == SequenceNumber(10))
        let first = try store.entry(SequenceNumber(1))
        #expect(first.header.info == ["recovered": "model of entry 1"])
        #expect(first.recordedAt == old[1].recordedAt)
        let second = try store.entry(SequenceNumber(2))
        #expect(second.header.author == "ada")
        #expect(
            second.header.info["recovered"] == "entry 2, digest \(old[1].digest.hexadecimal)")
        #expect(try title(france, in: store) == "France 10")
        #expect(try title(italy, in: store) == "Italy 8")
        #expect(try store.tags().map(\.name) == ["early", "late", "last"])
        #expect(try store.tags().map(\.sequence.rawValue) == [2, 9, 10])
        #expect(try store.position(ofCursor: "mail") == SequenceNumber(9))
        #expect(try store.userValues() == ["a": .int(7)])
        try store.close()
        #expect(try Store.verify(path: new).isSound)
    }

    @Test func `a file with no model at all is refused`() throws {
        _ = try makeSkills()
        try lose([1])
        // The tables' record begins with the entry's number as its key, and ends with a digest and a check.
        let version = try #require(
            try DamagedFile.reading(sound) { try $0.entry(SequenceNumber(1)).version })
        var bytes = try Data(contentsOf: URL(fileURLWithPath: damaged))
        let wanted = Data([0, 0, 0, 0, 0, 0, 0, 1] + version.canonicalBytes)
        while let place = bytes.range(of: wanted) { bytes[place.lowerBound + 20] ^= 0xFF }
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let error = #expect(throws: StoreError.self) {
            try Store.recover(from: damaged, into: new)
        }

        #expect(error?.code == .corrupt)
        #expect(
            error?.message.hasPrefix(
                "Entry 1, which sets the model, is lost, and so is the model in the tables; the "
                    + "first entry that was found is entry 2.") == true)
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    @Test func `a model whose entry is lost is taken from the tables, and what needs it follows`()
        throws
    {
        let (france, _) = try makeSkills()
        var model = ManagedObjectModel.sample
        model.entities[3].attributes.append(AttributeDescription(name: "level", type: .int32))
        var store = try Store.open(at: sound, model: model, options: .counting())
        try store.commit(
            SaveRequest(changes: [store.update(france, "level", from: .null, to: .int(3))]))
        try store.close()
        try lose([11])

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.missing.map(\.entryName) == ["entry 11"])
        #expect(recovery.models == [SequenceNumber(11)], "\(recovery.losses)")
        #expect(recovery.losses.isEmpty && recovery.repeated == 1)
        store = try Store.open(at: new)
        #expect(try store.head() == SequenceNumber(12))
        #expect(
            try store.entry(SequenceNumber(11)).header.info == [
                "recovered": "model of entry 11"
            ])
        let row = try #require(try store.read { try $0.row(france) })
        #expect(row.values.contains(.int(3)))
        try store.close()
        #expect(try Store.verify(path: new).isSound)
    }

    @Test func `what refers to an object that is lost is recovered without it`() throws {
        let store = try Store.create(at: sound, model: .sample, options: .counting())
        let company = try store.newObject("Company")
        let ada = try store.newObject("Person")
        let name = Value.string("Acme")
        try store.commit(
            SaveRequest(changes: [store.insert(company, ["code": .string("C"), "name": name])]))
        try store.commit(
            SaveRequest(changes: [
                store.insert(
                    ada,
                    ["code": .string("A"), "name": .string("Ada"), "employer": .object(company)])
            ]))
        try store.close()
        try lose([2])

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.missing.map(\.entryName) == ["entry 2"])
        #expect(recovery.losses.count == 1)
        let after = try Store.open(at: new)
        let row = try #require(try after.row(of: ada, at: nil))
        #expect(row.values.contains(.string("Ada")))
        #expect(!row.values.contains(.object(company)))
        try after.close()
        #expect(try Store.verify(path: new).isSound)
    }

    @Test func `large data are recovered from wherever they are, and said to be lost otherwise`()
        throws
    {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Photo", attributes: [AttributeDescription(name: "image", type: .data)])
        ])
        let store = try Store.create(at: sound, model: model, options: .counting())
        var generator = SeededGenerator(seed: 7)
        let images = (0..<2).map { _ in
            Data((0..<200_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        var photos: [ObjectID] = []
        for image in images {
            let photo = try store.newObject("Photo")
            try store.commit(
                SaveRequest(changes: [store.insert(photo, ["image": .large(LargeData(image))])]))
            photos.append(photo)
        }
        try store.close()
        #expect(try Store.recover(from: sound, into: new).isComplete)
        #expect(try Store.verify(path: new).isSound)
        try Store.remove(at: new)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        let place = try #require(bytes.range(of: images[1][100_000..<100_064]))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.lostData.map(\.digest) == [LargeData(images[1]).digest])
        #expect(recovery.unchanged == SequenceNumber(3) && recovery.losses.isEmpty)
        let after = try Store.open(at: new)
        #expect(try after.bytes(of: LargeData(images[0]), in: 0..<200_000) == images[0])
        let missing = #expect(throws: StoreError.self) {
            try after.bytes(of: LargeData(images[1]), in: 0..<200_000)
        }
        #expect(missing?.code == .noSuchData)
        try after.close()
    }

    @Test func `an entry that was put between others by somebody is not taken for one of them`()
        throws
    {
        _ = try makeSkills()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        // A page that nothing leads to, with another entry 5 and its digest.
        let forged = JournalEntry(
            sequence: SequenceNumber(5), recordedAt: 1, previous: .zero, payload: [1, 2, 3])
        try (bytes + DamagedFile.leaf(UInt64(bytes.count / 4_096), forged)).write(
            to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.isComplete)
        #expect(try digest(new) == digest(sound))
    }

    /// Pages that are free may also have what was taken off a copy of a shared store.
    @Test(arguments: [false, true])
    func `an entry behind the end that does not follow is not a part of the journal`(
        isEndLost: Bool
    ) throws {
        let (france, _) = try makeSkills()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        let insert = try DamagedFile.reading(sound) { store in
            store.insert(
                ObjectID(entity: france.entity, number: 999_999), ["title": .string("Forged")])
        }
        let payload = EntryPayload.bytes(EntryHeader(author: "eve"), [insert])
        let other = JournalEntry(
            sequence: SequenceNumber(11), recordedAt: 2_000_000_000_000_000, previous: .zero,
            payload: payload)
        bytes += DamagedFile.leaf(UInt64(bytes.count / 4_096), other)
        if isEndLost { bytes.replaceSubrange(0..<2 * 4_096, with: Data(count: 2 * 4_096)) }
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        // Where nothing says how many entries there were, it is told from the others.
        #expect(recovery.isComplete == !isEndLost)
        #expect(recovery.unchanged == SequenceNumber(10))
        #expect(recovery.repeated == (isEndLost ? 1 : 0))
        let store = try Store.open(at: new)
        #expect(try store.head() == SequenceNumber(isEndLost ? 11 : 10))
        if isEndLost {
            #expect(try store.entry(SequenceNumber(11)).header.info["recovered"] != nil)
            #expect(try store.tags().map(\.sequence.rawValue) == [10])
        }
        try store.close()
    }

    @Test func `a store whose newest state cannot be read has its last entry all the same`() throws
    {
        _ = try makeSkills()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        // Of the two first pages the one with the greater number of a write, at byte 144, is the newer.
        let numbers = [0, 4_096].map { page in
            bytes.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: page + 144, as: UInt64.self)
            }
        }
        let newest = numbers[1] > numbers[0] ? 4_096 : 0
        bytes.replaceSubrange(newest + 16..<newest + 152, with: Data(count: 136))
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.unchanged == SequenceNumber(10) && recovery.repeated == 0)
        #expect(try digest(new) == digest(sound))
    }

    @Test func `a tag that tells of a journal that was rewritten goes on telling`() throws {
        _ = try makeSkills()
        let store = try Store.open(at: sound)
        try store.setTag("audited", at: SequenceNumber(4))
        let tag = try #require(try store.tags().first)
        let other = StoreTag(
            name: tag.name, sequence: tag.sequence, digest: Digest.of([1]), author: nil, note: nil,
            time: tag.time)
        try store.writing { [meta = store.parts.tables.meta] in
            try StoreMetadata.setTags([other], meta, in: $0)
        }
        try store.close()

        _ = try Store.recover(from: sound, into: new)

        #expect(try DamagedFile.reading(new) { try $0.tags().map(\.digest) } == [Digest.of([1])])
        #expect(try !Store.verify(path: new).isSound)
    }

    // MARK: - Files that are none

    @Test func `a file without entries, none, and a name that is taken are refused`() throws {
        try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: damaged))
        #expect(throws: StoreError.self) { try Store.recover(from: damaged, into: new) }
        try Data().write(to: URL(fileURLWithPath: damaged))
        let empty = #expect(throws: StoreError.self) { try Store.recover(from: damaged, into: new) }
        #expect(empty?.code == .notAStore)
        let missing = #expect(throws: StoreError.self) {
            try Store.recover(from: directory.path("nothing"), into: new)
        }
        #expect(missing?.code == .missing)
        #expect(!FileManager.default.fileExists(atPath: new))
        try DamageSample.make(at: sound)
        let taken = #expect(throws: StoreError.self) {
            try Store.recover(from: sound, into: damaged)
        }
        #expect(taken?.code == .exists)
    }

    @Test func `a store that this program has open is not recovered`() throws {
        try DamageSample.make(at: sound)
        let store = try Store.open(at: sound)
        let error = #expect(throws: StoreError.self) { try Store.recover(from: sound, into: new) }
        #expect(error?.code == .busy)
        try store.close()
    }
}

// MARK: - Stores

extension RecoveringTests {
    /// Ten entries: France and Italy are inserted by entry 2 and 3, Poland by entry 6; every other one gives a name with
    /// its own number, 4 and 5 to France, 7 and 9 to Poland, 8 to Italy, and 10 to France again.
    private func makeSkills() throws -> (france: ObjectID, italy: ObjectID) {
        let store = try Store.create(at: sound, model: .sample, options: .counting())
        var names: [ObjectID: String] = [:]
        func insert(_ name: String) throws -> ObjectID {
            let skill = try store.newObject("Skill")
            try store.commit(
                SaveRequest(
                    header: EntryHeader(author: "ada", note: "insert"),
                    changes: [store.insert(skill, ["title": .string(name)])]))
            names[skill] = name
            return skill
        }
        func rename(_ skill: ObjectID, _ name: String) throws {
            let header = EntryHeader(author: "ben", note: name, occurredAt: 1_500_000_000_000_000)
            try store.commit(
                SaveRequest(
                    header: header,
                    changes: [
                        store.update(
                            skill, "title", from: .string(names[skill] ?? ""), to: .string(name))
                    ]))
            names[skill] = name
        }
        let france = try insert("France")
        let italy = try insert("Italy")
        try rename(france, "France 4")
        try rename(france, "France 5")
        let poland = try insert("Poland")
        try rename(poland, "Poland 7")
        try rename(italy, "Italy 8")
        try rename(poland, "Poland 9")
        try rename(france, "France 10")
        try store.close()
        return (france, italy)
    }

    private func lose(_ sequences: [UInt64]) throws {
        try DamagedFile.lose(sequences, of: sound, into: damaged)
    }

    private func entries(of path: String) throws -> [JournalEntry] {
        try DamagedFile.entries(of: path)
    }

    private func tables(_ path: String) throws -> [String: Digest] {
        try DamagedFile.reading(path) { try $0.projectionDigest() }
    }

    private func digest(_ path: String) throws -> Digest {
        try DamagedFile.reading(path) { try $0.headDigest() }
    }

    private func title(_ skill: ObjectID, in store: Store) throws -> String? {
        guard case .string(let title) = try store.row(of: skill, at: nil)?.values.first else {
            return nil
        }
        return title
    }
}

extension Data {
    /// Whether a page, which is at this place of a file, has the key of an entry or some of its bytes.
    fileprivate func has(_ entry: JournalEntry, in file: Data, at page: Int) -> Bool {
        let number = entry.sequence.rawValue
        let key = (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
        if range(of: Data(key)) != nil { return true }
        var start = file.startIndex
        while let place = file.range(of: Data(entry.bytes), in: start..<file.endIndex) {
            if (place.lowerBound / 4_096...(place.upperBound - 1) / 4_096).contains(page) {
                return true
            }
            start = place.upperBound
        }
        return false
    }
}
