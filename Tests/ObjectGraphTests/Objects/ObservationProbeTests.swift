import DaybookTestSupport
import Foundation
import Observation
import Synchronization
import Testing

@testable import DaybookObjectGraph

/// How tracked reads are distinguished from others.
@Suite struct ObservationProbeTests {
    @Test func `this toolchain's observation library shows the probe what is tracked`() async {
        // In a process of its own, where no other test tracks anything meanwhile.
        await #expect(processExitsWith: .success) {
            #expect(ObservationProbe.isReliable)
            for _ in 0..<100 {
                let outside = ObservationProbe.isTracking
                let inside = withObservationTracking {
                    ObservationProbe.isTracking
                } onChange: {
                }
                #expect(inside && !outside)
            }
        }
    }

    @Test(arguments: [true, false])
    func `watchers are told of a change with and without the probe`(hasProbe: Bool) async {
        await #expect(processExitsWith: .success) { [hasProbe] in
            ObservationProbe.isSwitchedOff.store(!hasProbe, ordering: .relaxed)
            #expect(ObservationProbe.isReliable == hasProbe)
            let store = try StaffStore()
            let context = store.context()
            try context.performAndWait {
                context.tracksObservation = true
                let ada = Employee(context: context)
                ada.lastName = "Byron"
                _ = ada.firstName
                // An object that nobody watches has no registrar, where that can be detected.
                #expect((ada.observation == nil) == hasProbe)
                let told = Atomic<Int>(0)
                withObservationTracking {
                    _ = ada.lastName
                } onChange: {
                    told.add(1, ordering: .relaxed)
                }
                ada.firstName = "Ada"
                #expect(told.load(ordering: .relaxed) == 0)
                ada.lastName = "Lovelace"
                #expect(told.load(ordering: .relaxed) == 1)
                try context.save()
                context.refresh(ada, mergeChanges: false)
                #expect(ada.lastName == "Lovelace")
            }
        }
    }
}
