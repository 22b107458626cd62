package io.firstseen.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.stream.ChunkedInput;
import java.nio.ByteBuffer;

/** The rest of a buffer, sent piece by piece as fast as the peer reads. */
final class BufferPieces implements ChunkedInput<ByteBuf> {
  private final ByteBuffer left;
  private final int total;
  private final int pieceBytes;

  BufferPieces(ByteBuffer bytes, int pieceBytes) {
    this.left = bytes;
    this.total = bytes.remaining();
    this.pieceBytes = pieceBytes;
  }

  @Override
  public boolean isEndOfInput() {
    return !left.hasRemaining();
  }

  @Override
  public void close() {
    // The caller owns the buffer.
  }

  @Override
  @Deprecated
  @SuppressWarnings("InlineMeSuggester") // Overrides a method of Netty.
  public ByteBuf readChunk(ChannelHandlerContext context) {
    return readChunk(context.alloc());
  }

  @Override
  public ByteBuf readChunk(ByteBufAllocator allocator) {
    int length = Math.min(pieceBytes, left.remaining());
    ByteBuf piece = allocator.directBuffer(length);
    piece.writeBytes(left.slice(left.position(), length));
    left.position(left.position() + length);
    return piece;
  }

  @Override
  public long length() {
    return total;
  }

  @Override
  public long progress() {
    return (long) total - left.remaining();
  }
}
