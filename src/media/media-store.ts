import type { HostTransaction } from '../common/host-transaction.js';
import { sqlListOf, WAITING_STATUSES } from '../events/delivery-status.js';
import type { Database } from '../storage/engine/database.js';
import { type Row, rowsOf, write } from '../storage/engine/operation.js';
import { bytesOf, optionalInteger, textOf } from '../storage/engine/rows.js';

/** The bytes in a row. A row is small enough that writing it does not delay other work, even on SQLite. */
const CHUNK = 256 * 1024;

/** The maximum number of rows that one transaction removes. */
const REMOVED_AT_ONCE = 16;

/** Stores the files of messages until delivery. */
export class MediaStore {
  constructor(private readonly database: Database) {}

  /**
   * Stores bytes under a new id, chunk by chunk, so that they are never all in memory. When it resolves, the file can
   * be read. If it rejects, for example because `chunks` threw, nothing is stored.
   *
   * @param at milliseconds since the epoch
   * @param host the host's open transaction to write in
   * @throws Error if the id is taken
   */
  async write(id: string, chunks: AsyncIterable<Uint8Array>, at: number, host?: HostTransaction): Promise<void> {
    await this.change(host, 'INSERT INTO messaging_media (id, kept_at) VALUES (?, ?)', id, at);
    try {
      await this.fill(id, chunks, host);
    } catch (error) {
      // If this fails too, `purge` removes the rest by its age.
      await this.remove([id], host).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Reads a file from its start; chunks are loaded on demand.
   * @throws Error if the file does not exist, or no longer exists
   */
  async *read(id: string): AsyncIterable<Uint8Array> {
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

  /** Deletes files; unknown ids are ignored. With `host`, they are deleted in its open transaction. */
  async remove(ids: readonly string[], host?: HostTransaction): Promise<void> {
    const { dialect } = this.database;
    const removed = JSON.stringify(ids);
    // The files are marked first, so that no new read starts on a partly deleted file, and a write in progress fails.
    await this.change(host, `UPDATE messaging_media SET chunks = -1 WHERE id ${dialect.among()}`, removed);
    const rows = await this.rows(host, `SELECT id FROM messaging_media WHERE id ${dialect.among()}`, removed);
    for (const row of rows) await this.erase(textOf(row, 'id'), host);
  }

  /**
   * Deletes at most `limit` files stored before a time, oldest first, and returns their number. Files that a crash left
   * incomplete are deleted too. Files of messages that are `queued` or `sending` are kept.
   */
  async purge(before: number, limit: number): Promise<number> {
    const sql = `SELECT a.id FROM messaging_media a WHERE a.kept_at < ? AND NOT EXISTS (
      SELECT 1 FROM messaging_recipient r WHERE ${this.database.dialect.lookUp('r.message_id = a.id')} AND r.status IN (${sqlListOf(WAITING_STATUSES)}))
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
    // The commit of this write also puts all chunks on disk.
    const sql = 'UPDATE messaging_media SET chunks = ? WHERE id = ? AND chunks IS NULL';
    const kept = await this.database.write(() => write(sql, count, id), host);
    if (kept === 0) throw new Error('The file was removed while it was written.');
  }

  /** Deletes a file in several transactions, because one transaction for a large file would delay all other work. */
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
    return this.database.writeLazily(() => write(sql, ...params), host);
  }

  private rows(host: HostTransaction | undefined, sql: string, ...params: readonly unknown[]): Promise<readonly Row[]> {
    return this.database.read(() => rowsOf(sql, ...params), host);
  }
}

/**
 * Splits a stream into pieces of `size` bytes; the last one may be shorter. Reads from `source` only as far as the
 * requested piece needs. Each piece is valid until the next one is requested, because the pieces share one buffer.
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
