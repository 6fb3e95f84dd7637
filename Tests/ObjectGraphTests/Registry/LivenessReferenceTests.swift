import Dispatch
import Testing

@testable import DaybookObjectGraph

/// What weak references promise. The runtime's functions behind one kind of them are declared by hand: a
/// toolchain with different ones fails here.
@Suite struct LivenessReferenceTests {
    private final class Subject {
        var value = 7
    }

    /// Three objects, one after the other in the same memory if the runtime reuses it.
    private func keepsItsPromises<Reference: LooseReference<Subject>>(_ type: Reference.Type) {
        var object: Subject? = Subject()
        guard let first = object else { return }
        let reference = Reference(to: first)
        let copy = reference

        #expect(reference.object === first)
        #expect(copy.object?.value == 7)
        #expect(reference.refers(to: first))
        #expect(!reference.refers(to: Subject()))
        // What it hands out keeps the object alive.
        let kept = withExtendedLifetime(first) { reference.object }
        object = nil
        #expect(kept?.value == 7)
        #expect(reference.object === kept)
        copy.release()
    }

    private func losesItsObject<Reference: LooseReference<Subject>>(_ type: Reference.Type) {
        for _ in 0..<1_000 {
            let reference = {
                let object = Subject()
                let reference = Reference(to: object)
                #expect(reference.object === object)
                return reference
            }()

            #expect(reference.object == nil)
            // The memory of one that has gone belongs to no other.
            let others = (0..<8).map { _ in Subject() }
            #expect(reference.object == nil)
            if Reference.self == LivenessReference<Subject>.self {
                #expect(!others.contains { reference.refers(to: $0) })
            }
            reference.release()
        }
    }

    /// Looks at an object while another thread releases it.
    private func isWholeOrNothing<Reference: LooseReference<Subject>>(_ type: Reference.Type) {
        for _ in 0..<2_000 {
            let handover = Handover(Subject())
            let reference = handover.withObject { Reference(to: $0) }
            let done = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                handover.letGo()
                done.signal()
            }
            if let found = reference?.object { #expect(found.value == 7) }
            done.wait()
            #expect(reference?.object == nil)
            reference?.release()
        }
    }

    @Test func `a reference finds its object as long as that lives`() {
        keepsItsPromises(LivenessReference<Subject>.self)
        keepsItsPromises(WeakReference<Subject>.self)
    }

    @Test func `a reference does not keep its object and never finds another instead`() {
        losesItsObject(LivenessReference<Subject>.self)
        losesItsObject(WeakReference<Subject>.self)
    }

    @Test func `an object that is released elsewhere is found whole or not at all`() {
        isWholeOrNothing(LivenessReference<Subject>.self)
        isWholeOrNothing(WeakReference<Subject>.self)
    }

    @Test func `references take a word, and no table beside each object`() {
        #expect(MemoryLayout<LivenessReference<Subject>?>.size == MemoryLayout<UInt>.size)
    }

    /// The only reference to an object, which another thread will release.
    private final class Handover: @unchecked Sendable {
        // @unchecked Sendable because the object is handed over once and only released there.
        private var object: Subject?

        init(_ object: Subject) {
            self.object = object
        }

        func withObject<Result>(_ body: (Subject) -> Result) -> Result? { object.map(body) }

        func letGo() {
            object = nil
        }
    }
}
