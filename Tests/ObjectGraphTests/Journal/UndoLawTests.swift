import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// The undo manager against the simplest reference: a list of pictures and a position in it.
private struct Album {
    var pictures: [Picture]
    var position = 0
    /// The position of the store; nil once undo and redo can no longer reach that picture.
    var savedPosition: Int? = 0
    var savedPicture: Picture

    init(_ picture: Picture) {
        pictures = [picture]
        savedPicture = picture
    }

    mutating func add(_ picture: Picture, limit: Int) {
        guard picture != pictures[position] else { return }
        if let saved = savedPosition, saved > position { savedPosition = nil }
        pictures.removeSubrange((position + 1)...)
        pictures.append(picture)
        position += 1
        guard limit > 0, position > limit else { return }
        pictures.removeFirst()
        position -= 1
        savedPosition = savedPosition.flatMap { $0 > 0 ? $0 - 1 : nil }
    }
}

@Suite struct UndoLawTests {
    @Test(arguments: 1...20)
    func `F42 F44 F47 S29 undo and redo agree with a list of pictures`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let limit = seed.isMultiple(of: 3) ? 4 : 0
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            let manager = try context.manager
            manager.removeAllActions()
            manager.levelsOfUndo = limit
            var album = Album(try context.picture())

            for _ in 0..<60 {
                let kind = Int.random(in: 0...9, using: &random)
                switch kind {
                case 0...3:
                    edit(season, &random)
                    context.processPendingChanges()
                    album.add(try context.picture(), limit: limit)
                case 4:
                    manager.beginUndoGrouping()
                    for _ in 0...Int.random(in: 0...2, using: &random) {
                        edit(season, &random)
                        if Bool.random(using: &random) { context.processPendingChanges() }
                    }
                    let before = try context.picture()
                    manager.beginUndoGrouping()
                    edit(season, &random)
                    manager.endUndoGrouping()
                    if Bool.random(using: &random) {
                        manager.undoNestedGroup()
                        #expect(try context.picture() == before)
                        manager.redo()
                    }
                    manager.endUndoGrouping()
                    album.add(try context.picture(), limit: limit)
                case 5...6:
                    guard album.position > 0 else { continue }
                    context.undo()
                    album.position -= 1
                case 7:
                    guard album.position < album.pictures.count - 1 else { continue }
                    context.redo()
                    album.position += 1
                case 8:
                    try context.save()
                    album.savedPosition = album.position
                    album.savedPicture = album.pictures[album.position]
                    #expect(try store.picture() == context.picture())
                default:
                    guard let saved = album.savedPosition,
                        Int.random(in: 0...3, using: &random) == 0
                    else { continue }
                    context.rollback()
                    album = Album(album.pictures[saved])
                }
                let picture = try context.picture()
                let expected = album.pictures[album.position]
                #expect(picture == expected, "\(picture.difference(from: expected))")
                #expect(manager.undoCount == album.position)
                #expect(manager.redoCount == album.pictures.count - 1 - album.position)
                if album.position == album.savedPosition { #expect(!context.hasChanges) }
                if picture != album.savedPicture { #expect(context.hasChanges) }
            }
        }
    }

    @Test(arguments: 1...10)
    func `J4 P3 a continued undo leads back through every save of an earlier run`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let store = try ClubStore()
        var pictures = try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            var pictures = [try context.picture()]
            for _ in 0..<10 {
                for _ in 0...Int.random(in: 0...2, using: &random) {
                    edit(season, &random)
                    context.processPendingChanges()
                }
                guard try context.save(author: "ada") != nil else { continue }
                pictures.append(try context.picture())
            }
            return pictures
        }
        let again = try ClubStore(store)

        try again.inContext { (context) throws in
            let count = try context.continueUndo(savesBy: .author("ada"))
            #expect(count == pictures.count - 1)
            context.undoFailureHandler = { error in Issue.record("seed \(seed): \(error)") }
            var last = pictures.removeLast()
            var undone: [Picture] = []
            var saved = last
            while let expected = pictures.popLast() {
                context.undo()
                undone.append(last)
                last = expected
                let picture = try context.picture()
                #expect(picture == expected, "seed \(seed), \(picture.difference(from: expected))")
                if Bool.random(using: &random) {
                    let entry = try context.save()
                    #expect((entry == nil) == (saved == expected), "seed \(seed)")
                    #expect(try again.picture() == expected, "seed \(seed)")
                    saved = expected
                }
            }
            #expect(context.undoManager?.canUndo == false)
            while let expected = undone.popLast() {
                context.redo()
                #expect(try context.picture() == expected, "seed \(seed)")
            }
            try context.save()
            #expect(try again.picture() == context.picture())
        }
    }

    /// One edit of the season, which always leaves a trace.
    private func edit(_ season: Season, _ random: inout SeededGenerator) {
        if Int.random(in: 0...4, using: &random) == 0 {
            let objects =
                [
                    season.away, season.bob, season.cleo, season.dan, season.second,
                ] as [ManagedObject]
            let here = objects.filter(season.isHere)
            if let object = here.randomElement(using: &random) { season.context.delete(object) }
        } else if season.objects.allSatisfy(season.isHere) {
            let edits = ClubEdit.allCases.filter { $0 != .transient && $0 != .insert }
            edits.randomElement(using: &random)?.make(season)
        }
        season.ann.shirt = Int.random(in: 1...1_000_000_000, using: &random)
    }
}

extension Season {
    fileprivate func isHere(_ object: ManagedObject) -> Bool {
        object.managedObjectContext != nil && !object.isDeleted
    }
}

extension Picture {
    /// The differences between two pictures.
    fileprivate func difference(from other: Picture) -> [String] {
        Set(keys).union(other.keys).sorted().flatMap { name in
            let (here, there) = (self[name] ?? [:], other[name] ?? [:])
            return Set(here.keys).union(there.keys).sorted().compactMap { key in
                here[key] == there[key]
                    ? nil
                    : "\(name).\(key) is \(here[key] ?? "-"), not \(there[key] ?? "-")"
            }
        }
    }
}
