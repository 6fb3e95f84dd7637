import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

@Suite struct ObjectStatusTests {
    private func status(
        _ start: ObjectStatus = .new, _ events: ObjectStatus.Event...
    ) -> ObjectStatus {
        var status = start
        for event in events { status.undergo(event) }
        return status
    }

    @Test func `a status takes four bytes, as it stands in every object`() {
        #expect(MemoryLayout<ObjectStatus>.size == 4)
    }

    @Test func `a new object is of its event until that is over, and saved after a save`() {
        let made = status(.new, .inserted)
        #expect(made.pending == .insertOfEvent && made.isTemporary && made.isOfEvent)

        let kept = status(made, .eventEnded)
        #expect(kept.pending == .insert && kept.isPendingInsert && !kept.isOfEvent)
        #expect(status(kept, .edited).pending == .insert)

        let saved = status(kept, .saved)
        #expect(saved.pending == .nothing && !saved.isTemporary && saved.standing == .present)
        #expect(status(saved, .edited).pending == .update)
        #expect(status(saved, .deleted).pending == .delete)
    }

    @Test func `an object that is inserted and deleted is both until the event is over`() {
        let annihilated = status(.new, .inserted, .deleted)

        #expect(annihilated.isPendingInsert && annihilated.isPendingDelete)
        #expect(!annihilated.isOfEvent)
        #expect(status(annihilated, .broughtBack).pending == .insert)
        let detached = status(annihilated, .detached)
        #expect(detached.isDetached && detached.isTemporary && detached.pending == .nothing)
    }

    @Test func `dropping edits leaves inserts and deletes alone`() {
        let saved = status(.new, .inserted, .eventEnded, .saved)

        #expect(status(saved, .edited, .editsDropped).pending == .nothing)
        #expect(status(saved, .edited, .deleted, .editsDropped).pending == .delete)
        #expect(status(.new, .inserted, .eventEnded, .editsDropped).pending == .insert)
        #expect(status(saved, .edited, .deleted, .changesDropped).pending == .nothing)
    }

    @Test func `only what was read is a refreshed fault after a refresh`() {
        let read = status(.fault, .read)

        #expect(status(read, .turnedIntoFault(.refresh)).isRefreshed)
        #expect(!status(.fault, .turnedIntoFault(.refresh)).isRefreshed)
        #expect(
            status(read, .turnedIntoFault(.refresh), .turnedIntoFault(.refresh)).isRefreshed)
        #expect(!status(read, .turnedIntoFault(.refresh), .read).isRefreshed)
        #expect(!status(read, .turnedIntoFault(.refresh), .turnedIntoFault(.anew)).isRefreshed)
        #expect(status(read, .outdated).reading == .fault)
    }

    @Test func `a mark of who remembers an object survives everything that happens to it`() {
        var held = status(.fault, .read, .edited)
        held.holdsRow = true
        held.markJournaled()

        for event in [
            .detached, .arrived(isReturned: true), .turnedIntoFault(.anew),
            .turnedIntoFault(.reset), .saved,
        ] as [ObjectStatus.Event] {
            let after = status(held, event)
            #expect(after.holdsRow && after.isJournaled, "\(event)")
        }
        held.isCounted = true
        held.isValid = true
        let anew = status(held, .turnedIntoFault(.anew))
        #expect(!anew.isCounted && !anew.isValid)
    }

    @Test func `a reset takes an object out of its context, and an insert made again puts it back`()
    {
        let reset = status(.fault, .read, .edited, .turnedIntoFault(.reset))
        #expect(reset.isDetached && reset.isFault && reset.pending == .nothing)

        let back = status(.new, .inserted, .eventEnded, .detached, .broughtBack, .settled(.insert))
        #expect(back.standing == .present && back.pending == .insert && back.isTemporary)
    }

    @Test func `who was inserted again has returned until it is saved, here and in the parent`() {
        let back = status(.new, .inserted, .eventEnded, .detached, .broughtBack, .settled(.insert))

        #expect(back.isReturned)
        #expect(!status(back, .saved).isReturned)
        #expect(!status(.new, .inserted, .eventEnded).isReturned)
        // A delete that was pending is taken back, and the object had not left.
        #expect(!status(.fault, .read, .deleted, .broughtBack).isReturned)
        #expect(status(.fault, .arrived(isReturned: true)).isReturned)
        #expect(!status(.fault, .arrived(isReturned: false)).isReturned)
    }

    @Test func `a record found deleted leaves the pending change to the caller`() {
        let gone = status(.fault, .read, .edited, .foundGone)
        #expect(gone.isGone && gone.pending == .update)
        #expect(!status(gone, .turnedIntoFault(.anew)).isGone)
        // A merged delete does not read the object.
        #expect(status(.fault, .foundGone).isFault)
    }
}
