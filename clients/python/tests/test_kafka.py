"""A set on a topic, by records as a broker gives them; a JUnit test follows a real broker."""

import tempfile
import unittest
from pathlib import Path

import firstseen
from firstseen import KafkaSource, UnreachableError
from firstseen.kafka import CHUNK_BYTES, ReadAnewError, Record

from .publisher import Publisher, Signer


class Recorded:
    """The records of a topic, read on from where they were."""

    def __init__(self):
        self.records = []
        self.at = 0
        self.reachable = True

    def read_to_end(self):
        if not self.reachable:
            raise UnreachableError("topic t cannot be read: the brokers are down")
        if self.at > len(self.records):
            self.at = 0
            raise ReadAnewError("t")
        while self.at < len(self.records):
            self.at += 1
            yield self.records[self.at - 1]

    def close(self):
        self.reachable = False


class Topics(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.publisher = Publisher(temporary.name)
        self.blobs = Path(temporary.name) / "blobs"
        self.topic = Recorded()
        self.source = KafkaSource(self.topic, "spam")
        self.follower = firstseen.follow(self.source)
        self.written = set()

    def chunks(self):
        """The records of the blobs that are not on the topic yet."""
        for path in sorted(self.blobs.iterdir()):
            if path.name not in self.written:
                self.written.add(path.name)
                data = path.read_bytes()
                partition = 0 if data[6] == 1 else 1
                for index in range(-(-len(data) // CHUNK_BYTES)):
                    chunk = data[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES]
                    yield Record(partition, f"{path.name}/{index}".encode(), chunk)

    def publish(self, keys, **options):
        manifest = self.publisher.publish(keys, **options)
        self.topic.records += [*self.chunks(), Record(0, b"spam", manifest.data)]
        return manifest

    def test_with_trusted_keys_only_what_they_signed_counts(self):
        signer = Signer(b"signer")
        follower = firstseen.follow(self.source, trusted_keys=[signer.trusted])
        self.publish(["a"], signer=signer)
        self.assertEqual(follower.poll().snapshot.sequence, 1)
        # Unsigned ones with high sequences, a copy of the newest without its signature, a deletion.
        unsigned = [self.publisher.manifest_bytes(sequence=10**12 + i) for i in range(4)]
        unsigned.append(self.publisher.manifest_bytes())
        self.topic.records += [Record(0, b"spam", data) for data in [*unsigned, None]]
        anew = firstseen.follow(KafkaSource(self.topic, "spam"), trusted_keys=[signer.trusted])
        self.topic.at = 0
        self.assertEqual(anew.poll().snapshot.sequence, 1)
        self.publish(["a", "b"], signer=signer)
        self.assertEqual(anew.poll().snapshot.sequence, 2)

    def test_a_key_of_a_chunk_with_a_long_number(self):
        self.publish(["a"])
        self.topic.records.append(Record(0, b"0" * 64 + b"/" + b"9" * 5_000, b"x"))
        self.assertEqual(self.follower.poll().snapshot.sequence, 1)

    def test_two_windows(self):
        self.assertIsNone(self.follower.poll())
        self.assertIn("there is no manifest of set 'spam' on the topic", self.follower.trouble)
        self.topic.records += [Record(0, b"spam/publisher", b"0/1"), Record(0, b"ham", b"x"), Record(0, b"", b"")]
        self.publish(["a", "b"])
        self.assertFalse(self.follower.poll().by_packs)
        self.publish(["b", "c"])
        self.assertTrue(self.follower.poll().by_packs)
        self.assertEqual(self.follower.contains_each(["a", "b", "c"]), [False, True, True])
        self.topic.reachable = False
        self.assertIsNone(self.follower.poll())
        self.assertIn("the brokers are down", self.follower.trouble)
        self.assertTrue(self.follower.contains("c"))

    def test_a_topic_of_something_else_is_reported(self):
        none = "there is no manifest of set 'spam' on the topic"
        other = ", but other records, such as one {}: is it the topic of snapshots?"
        publisher = Publisher(self.blobs.parent, name="ham")
        ham = Record(0, b"ham", publisher.publish(["a"]).data)
        for records, instead in (
            ([Record(0, b"spam/publisher", b"0/1"), Record(0, b"x", None)], ""),
            ([Record(0, b"", b"{}")], other.format("without a key")),
            ([Record(1, b"example.org", b"{}")], other.format("with the key 'example.org'")),
            ([ham, Record(0, b"", b"{}")], ", but snapshots of ham"),
            ([Record(0, b"spam", ham.value[:-1])], " that can be used: the checksum of the manifest does not match its bytes"),
        ):
            topic = Recorded()
            topic.records = records
            follower = firstseen.follow(KafkaSource(topic, "spam"))
            self.assertIsNone(follower.poll())
            self.assertEqual(follower.trouble, none + instead)

    def test_unsigned_manifests_are_reported(self):
        self.publish(["a"])
        follower = firstseen.follow(self.source, trusted_keys=[Signer(b"signer").trusted])
        self.assertIsNone(follower.poll())
        self.assertRegex(follower.trouble, "that can be used: .*sign")

    def test_a_blob_of_several_chunks(self):
        # Bases of values without any room between are long.
        publisher = Publisher(self.blobs.parent, rate=2.0**-40, shards=1, room=400_000)
        publisher.blob(1, bytes(2 * CHUNK_BYTES))
        self.topic.records += self.chunks()
        self.assertIsNone(self.follower.poll())
        reference = publisher.blob(1, bytes(2 * CHUNK_BYTES))
        self.assertEqual(self.source.blob(reference), (self.blobs / reference.name).read_bytes())
        self.topic.records.append(Record(0, f"{reference.name}/1".encode(), None))
        self.follower.poll()
        with self.assertRaisesRegex(firstseen.MissingBlobError, "chunk 1 of 3 of blob"):
            self.source.blob(reference)

    def test_manifests_that_do_not_count(self):
        self.publish(["a"])
        first = self.topic.records[-1]
        self.publish(["b"])
        # Damaged, on another partition, and one that is written again.
        self.topic.records += [Record(0, b"spam", b"{"), Record(1, b"spam", b"{"), first]
        self.assertEqual(self.follower.poll().snapshot.sequence, 2)
        self.assertIsNone(self.follower.poll())
        self.assertIsNone(self.follower.trouble)
        # After a deletion only what comes then.
        again = Recorded()
        again.records = [*self.topic.records, Record(0, b"spam", None), first]
        self.assertEqual(firstseen.follow(KafkaSource(again, "spam")).poll().snapshot.sequence, 1)

    def test_a_topic_that_was_made_anew(self):
        self.publish(["a"])
        self.assertEqual(self.follower.poll().snapshot.sequence, 1)
        self.topic.records.clear()
        self.assertIsNone(self.follower.poll())
        self.assertIn("was recreated", self.follower.trouble)
        self.assertTrue(self.follower.contains("a"))
        self.assertIsNone(self.follower.poll())
        self.assertIn("there is no manifest of set 'spam' on the topic", self.follower.trouble)
        self.written.clear()
        self.publish(["b"])
        self.assertTrue(self.follower.poll().snapshot.contains("b"))

    def test_a_chunk_that_comes_late(self):
        manifest = self.publisher.publish(["a"])
        late = list(self.chunks())
        self.topic.records.append(Record(0, b"spam", manifest.data))
        self.assertIsNone(self.follower.poll())
        self.assertIn("is not on the topic", self.follower.trouble)
        self.topic.records += late
        self.assertTrue(self.follower.poll().snapshot.contains("a"))


if __name__ == "__main__":
    unittest.main()
