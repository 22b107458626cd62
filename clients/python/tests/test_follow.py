"""Following a directory: by packs, by bases, and what is rejected while the last valid set stays active."""

import functools
import http.server
import os
import shutil
import tempfile
import threading
import time
import unittest
from pathlib import Path

import firstseen
from firstseen import Cache, DirectorySource, Follower, KeyHash, NoSnapshotError

from firstseen.bits import Reference

from .publisher import Publisher, Signer

KEYS = [f"key {i}" for i in range(400)]


class Raising:
    def __init__(self, error):
        self.error = error

    def candidates(self):
        raise self.error


class Service:
    """Answers with a manifest and with blobs; it can cut the manifest, or send what is no HTTP."""

    def __init__(self, manifest, blobs):
        service = self
        self.sends = self.garbage = self.moved = None
        self.tokens = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                service.tokens.append(self.headers.get("Authorization"))
                if service.moved is not None:
                    self.send_response(302)
                    self.send_header("Location", service.moved)
                    self.end_headers()
                    return
                if service.garbage is not None:
                    self.wfile.write(service.garbage)
                    return
                is_manifest = self.path.startswith("/v1/manifest")
                if is_manifest and self.headers.get("If-None-Match") == '"1"':
                    self.send_response(304)
                    self.end_headers()
                    return
                body = manifest if is_manifest else (blobs / self.path.rsplit("/", 1)[1]).read_bytes()
                self.send_response(200)
                self.send_header("ETag", '"1"')
                self.end_headers()
                self.wfile.write(body[: service.sends] if is_manifest else body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Following(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.path = Path(self.temporary.name) / "set"
        self.cache = Path(self.temporary.name) / "cache"
        self.publisher = Publisher(self.path)
        self.said = []

    def follower(self, **options):
        return firstseen.follow(self.path, on_trouble=self.said.append, **options)

    def blob(self, reference):
        return self.path / "blobs" / reference.name

    def test_by_packs_and_by_bases(self):
        follower = self.follower()
        with self.assertRaisesRegex(NoSnapshotError, "there is no snapshot yet: nothing was read"):
            follower.contains("a")
        self.assertIsNone(follower.poll())
        self.assertIn("there is no manifest in", follower.trouble)
        self.publisher.publish(KEYS)
        first = follower.poll()
        self.assertFalse(first.by_packs)
        self.assertIsNone(follower.trouble)
        self.assertEqual(sum(follower.contains_each(KEYS)), 400)
        self.assertIsNone(follower.poll())
        self.publisher.publish(KEYS[5:] + ["new"])
        second = follower.poll()
        self.assertTrue(second.by_packs)
        self.assertLess(second.bytes_read, first.bytes_read / 4)
        self.assertEqual(len(second.snapshot), 396)
        self.assertTrue(follower.contains("new"))
        self.assertLess(sum(follower.contains_each(KEYS[:5])), 3)
        # Several windows at once, then a new follower.
        for i in range(4):
            self.publisher.publish(KEYS[10 + i :], new_list=i == 2)
        self.assertTrue(follower.poll().by_packs)
        anew = self.follower()
        self.assertFalse(anew.poll().by_packs)
        for one, other in zip(anew.current.shards, follower.current.shards):
            self.assertEqual(one.values, other.values)
        # A window without change.
        self.publisher.publish(KEYS[13:])
        update = follower.poll()
        self.assertEqual((update.snapshot.sequence, update.bytes_read, update.by_packs), (7, 0, True))
        # The first set stays what it was.
        self.assertEqual(sum(first.snapshot.contains_each(KEYS)), 400)

    def test_a_directory_on_a_web_server(self):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        handler = functools.partial(Handler, directory=str(self.path))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        follower = firstseen.follow(url, set_name="spam")
        self.path.mkdir(exist_ok=True)
        self.assertIsNone(follower.poll())
        self.assertIn("404", follower.trouble)
        for keys, by_packs in ((KEYS, False), (KEYS[5:] + ["new"], True)):
            self.publisher.publish(keys)
            newest = max(self.path.glob("manifest-*.bin"))
            shutil.copyfile(newest, self.path / "manifest.bin")
            self.assertEqual(follower.poll().by_packs, by_packs)
        self.assertTrue(follower.contains("new"))
        self.assertIsNone(follower.poll())
        self.assertIsNone(follower.trouble)

    def test_a_damaged_pack_is_gone_around(self):
        follower = self.follower()
        self.publisher.publish(KEYS)
        follower.poll()
        self.publisher.publish(KEYS[1:])
        damaged = self.blob(self.publisher.pack)
        self.publisher.publish(KEYS[2:], new_list=True)
        data = bytearray(damaged.read_bytes())
        data[40] ^= 1
        damaged.write_bytes(bytes(data))
        update = follower.poll()
        self.assertFalse(update.by_packs)
        self.assertEqual(len(update.snapshot), 398)

    def test_the_last_good_set_goes_on_answering(self):
        follower = self.follower()
        self.publisher.publish(KEYS)
        follower.poll()
        self.publisher.publish(KEYS + ["new"])
        pack = self.blob(self.publisher.pack)
        good = pack.read_bytes()
        for damaged, sentence in (
            (good[:-1], "must have"),
            (good[:50] + bytes([good[50] ^ 1]) + good[51:], "is damaged"),
            (None, "is missing"),
        ):
            pack.unlink() if damaged is None else pack.write_bytes(damaged)
            self.assertIsNone(follower.poll())
            self.assertIn(sentence, follower.trouble)
            self.assertEqual(follower.current.sequence, 1)
            self.assertEqual(sum(follower.contains_each(KEYS)), 400)
        # Each problem is reported once, and cleared by the next valid set.
        self.assertIsNone(follower.poll())
        self.assertEqual(len(self.said), 3)
        pack.write_bytes(good)
        self.assertTrue(follower.poll().by_packs)
        self.assertIsNone(follower.trouble)

    def test_the_next_highest_is_taken_if_the_newest_is_no_good(self):
        self.publisher.publish(KEYS[:50])
        self.publisher.publish(KEYS)
        self.blob(self.publisher.pack).unlink()
        follower = self.follower()
        self.assertEqual(follower.poll().snapshot.sequence, 1)
        self.assertIn("is missing", follower.trouble)
        (self.path / "manifest-0000000003.bin").write_bytes(b"{")
        self.assertIsNone(follower.poll())
        self.assertIn("this is not a manifest", follower.trouble)

    def test_nothing_older_answers(self):
        follower = self.follower()
        old = self.publisher.publish(KEYS[:50])
        self.publisher.publish(KEYS)
        follower.poll()
        (self.path / "manifest-0000000002.bin").unlink()
        self.assertIsNone(follower.poll())
        self.assertIn("sequence 1 of set 'spam' is rejected, because sequence 2 is active", follower.trouble)
        self.assertEqual(len(follower.current), 400)
        # Of the same sequence, but with another set.
        (self.path / "manifest-0000000002.bin").write_bytes(Publisher(self.path).manifest_bytes(sequence=2))
        self.assertIsNone(follower.poll())
        self.assertIn("contradicts the active manifest", follower.trouble)
        self.assertEqual(old.sequence, 1)

    def test_newer_times_of_the_same_set(self):
        follower = self.follower()
        self.publisher.publish(KEYS)
        follower.poll()
        self.assertFalse(follower.is_stale())
        self.publisher.write_manifest(published=1_700_000_000_001, expires=1_700_000_000_002)
        self.assertIsNone(follower.poll())
        self.assertIsNone(follower.trouble)
        self.assertTrue(follower.is_stale())
        # An earlier one, replayed, does not make it fresh.
        self.publisher.write_manifest()
        self.assertIsNone(follower.poll())
        self.assertTrue(follower.is_stale())
        self.assertTrue(follower.contains("key 1"))

    def test_only_what_is_signed_counts(self):
        signer = Signer(b"publisher")
        self.publisher.publish(KEYS[:50], signer=signer)
        follower = self.follower(trusted_keys=[signer.trusted])
        follower.poll()
        self.publisher.publish(KEYS)
        self.assertIsNone(follower.poll())
        self.assertIn("has no signature", follower.trouble)
        self.publisher.write_manifest(signer=Signer(b"other"))
        self.assertIsNone(follower.poll())
        self.assertIn("not trusted", follower.trouble)
        self.publisher.write_manifest(signer=signer)
        self.assertEqual(len(follower.poll().snapshot), 400)

    def test_other_sets_and_hash_keys_are_refused(self):
        self.publisher.publish(KEYS[:5])
        wrong = self.follower(key_hash=KeyHash.siphash(bytes(16)))
        self.assertIsNone(wrong.poll())
        self.assertIn("another hash key", wrong.trouble)
        with self.assertRaisesRegex(firstseen.UnsupportedError, "another hash key"):
            wrong.wait(3600)
        named = self.follower(set_name="ham")
        self.assertIsNone(named.poll())
        self.assertIn("the set must be 'ham', got 'spam'", named.trouble)
        follower = self.follower()
        follower.poll()
        other = Publisher(self.path, name="ham")
        other.sequence = 8
        other.publish(["a"])
        self.assertIsNone(follower.poll())
        self.assertIn("the set must be 'spam', got 'ham'", follower.trouble)

    def test_blobs_elsewhere(self):
        elsewhere = Path(self.temporary.name) / "elsewhere"
        signer = Signer(b"publisher")
        uri = elsewhere.as_uri()
        self.publisher.publish(KEYS, signer=signer, blobs=uri)
        shutil.move(str(self.path / "blobs"), str(elsewhere))
        # Without a signature anyone could choose what a client reads.
        self.assertIsNone(self.follower().poll())
        self.assertEqual(len(self.follower(trusted_keys=[signer.trusted]).poll().snapshot), 400)
        self.assertEqual(len(self.follower(blobs=uri).poll().snapshot), 400)

    def test_a_start_from_the_cache(self):
        follower = self.follower(cache=self.cache)
        self.publisher.publish(KEYS[:50])
        self.publisher.publish(KEYS)
        follower.poll()
        hidden = self.path.with_name("hidden")
        self.path.rename(hidden)
        again = self.follower(cache=self.cache)
        self.assertEqual(sum(again.contains_each(KEYS)), 400)
        self.assertIsNone(again.poll())
        self.assertIn("cannot open", again.trouble)
        self.assertEqual(len(again.current), 400)
        hidden.rename(self.path)
        # It rejects older sets, and continues with packs.
        (self.path / "manifest-0000000002.bin").rename(hidden)
        self.assertIsNone(again.poll())
        self.assertIn("is rejected, because sequence 2 is active", again.trouble)
        self.publisher.publish(KEYS[3:])
        self.assertTrue(again.poll().by_packs)
        self.assertEqual(sorted(os.listdir(self.cache)), ["last-good-set"])

    def test_a_cache_that_is_no_good(self):
        self.publisher.publish(KEYS)
        self.follower(cache=self.cache).poll()
        file = self.cache / "last-good-set"
        good = file.read_bytes()
        for at in range(0, len(good), 97):
            file.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
            follower = self.follower(cache=self.cache)
            self.assertIsNone(follower.current, at)
            self.assertIn("is not used", follower.trouble)
        file.write_bytes(good[:-1])
        self.assertIsNone(self.follower(cache=self.cache).current)
        # A whole one answers, but not for another set or under another key.
        file.write_bytes(good)
        self.assertIsNotNone(self.follower(cache=self.cache).current)
        self.assertIsNone(self.follower(cache=self.cache, set_name="ham").current)
        self.assertIsNone(self.follower(cache=self.cache, key_hash=KeyHash.siphash(bytes(16))).current)
        self.assertIsNone(self.follower(cache=self.cache, trusted_keys=[Signer(b"a").trusted]).current)

    def test_a_cache_that_cannot_be_written(self):
        kept = Cache(self.cache)
        self.publisher.publish(KEYS)
        follower = Follower(DirectorySource(self.path), key_hash=KeyHash.public(), cache=kept)
        kept.path = str(self.cache / "missing" / "last-good-set")
        self.assertEqual(len(follower.poll().snapshot), 400)
        self.assertIn("cannot be written: No such file or directory", follower.trouble)

    def test_whatever_is_read_the_last_good_set_answers(self):
        self.publisher.publish(KEYS)
        follower = self.follower()
        follower.poll()
        follower.source = Raising(MemoryError("2 GiB"))
        self.assertIsNone(follower.poll())
        self.assertIn("MemoryError", follower.trouble)
        self.assertTrue(follower.contains("key 1"))

    def test_no_memory_for_a_length_that_is_stated_only(self):
        reference = Reference(bytes(32), (1 << 31) - 1)
        self.blob(reference).write_bytes(b"x")
        with self.assertRaisesRegex(firstseen.MalformedError, "must have 2147483647 bytes"):
            DirectorySource(str(self.path)).blob(reference)

    def test_a_reply_that_was_cut_is_asked_for_again(self):
        self.publisher.publish(KEYS[:50])
        with Service(self.publisher.manifest_bytes(), self.path / "blobs") as service:
            follower = firstseen.follow(service.url)
            service.sends = 50
            self.assertIsNone(follower.poll())
            self.assertIsNone(follower.current)
            self.assertIn(service.url, follower.trouble)
            service.sends = None
            self.assertEqual(len(follower.poll().snapshot), 50)
            service.garbage = b"hello world\r\n\r\n"
            self.assertIsNone(follower.poll())
            self.assertIn("cannot be reached", follower.trouble)
            self.assertEqual(len(follower.current), 50)

    def test_headers_go_to_the_service_and_not_where_it_redirects(self):
        self.publisher.publish(KEYS[:50])
        blobs = self.path / "blobs"
        manifest = self.publisher.manifest_bytes()
        with Service(manifest, blobs) as service, Service(manifest, blobs) as other:
            source = firstseen.HttpSource(service.url, headers={"Authorization": "Bearer t"})
            follower = firstseen.follow(source)
            self.assertEqual(len(follower.poll().snapshot), 50)
            self.assertEqual(set(service.tokens), {"Bearer t"})
            service.moved = other.url + "v1/manifest"
            list(source.candidates())
            self.assertEqual(other.tokens, [None])

    def test_a_thread_outlives_what_a_caller_raises(self):
        def fail(_):
            raise KeyError("of the caller")

        self.publisher.publish(KEYS)
        follower = self.follower(poll_seconds=0.01, on_update=fail)
        with follower:
            self.assertEqual(follower.wait(10, 1).sequence, 1)
            self.publisher.publish(KEYS[5:])
            self.assertEqual(follower.wait(10, 2).sequence, 2)
        self.assertIn("following failed: KeyError('of the caller')", self.said)

    def test_lists_of_followers_answer_from_the_newest_sets(self):
        root = Path(self.temporary.name)
        spam = Publisher(root / "spam", "spam", canonicaliser=3, rate=0.0001)
        ours = Publisher(root / "ours", "ours", canonicaliser=3, rate=0.0001)
        followers = [firstseen.follow(root / name) for name in ("spam", "ours")]
        lists = firstseen.UrlLists(followers[:1], allow=followers[1:])
        for publisher, follower in zip((spam, ours), followers):
            with self.assertRaisesRegex(NoSnapshotError, "there is no snapshot yet"):
                lists.ask("a.example")
            publisher.publish(["b.example"])
            follower.poll()
        self.assertEqual(lists.ask("a.example").matches, ())
        spam.publish(["a.example", "b.example"])
        followers[0].poll()
        self.assertEqual(lists.ask("a.example").matches, (firstseen.Match("spam", "a.example/"),))
        allowed = lists.ask("b.example")
        self.assertEqual((allowed.present, allowed.allowed_by), (False, (firstseen.Match("ours", "b.example/"),)))
        self.publisher.publish(["a"])
        other = self.follower()
        other.poll()
        with self.assertRaisesRegex(firstseen.UnsupportedError, "must have the canonicaliser url-expression"):
            firstseen.UrlLists([other]).ask("a.example")

    def test_a_thread_follows(self):
        updates = []
        with self.follower(poll_seconds=0.02, on_update=updates.append) as follower:
            with self.assertRaisesRegex(NoSnapshotError, "came within 0.1 s"):
                follower.wait(0.1)
            self.publisher.publish(KEYS[:50])
            self.assertEqual(len(follower.wait(10)), 50)
            self.publisher.publish(KEYS)
            self.assertEqual(len(follower.wait(10, sequence=2)), 400)
        self.assertEqual([update.snapshot.sequence for update in updates], [1, 2])
        self.publisher.publish(KEYS[:9])
        time.sleep(0.1)
        self.assertEqual(follower.current.sequence, 2)


if __name__ == "__main__":
    unittest.main()
