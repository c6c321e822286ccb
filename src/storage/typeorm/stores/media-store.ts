import type { HostTransaction } from '../../../common/host-transaction.js';
import { MediaStore } from '../../../media/media-store.js';
import type { Executor } from '../engine/executor.js';
import { type Row, rowsOf, write } from '../engine/operation.js';
import { bytesOf, optionalInteger, textOf } from '../engine/rows.js';

/** Bytes in a row: small enough that others go on while it is written, on SQLite too. */
const CHUNK = 256 * 1024;

/** Rows that are removed in one transaction. */
const REMOVED_AT_ONCE = 16;

/** Files in SQL, a row a chunk. No transaction holds more than some of them, and nothing holds a whole file. */
export class TypeormMediaStore extends MediaStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override async write(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    at: number,
    host?: HostTransaction,
  ): Promise<void> {
    await this.change(host, 'INSERT INTO messaging_media (id, kept_at) VALUES (?, ?)', id, at);
    try {
      await this.fill(id, chunks, host);
    } catch (error) {
      // What this leaves behind is too old one day.
      await this.remove([id], host).catch(() => undefined);
      throw error;
    }
  }

  override async *read(id: string): AsyncIterable<Uint8Array> {
    const [file] = await this.rows(undefined, 'SELECT chunks FROM messaging_media WHERE id = ?', id);
    const count = file ? optionalInteger(file, 'chunks') : undefined;
    if (count === undefined || count < 0) throw new Error('The file is not stored (any more).');
    for (let index = 0; index < count; index++) {
      const sql = 'SELECT content FROM messaging_media_chunk WHERE media_id = ? AND place = ?';
      const [chunk] = await this.rows(undefined, sql, id, index);
      if (!chunk) throw new Error('The file was removed while it was read.');
      yield bytesOf(chunk, 'content');
    }
  }

  override async remove(ids: readonly string[], host?: HostTransaction): Promise<void> {
    const { dialect } = this.executor;
    const going = JSON.stringify(ids);
    // Marked first: from now on nobody reads a part, and who still writes finds out.
    await this.change(host, `UPDATE messaging_media SET chunks = -1 WHERE id IN ${dialect.strings()}`, going);
    const rows = await this.rows(host, `SELECT id FROM messaging_media WHERE id IN ${dialect.strings()}`, going);
    for (const row of rows) await this.erase(textOf(row, 'id'), host);
  }

  override async purge(before: number, limit: number): Promise<number> {
    const sql = `SELECT a.id FROM messaging_media a WHERE a.kept_at < ? AND NOT EXISTS (
      SELECT 1 FROM messaging_recipient r WHERE r.message_id = a.id AND r.status IN ('queued', 'sending'))
      ORDER BY a.kept_at LIMIT ?`;
    const ids = (await this.rows(undefined, sql, before, limit)).map((row) => textOf(row, 'id'));
    await this.remove(ids);
    return ids.length;
  }

  private async fill(id: string, chunks: AsyncIterable<Uint8Array>, host: HostTransaction | undefined): Promise<void> {
    let count = 0;
    for await (const chunk of rechunk(chunks, CHUNK)) {
      const sql = 'INSERT INTO messaging_media_chunk (media_id, place, content) VALUES (?, ?, ?)';
      await this.change(host, sql, id, count++, chunk);
    }
    // Its commit has all chunks on disk, too.
    const sql = 'UPDATE messaging_media SET chunks = ? WHERE id = ? AND chunks IS NULL';
    const kept = await this.executor.write(() => write(sql, count, id), host);
    if (kept === 0) throw new Error('The file was removed while it was written.');
  }

  /** Some chunks after the other: to take away a large file at once would hold up everybody. */
  private async erase(id: string, host: HostTransaction | undefined): Promise<void> {
    for (;;) {
      const [end] = await this.rows(
        host,
        'SELECT max(place) AS place FROM messaging_media_chunk WHERE media_id = ?',
        id,
      );
      const last = end && optionalInteger(end, 'place');
      if (last === undefined) break;
      const sql = 'DELETE FROM messaging_media_chunk WHERE media_id = ? AND place > ?';
      await this.change(host, sql, id, last - REMOVED_AT_ONCE);
    }
    await this.change(host, 'DELETE FROM messaging_media WHERE id = ?', id);
  }

  private change(host: HostTransaction | undefined, sql: string, ...params: readonly unknown[]): Promise<number> {
    return this.executor.writeLazily(() => write(sql, ...params), host);
  }

  private rows(host: HostTransaction | undefined, sql: string, ...params: readonly unknown[]): Promise<readonly Row[]> {
    return this.executor.read(() => rowsOf(sql, ...params), host);
  }
}

/**
 * The same bytes in pieces of `size`, the last one shorter. Takes from `source` only what the piece that was asked for
 * needs. A piece is good until the next one is asked for: then its memory is filled again.
 */
export async function* rechunk(source: AsyncIterable<Uint8Array>, size: number): AsyncIterable<Buffer> {
  const piece = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for await (const chunk of source) {
    let taken = 0;
    while (taken < chunk.length) {
      const part = chunk.subarray(taken, taken + size - filled);
      piece.set(part, filled);
      taken += part.length;
      filled += part.length;
      if (filled < size) continue;
      yield piece;
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}
