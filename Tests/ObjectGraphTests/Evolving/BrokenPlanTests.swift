import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation
import Testing

@Suite struct BrokenPlanTests {
    private func problems(_ plan: any SchemaMigrationPlan.Type) throws -> [String] {
        let file = try LibraryFile()
        let error = try #require(throws: ModelError.self) {
            try TestContainer.make(file.url, migrationPlan: plan)
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        return error.problems
    }

    @Test func `a plan without versions is refused`() throws {
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = []
            static let stages: [MigrationStage] = []
        }
        #expect(
            try problems(Plan.self) == [
                "The plan 'Plan' has no version. List the versions of the classes in its 'schemas'."
            ])
    }

    @Test func `a version from which no stage leads on is named with the stage to add`() throws {
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [
                LibraryV1.self, LibraryV2.self, LibraryV3.self,
            ]
            static let stages = [LibraryPlan.stages[0]]
        }
        #expect(
            try problems(Plan.self) == [
                "The plan 'Plan' has no stage that leads on from 'LibraryV2'. Add '.lightweight("
                    + "fromVersion: LibraryV2.self, toVersion: LibraryV3.self)' to its 'stages', or a "
                    + "custom one."
            ])
    }

    @Test func `stages that lead in a circle are named`() throws {
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [
                LibraryV1.self, LibraryV2.self, LibraryV3.self,
            ]
            static let stages: [MigrationStage] = [
                LibraryPlan.stages[0],
                .lightweight(fromVersion: LibraryV2.self, toVersion: LibraryV1.self),
            ]
        }
        #expect(
            try problems(Plan.self) == [
                "The stages of the plan 'Plan' lead in a circle: 'LibraryV1', 'LibraryV2', "
                    + "'LibraryV1'. Let each lead to a later version."
            ])
    }

    @Test func `a stage to a version that is not listed, and a second from one, are named`() throws
    {
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [LibraryV1.self, LibraryV2.self]
            static let stages: [MigrationStage] = [
                LibraryPlan.stages[0],
                .lightweight(fromVersion: LibraryV1.self, toVersion: LibraryV3.self),
            ]
        }
        #expect(
            try problems(Plan.self) == [
                "The plan 'Plan' has a stage 'LibraryV1 to LibraryV3', and 'LibraryV3' is not among "
                    + "its 'schemas'. Add it there.",
                "The plan 'Plan' has two stages that lead on from 'LibraryV1'. Leave one of them out.",
            ])
    }

    @Test func `two versions with the same model are refused`() throws {
        enum Same: VersionedSchema {
            static let models = LibraryV1.models
        }
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [
                LibraryV1.self, Same.self, LibraryV2.self,
            ]
            static let stages: [MigrationStage] = [
                .lightweight(fromVersion: LibraryV1.self, toVersion: Same.self),
                .lightweight(fromVersion: Same.self, toVersion: LibraryV2.self),
            ]
        }
        let file = try LibraryFile()
        try file.fill()

        let error = try #require(throws: ModelError.self) {
            try file.program(Plan.self) { _ in }
        }

        #expect(error.problems.count == 1)
        #expect(error.description.contains("'LibraryV1' and 'Same' of the plan 'Plan'"))
        #expect(try file.head() == 2)
    }

    @Test func `a store of a version that a plan does not have is refused, naming what differs`()
        throws
    {
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [LibraryV2.self, LibraryV3.self]
            static let stages = [LibraryPlan.stages[1]]
        }
        let file = try LibraryFile()
        try file.fill()

        let error = try #require(throws: StoreError.self) {
            try file.program(Plan.self) { _ in }
        }

        #expect(error.code == .modelMismatch)
        #expect(
            error.message.contains("not in the plan 'Plan', which has 'LibraryV2', 'LibraryV3'"))
        #expect(error.details.contains("'LibraryV2': 'Person.lastName' is not in the store."))
        #expect(try file.head() == 2)
    }

    @Test func `a plan that leads to another model than the coordinator's is refused`() throws {
        let file = try LibraryFile()
        try file.fill()
        var options = PersistentStoreOptions()
        options.migrationPlan = ShortPlan.self

        let error = try #require(throws: StoreError.self) {
            try TestContainer.make(file.url, model: LibraryV3.models, options: options)
        }

        #expect(error.code == .model)
        #expect(try file.head() == 2)
    }
}
