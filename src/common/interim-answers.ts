import type { Socket } from 'node:net';

/** The first bytes of an interim answer: `HTTP/1.1 100`. 101 is not one, because it hands the connection to another protocol. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d/;
/** The number of bytes that {@link INTERIM} reads. */
const STATUS_BYTES = 12;
const END_OF_HEAD = '\r\n\r\n';
/** The maximum size of an interim answer; a longer one is passed on. */
const MAX_INTERIM_BYTES = 16_384;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Drops the interim answers (RFC 9110 section 15.2: 100, 102, 103 …) that a server sends before its final answer. Some servers
 * answer every POST with a `100 Continue`, and undici ends a connection if it did not ask for that.
 *
 * @param socket a connection that carries one request at a time, and whose reader calls `read()` as undici does
 */
export function dropInterimAnswers<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket);
  const filter = new InterimFilter();
  let written = -1;
  socket.read = (size?: number): Buffer | null => {
    // A request was written since the last read, so the next bytes begin an answer.
    if (socket.bytesWritten !== written) filter.begin();
    written = socket.bytesWritten;
    for (;;) {
      const chunk: Buffer | null = read(size);
      if (chunk === null) return null;
      const rest = filter.pass(chunk);
      if (rest.length > 0) return rest;
    }
  };
  return socket;
}

class InterimFilter {
  /** Whether the next bytes are the beginning of an answer. */
  private atHead = true;
  /** The beginning of an answer that may be an interim one. */
  private held = NOTHING;

  begin(): void {
    this.atHead = true;
  }

  /** The bytes of a chunk that belong to a final answer. */
  pass(chunk: Buffer): Buffer {
    if (!this.atHead) return chunk;
    let bytes: Buffer = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    this.held = NOTHING;
    while (bytes.length > 0) {
      const start = bytes.toString('latin1', 0, STATUS_BYTES);
      const isInterim = INTERIM.test(start);
      if (!isInterim && !mayBecomeInterim(start)) break;
      const end = isInterim ? bytes.indexOf(END_OF_HEAD) : -1;
      if (end >= 0) {
        bytes = bytes.subarray(end + END_OF_HEAD.length);
      } else if (bytes.length > MAX_INTERIM_BYTES) {
        break;
      } else {
        this.held = bytes;
        return NOTHING;
      }
    }
    this.atHead = bytes.length === 0;
    return bytes;
  }
}

/** Whether a text of less than 12 characters can be the beginning of an interim answer. */
function mayBecomeInterim(start: string): boolean {
  return start.length < STATUS_BYTES && INTERIM.test(start + 'HTTP/1.1 100'.slice(start.length));
}
