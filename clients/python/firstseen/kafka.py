"""Source that follows a set on a Kafka topic (docs/format/manifest-v1.md, On a topic).

Requires the package confluent-kafka, or kafka-python 2.1 or later.
"""

from __future__ import annotations

import re
import time
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Protocol

from .bits import Reference
from .errors import FirstseenError, MissingBlobError, NoSnapshotError, UnreachableError, UnsupportedError
from .manifest import Manifest
from .signature import TrustedKey, require_signed

CHUNK_BYTES = 921_600
# The number of a chunk in decimal digits; a blob has at most 2^31 - 1 bytes.
_INDEX = re.compile(rb"0|[1-9][0-9]{0,3}")
# The number of highest manifests to try.
_CANDIDATES = 4
# The maximum number of other sets in an error message.
_NAMED_SETS = 20


class Record(NamedTuple):
    """A record of the topic. A value of None is a tombstone; the key of a record without one is empty."""

    partition: int
    key: bytes
    value: Optional[bytes]


class ReadAnewError(UnreachableError):
    """The topic no longer has records that were read, so it was recreated. The next read starts at its beginning."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"topic {topic} ends before records that were read: it was recreated, and will be read again")


class TopicRecords(Protocol):
    """Reader of the committed records of all partitions of a topic, from its beginning."""

    def read_to_end(self) -> Iterator[Record]:
        """Returns the records after the last read, up to the current end of the topic.

        Raises UnreachableError if the brokers do not respond, ReadAnewError if the topic was recreated.
        """
        ...

    def close(self) -> None: ...


class KafkaSource:
    """A set on a topic. Keeps all blobs of the compacted topic in memory."""

    def __init__(self, records: TopicRecords, set_name: str) -> None:
        self._records = records
        self._name = set_name.encode("utf-8")
        self.trusted_keys: tuple[TrustedKey, ...] = ()
        """If set, only manifests that one of these keys signed count, and tombstones are ignored."""
        # Chunks by the name of the blob and the number of the chunk.
        self._chunks: dict[bytes, dict[int, bytes]] = {}
        # Manifests by sequence; for equal sequences, the last one written.
        self._manifests: dict[int, bytes] = {}
        # Other content of the topic, for the error message if the set or the topic is misspelt.
        self._refused: Optional[FirstseenError] = None
        self._other_sets: set[str] = set()
        self._strange_key: Optional[bytes] = None

    @classmethod
    def connect(
        cls,
        bootstrap_servers: str,
        topic: str,
        set_name: str,
        properties: Optional[Mapping[str, Any]] = None,
        timeout_seconds: float = 30.0,
    ) -> KafkaSource:
        """Connects with the installed client. `properties` are properties of that client."""
        given = dict(properties or {})
        try:
            import confluent_kafka  # noqa: F401
        except ImportError:
            pass
        else:
            return cls(_Confluent(bootstrap_servers, topic, given, timeout_seconds), set_name)
        try:
            import kafka  # noqa: F401
        except ImportError:
            raise UnsupportedError(
                "to follow a topic, install the package confluent-kafka, or kafka-python 2.1 or later"
            ) from None
        return cls(_KafkaPython(bootstrap_servers, topic, given, timeout_seconds), set_name)

    def candidates(self) -> Iterator[bytes]:
        try:
            for record in self._records.read_to_end():
                self._take(record)
        except ReadAnewError:
            self._chunks.clear()
            self._manifests.clear()
            self._refused = self._strange_key = None
            self._other_sets.clear()
            raise
        if not self._manifests:
            raise NoSnapshotError(
                f"there is no manifest of set {self._name.decode()!r} on the topic{self._instead()}"
            )
        for sequence in sorted(self._manifests, reverse=True)[:_CANDIDATES]:
            yield self._manifests[sequence]

    def _take(self, record: Record) -> None:
        if record.key == self._name:
            if record.partition == 0:
                self._take_manifest(record.value)
            return
        name, slash, index = record.key.partition(b"/")
        if len(name) != 64 or not slash or not _INDEX.fullmatch(index):
            if not self._manifests:
                self._take_other(record)
            return
        if record.value is not None:
            self._chunks.setdefault(name, {})[int(index)] = record.value
            return
        chunks = self._chunks.get(name, {})
        chunks.pop(int(index), None)
        if not chunks:
            self._chunks.pop(name, None)

    def _take_other(self, record: Record) -> None:
        if record.value is None or record.key.endswith(b"/publisher"):
            return
        try:
            Manifest(record.value)
        except UnsupportedError:
            pass
        except FirstseenError:
            self._strange_key = record.key
            return
        if len(self._other_sets) < _NAMED_SETS:
            self._other_sets.add(record.key.decode("utf-8", "replace"))

    def _instead(self) -> str:
        """Returns the end of an error message that describes the content of a topic without the set."""
        if self._refused is not None:
            return f" that can be used: {self._refused}"
        if self._other_sets:
            return ", but snapshots of " + ", ".join(sorted(self._other_sets))
        if self._strange_key is None:
            return ""
        key = self._strange_key.decode("utf-8", "replace")[:100]
        one = f"with the key {key!r}" if key else "without a key"
        return f", but other records, such as one {one}: is it the topic of snapshots?"

    def _take_manifest(self, value: Optional[bytes]) -> None:
        if value is None:
            # A publisher that starts from scratch deletes the manifest first. A tombstone has no signature.
            if not self.trusted_keys:
                self._manifests.clear()
                self._refused = None
            return
        try:
            manifest = Manifest(value)
            if self.trusted_keys:
                require_signed(manifest, self.trusted_keys)
            self._manifests[manifest.sequence] = value
        except FirstseenError as error:
            # Unreadable manifests are ignored; the highest readable one counts.
            self._refused = error
            return
        for sequence in sorted(self._manifests, reverse=True)[_CANDIDATES:]:
            del self._manifests[sequence]

    def blob(self, reference: Reference) -> bytes:
        chunks = self._chunks.get(reference.name.encode(), {})
        count = -(-reference.length // CHUNK_BYTES)
        missing = [index for index in range(count) if index not in chunks]
        if missing:
            raise MissingBlobError(f"chunk {missing[0]} of {count} of blob {reference.name} is not on the topic")
        return b"".join(chunks[index] for index in range(count))

    def substitute(self) -> Optional[bytes]:
        return None

    def close(self) -> None:
        """Closes the connection to the brokers."""
        self._records.close()

    def __repr__(self) -> str:
        return f"set {self._name.decode()!r} on a topic"


class _Confluent:
    """Reads records with confluent-kafka."""

    def __init__(self, servers: str, topic: str, properties: dict[str, Any], timeout_seconds: float) -> None:
        import confluent_kafka

        self._kafka = confluent_kafka
        self._topic = topic
        self._timeout = timeout_seconds
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": servers,
                # The client requires a name. It commits no offsets and joins no group.
                "group.id": "firstseen",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                **properties,
            }
        )
        self._next: Optional[dict[int, int]] = None

    def _assign(self) -> dict[int, int]:
        kafka = self._kafka
        try:
            metadata = self._consumer.list_topics(self._topic, timeout=self._timeout).topics[self._topic]
        except kafka.KafkaException as error:
            raise UnreachableError(f"topic {self._topic} cannot be read: {error.args[0].str()}") from None
        if metadata.error is not None:
            raise UnreachableError(f"topic {self._topic} cannot be read: {metadata.error.str()}")
        partitions = {partition: 0 for partition in metadata.partitions}
        self._consumer.assign(
            [kafka.TopicPartition(self._topic, one, kafka.OFFSET_BEGINNING) for one in partitions]
        )
        return partitions

    def read_to_end(self) -> Iterator[Record]:
        kafka = self._kafka
        if self._next is None:
            self._next = self._assign()
        ends = {}
        try:
            for partition in self._next:
                watermarks = self._consumer.get_watermark_offsets(
                    kafka.TopicPartition(self._topic, partition), timeout=self._timeout
                )
                ends[partition] = watermarks[1]
        except kafka.KafkaException as error:
            unknown = (kafka.KafkaError._UNKNOWN_PARTITION, kafka.KafkaError.UNKNOWN_TOPIC_OR_PART)
            if error.args[0].code() in unknown:
                # The topic may have been recreated with fewer partitions.
                self._next = None
                raise ReadAnewError(self._topic) from None
            raise UnreachableError(f"topic {self._topic} cannot be read: {error.args[0].str()}") from None
        if any(self._next[one] > end for one, end in ends.items()):
            self._next = None
            raise ReadAnewError(self._topic)
        # A partition is read when its end is reported, because the last records may be markers.
        open_partitions = {one for one, end in ends.items() if self._next[one] < end}
        deadline = time.monotonic() + self._timeout
        while open_partitions:
            messages = self._consumer.consume(1000, 0.5)
            if messages:
                deadline = time.monotonic() + self._timeout
            elif time.monotonic() > deadline:
                raise UnreachableError(f"topic {self._topic} did not respond within {self._timeout} s")
            broken = None
            for message in messages:
                trouble, partition = message.error(), message.partition()
                if trouble is not None:
                    if trouble.code() == kafka.KafkaError._PARTITION_EOF:
                        self._next[partition] = max(self._next[partition], message.offset())
                        open_partitions.discard(partition)
                        continue
                    # The client does not deliver the later messages of the batch again.
                    broken = UnreachableError(f"topic {self._topic} cannot be read: {trouble.str()}")
                    continue
                self._next[partition] = message.offset() + 1
                if self._next[partition] >= ends[partition]:
                    open_partitions.discard(partition)
                yield Record(partition, message.key() or b"", message.value())
            if broken is not None:
                raise broken

    def close(self) -> None:
        self._consumer.close()


class _KafkaPython:
    """Reads records with kafka-python."""

    def __init__(self, servers: str, topic: str, properties: dict[str, Any], timeout_seconds: float) -> None:
        import kafka
        from kafka.errors import KafkaError

        if tuple(map(int, kafka.__version__.split(".")[:2])) < (2, 1):
            raise UnsupportedError(
                f"kafka-python must be 2.1 or later to read only committed records, got {kafka.__version__}"
            )
        self._kafka = kafka
        self._error = KafkaError
        self._topic = topic
        self._timeout = timeout_seconds
        self._properties = {
            "bootstrap_servers": servers,
            "group_id": None,
            "enable_auto_commit": False,
            "isolation_level": "read_committed",
            "auto_offset_reset": "earliest",
            **properties,
        }
        self._consumer: Any = None

    def _connect(self) -> Any:
        consumer = self._kafka.KafkaConsumer(**self._properties)
        partitions = consumer.partitions_for_topic(self._topic)
        if not partitions:
            consumer.close()
            raise UnreachableError(f"topic {self._topic} cannot be read: it does not exist")
        assigned = [self._kafka.TopicPartition(self._topic, one) for one in sorted(partitions)]
        consumer.assign(assigned)
        consumer.seek_to_beginning()
        return consumer

    def read_to_end(self) -> Iterator[Record]:
        try:
            if self._consumer is None:
                self._consumer = self._connect()
            consumer = self._consumer
            ends = consumer.end_offsets(consumer.assignment())
            if any(consumer.position(one) > end for one, end in ends.items()):
                consumer.close()
                self._consumer = None
                raise ReadAnewError(self._topic)
            deadline = time.monotonic() + self._timeout
            while any(consumer.position(one) < end for one, end in ends.items()):
                polled = consumer.poll(timeout_ms=500, max_records=1000)
                if polled:
                    deadline = time.monotonic() + self._timeout
                elif time.monotonic() > deadline:
                    raise UnreachableError(f"topic {self._topic} did not respond within {self._timeout} s")
                for one, messages in polled.items():
                    for message in messages:
                        yield Record(one.partition, message.key or b"", message.value)
        except self._error as error:
            raise UnreachableError(f"topic {self._topic} cannot be read: {error}") from error

    def close(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
