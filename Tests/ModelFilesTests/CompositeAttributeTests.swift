import DaybookModelFiles
import DaybookObjectModel
import Testing

@Suite struct CompositeAttributeTests {
    @Test func `composite attributes of Xcode become attributes with paths`() throws {
        let reading = try ReadModel.fixture("Places.xcdatamodel")

        let guest = try #require(reading.model.entities.first)
        let attributes = Dictionary(
            uniqueKeysWithValues: guest.attributes.map { ($0.name, $0) })
        let address = ["city", "floor", "place.latitude", "place.longitude", "street"]
        #expect(
            Set(attributes.keys)
                == Set(
                    ["name", "seat.latitude", "seat.longitude"]
                        + address.flatMap { ["home.\($0)", "work.\($0)"] }))
        #expect(attributes["home.city"]?.isIndexed == true)
        #expect(attributes["work.city"]?.isIndexed == false)
        #expect(attributes["home.street"]?.isOptional == false)
        #expect(attributes["home.street"]?.rules.maximumLength == 80)
        #expect(attributes["home.floor"]?.defaultValue == .int(1))
        #expect(attributes["seat.latitude"]?.isOptional == true)
        #expect(attributes["work.place.latitude"]?.renamingIdentifier == "office.place.latitude")
        #expect(reading.remarks == [])
    }

    @Test func `a composite attribute that contains itself is refused`() {
        let error = #expect(throws: ModelFileError.self) {
            try ReadModel.entities(
                """
                <entity name="A"><attribute name="a" attributeType="Composite" elementName="X"/></entity>
                <composite name="X"><attribute name="b" attributeType="Composite" elementName="X"/>
                </composite>
                """)
        }
        #expect(error?.problems == ["'A.a.b' is a composite attribute that contains itself."])
    }

    @Test func `a composite attribute whose elements are unknown is left out and told`() throws {
        let reading = try ReadModel.entities(
            """
            <entity name="A"><attribute name="a" attributeType="Composite" elementName="Y"/>
            <attribute name="b" attributeType="Composite"/>
            <attribute name="c" attributeType="Composite" elementName="X" transient="YES"/></entity>
            <composite name="X"><attribute name="x" attributeType="String"/></composite>
            """)

        #expect(reading.model.entities.first?.attributes == [])
        #expect(
            reading.remarks == [
                "'A.a' is a composite attribute and is left out: the file does not say of which "
                    + "elements it consists.",
                "'A.b' is a composite attribute and is left out: the file does not say of which "
                    + "elements it consists.",
                "'A.c' is a composite attribute and is left out: here it cannot be transient.",
            ])
    }
}
