import { MediaStore } from '../../media/media-store.js';
import type { MemoryTables } from './memory-tables.js';

/** Files in memory; for tests and trials, since it holds all of them. */
export class MemoryMediaStore extends MediaStore {
  constructor(protected readonly tables: MemoryTables) {
    super();
  }

  override async write(id: string, chunks: AsyncIterable<Uint8Array>, at: number): Promise<void> {
    if (this.tables.media.has(id)) throw new Error('A file with this id is stored already.');
    const file = { at, chunks: [] as Uint8Array[], whole: false };
    this.tables.media.set(id, file);
    try {
      // A copy: whoever gives a chunk may fill it again.
      for await (const chunk of chunks) file.chunks.push(new Uint8Array(chunk));
    } catch (error) {
      this.tables.media.delete(id);
      throw error;
    }
    if (this.tables.media.get(id) !== file) throw new Error('The file was removed while it was written.');
    file.whole = true;
  }

  override async *read(id: string): AsyncIterable<Uint8Array> {
    const file = this.tables.media.get(id);
    if (!file?.whole) throw new Error('The file is not stored (any more).');
    for (const chunk of file.chunks) {
      if (this.tables.media.get(id) !== file) throw new Error('The file was removed while it was read.');
      yield chunk;
    }
  }

  override async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.tables.media.delete(id);
  }

  override async purge(before: number, limit: number): Promise<number> {
    const needed = [...this.tables.waiting].filter(({ status }) => status === 'queued' || status === 'sending');
    const messages = new Set(needed.map(({ message }) => message.id));
    const old = [...this.tables.media]
      .filter(([id, { at }]) => at < before && !messages.has(id))
      .sort(([, a], [, b]) => a.at - b.at);
    const ids = old.slice(0, limit).map(([id]) => id);
    await this.remove(ids);
    return ids.length;
  }
}
