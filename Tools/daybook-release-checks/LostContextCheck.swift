import Daybook

final class Orphan: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var age: Int = 0
    @Relationship var parent: Orphan?
    @Relationship(inverse: \Orphan.parent) var children: Set<Orphan>
}

enum LostContextCheck {
    static func run() throws {
        try withContainer([Orphan.self]) { container in
            let (fault, read) = try outliving(container)
            for _ in 0..<3 {
                try Finding.unless(fault.name.isEmpty, "A lost fault reads '\(fault.name)'.")
                try Finding.unless(fault.age == 0, "A lost fault reads \(fault.age).")
                try Finding.unless(read.name == "Ada", "What was read reads '\(read.name)'.")
                try Finding.unless(read.children.isEmpty, "There are members without a context.")
            }
        }
    }

    /// A fault and an object that was read, of a context that is gone.
    private static func outliving(_ container: PersistentContainer) throws -> (Orphan, Orphan) {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let fault = Orphan(context: context)
            fault.name = "Byron"
            let read = Orphan(context: context)
            read.name = "Ada"
            try context.save()
            context.refresh(fault, mergeChanges: false)
            return (fault, read)
        }
    }
}
