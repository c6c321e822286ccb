import type { Readable } from 'node:stream';

/** How many uploads are read in one turn of the event loop. */
const UPLOADS_PER_TURN = 4;

/** After this many bytes an upload waits for its next turn. Node reads at most this much at once. */
const SHARE_BYTES = 65_536;

/**
 * Discards uploads of refused requests, a bounded number of bytes per turn of the event loop. Node reads up to 2 MiB of each
 * connection per turn, and other requests wait for the sum. Flow control of TCP holds back uploads that wait for their turn.
 */
export class DiscardQueue {
  private readonly waiting = new Set<Readable>();
  private turn: NodeJS.Immediate | undefined;

  /** Discards what arrives and reports each number of bytes. The returned function stops. */
  discard(upload: Readable, onBytes: (bytes: number) => void): () => void {
    let share = 0;
    const onData = (chunk: Buffer): void => {
      share += chunk.length;
      if (share >= SHARE_BYTES) {
        share = 0;
        this.enqueue(upload);
      }
      onBytes(chunk.length);
    };
    // Paused before the listener is added, because adding it would otherwise start the flow.
    this.enqueue(upload);
    upload.on('data', onData);
    return () => {
      this.waiting.delete(upload);
      upload.off('data', onData).pause();
    };
  }

  private enqueue(upload: Readable): void {
    upload.pause();
    this.waiting.add(upload);
    this.turn ??= setImmediate(() => this.takeTurn());
  }

  private takeTurn(): void {
    this.turn = undefined;
    let left = UPLOADS_PER_TURN;
    for (const upload of this.waiting) {
      if (left-- === 0) break;
      this.waiting.delete(upload);
      upload.resume();
    }
    if (this.waiting.size > 0) this.turn = setImmediate(() => this.takeTurn());
  }
}
