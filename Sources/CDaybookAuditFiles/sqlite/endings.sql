-- What is added when all rows are there. A version ends where the next one of its object begins; a
-- delete is no version but an end.
CREATE UNIQUE INDEX change_place ON change(sequence, place);
CREATE INDEX change_object ON change(object, sequence);
CREATE INDEX entry_author ON entry(author);
CREATE INDEX entry_time ON entry(time_microseconds);
CREATE INDEX membership_object ON membership(object);
CREATE UNIQUE INDEX version_object ON object_version(object, valid_from);
UPDATE object_version SET valid_to = (
    SELECT min(later.valid_from) FROM object_version AS later
    WHERE later.object = object_version.object
        AND later.valid_from > object_version.valid_from);
DELETE FROM object_version WHERE state IS NULL;
CREATE INDEX version_entity ON object_version(entity, valid_to);
