import DaybookObjectModel
import DaybookStopping

/// A section of a list, as it is when it is asked.
public struct ResultsSection<Object: ManagedObject> {
    /// The value by which objects are in this section, as text; empty for objects without one.
    public let name: String
    private let key: Value
    private let list: WatchedList

    init(_ index: Int, of layout: SectionLayout, in list: WatchedList) {
        name = layout.name(of: index)
        key = layout.keys[index]
        self.list = list
    }

    /// The first letter of the name, in capitals; nil for an empty name.
    public var indexTitle: String? { name.first.map { $0.uppercased() } }

    /// How many objects are in the section; none when it has gone.
    public var numberOfObjects: Int { range.count }

    /// The objects of the section, in order.
    ///
    /// - Complexity: O(*k*), *k* their number.
    public var objects: [Object] { list.objects(in: range) }

    private var range: Range<Int> {
        guard list.hasSections else { return 0..<list.count }
        guard let index = list.layout.keys.firstIndex(of: key) else { return 0..<0 }
        return list.layout.range(of: index)
    }
}

extension WatchedList {
    /// The objects of a part of what is shown.
    func objects<Object: ManagedObject>(in range: Range<Int>) -> [Object] {
        context.requireQueue()
        var objects: [Object] = []
        objects.reserveCapacity(range.count)
        forEach(in: range) {
            if let object = context.object($0.id) as? Object { objects.append(object) }
        }
        return objects
    }

    /// The object at an offset of what is shown.
    func object<Object: ManagedObject>(at offset: Int) -> Object {
        context.requireQueue()
        require(0..<count ~= offset, "An object is asked for at an offset of the list.")
        guard let object = context.object(self[offset].id) as? Object else {
            stop("A list has objects of the class of its request.")
        }
        return object
    }

    /// The sections of what is shown; one for all objects where they are not divided.
    func sections<Object: ManagedObject>(of type: Object.Type) -> [ResultsSection<Object>] {
        layout.keys.indices.map { ResultsSection($0, of: layout, in: self) }
    }
}
