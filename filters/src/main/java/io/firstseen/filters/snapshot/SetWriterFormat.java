package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The state of a {@link SetWriter}. Specified in {@code docs/format/writer-v1.md}. */
final class SetWriterFormat {
  private static final byte[] MAGIC = {(byte) 0x89, 'F', 'S', 'W'};
  private static final int CHECKSUM_BYTES = 4;
  private static final int REFERENCE_BYTES = 33;

  private SetWriterFormat() {}

  static byte[] write(
      String setName,
      long sequence,
      String root,
      @Nullable ShardChain[] chains,
      SetWriter.Memory state) {
    FieldWriter out = FieldWriter.begin(MAGIC).name(setName).leb(sequence).digest(root);
    PackChain packs = state.packs();
    out.u8(packs == null ? 0 : 1);
    if (packs != null) {
      out.leb(packs.kept().size());
      packs.kept().forEach(out::reference);
      out.leb(packs.packBytes())
          .reference(packs.list())
          .leb(packs.basesBytes())
          .i64(packs.listWindowEndMillis())
          .leb(packs.packsSince());
    }
    out.leb(chains.length);
    for (int shard = 0; shard < chains.length; shard++) {
      PublishedShard published = state.shard(shard);
      out.u8(published == null ? 0 : 1);
      if (published != null) {
        ShardChain chain = chains[shard];
        out.u8(chain.headroomBits()).leb(chain.baseKeys()).i64(chain.baseWindowEndMillis());
        out.reference(published.base()).u8(published.listedBase() == null ? 0 : 1);
        if (published.listedBase() != null) {
          out.reference(published.listedBase());
        }
        out.leb(published.sections());
        for (int i = 0; i < published.sections(); i++) {
          byte[] section = state.section(shard, i);
          out.leb(section.length).bytes(section);
        }
      }
    }
    return out.checksum().toBytes();
  }

  /**
   * Reads the state of the writer of a manifest.
   *
   * @param snapshots the sets of the manifest
   * @param chains receives the chains
   * @param state receives the rest
   */
  static void read(
      byte[] bytes,
      Manifest manifest,
      @Nullable Snapshot[] snapshots,
      @Nullable ShardChain[] chains,
      SetWriter.Memory state)
      throws SnapshotException {
    FieldReader in = new FieldReader(ByteBuffer.wrap(bytes));
    in.begin(MAGIC, "the state of a writer", "the state of the writer");
    requireThat(in.remaining() >= CHECKSUM_BYTES, "the state of a writer must have a checksum");
    ByteBuffer body = in.slice(in.remaining() - CHECKSUM_BYTES, "the body");
    requireThat(
        in.i32("the checksum")
            == SnapshotFormat.crc32c(ByteBuffer.wrap(bytes, 0, bytes.length - CHECKSUM_BYTES)),
        "the checksum does not match the " + bytes.length + " bytes");
    readBody(new FieldReader(body), manifest, snapshots, chains, state);
  }

  private static void readBody(
      FieldReader in,
      Manifest manifest,
      @Nullable Snapshot[] snapshots,
      @Nullable ShardChain[] chains,
      SetWriter.Memory state)
      throws SnapshotException {
    String setName = in.name();
    long sequence = in.leb("the sequence");
    String root = in.digest("the root");
    requireThat(
        setName.equals(manifest.setName())
            && sequence == manifest.sequence()
            && root.equals(manifest.root()),
        "the state is of sequence %d of set '%s' with the root %s, not of the manifest"
            .formatted(sequence, setName, root));
    if (isPresent(in, "the packs")) {
      List<BlobReference> kept = new ArrayList<>();
      int count = in.count("the number of packs", 1, Pack.MAX_CHAIN, REFERENCE_BYTES);
      for (int i = 0; i < count; i++) {
        kept.add(in.reference("a pack"));
      }
      state.putPacks(
          new PackChain(
              kept,
              in.leb("packBytes", 1, Manifest.MAX_BYTES),
              in.reference("the list of bases"),
              in.leb("basesBytes", 1, Manifest.MAX_BYTES),
              in.i64("the window of the list"),
              in.leb("packsSince", 0, Manifest.MAX_BYTES)));
    }
    PackChain packs = state.packs();
    requireThat(
        packs == null
            ? manifest.pack() == null
            : packs.newest().equals(manifest.pack()) && packs.packBytes() == manifest.packBytes(),
        "the state has other packs than the manifest");
    in.leb("the number of shards", snapshots.length, snapshots.length);
    for (int shard = 0; shard < snapshots.length; shard++) {
      boolean isPresent = isPresent(in, "shard " + shard);
      requireThat(
          isPresent == (snapshots[shard] != null),
          "the state and the manifest must both have shard " + shard);
      if (isPresent) {
        readShard(in, shard, snapshots[shard].header(), chains, state);
      }
    }
    in.requireEnd();
  }

  private static void readShard(
      FieldReader in,
      int shard,
      SnapshotHeader set,
      @Nullable ShardChain[] chains,
      SetWriter.Memory state)
      throws SnapshotException {
    int headroomBits = in.u8("the headroom");
    requireThat(
        headroomBits <= ChainRule.MIN_HEADROOM_BITS,
        "the headroom must be at most %d bits, got %d"
            .formatted(ChainRule.MIN_HEADROOM_BITS, headroomBits));
    long baseKeys = in.leb("the keys of the base", 0, Manifest.MAX_COUNT);
    long baseWindowEndMillis = in.i64("the window of the base");
    BlobReference base = in.reference("a base");
    BlobReference listed = isPresent(in, "the listed base") ? in.reference("a listed base") : null;
    int count = in.count("the number of sections", 0, BaseList.MAX_SECTIONS, 1);
    long sectionBytes = 0;
    for (int i = 0; i < count; i++) {
      byte[] section =
          in.bytes((int) in.leb("the length of a section", 1, Integer.MAX_VALUE), "a section");
      Section.read(ByteBuffer.wrap(section));
      state.putSection(shard, i, section);
      sectionBytes += section.length;
    }
    state.putShard(
        shard, new PublishedShard(set.setDigest(), set.hashCount(), base, count, listed));
    chains[shard] =
        new ShardChain(
            set.universe(),
            headroomBits,
            set.count(),
            baseKeys,
            base.bytes(),
            baseWindowEndMillis,
            sectionBytes);
  }

  private static boolean isPresent(FieldReader in, String what) throws MalformedSnapshotException {
    int mark = in.u8("the mark of " + what);
    requireThat(mark <= 1, "the mark of " + what + " must be 0 or 1, got " + mark);
    return mark == 1;
  }
}
