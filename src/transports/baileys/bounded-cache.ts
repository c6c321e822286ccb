import type { CacheStore } from 'baileys';
import { LRUCache } from 'lru-cache';
import { upTo } from './up-to.js';

/** A cache in the shape that Baileys takes. The least used goes first when it is full; it has no timer. */
export class BoundedCache implements CacheStore {
  /** Values may be null, which says that something is known not to be there. */
  private readonly entries: LRUCache<string, { readonly value: unknown }>;

  /**
   * @param max how many entries
   * @param ttl how long one is good for, in milliseconds
   */
  constructor(max: number, ttl: number) {
    this.entries = new LRUCache(upTo(max, ttl));
  }

  get<T>(key: string): T | undefined {
    // What is under a key is what Baileys put there.
    return this.entries.get(key)?.value as T | undefined;
  }

  set<T>(key: string, value: T): void {
    this.entries.set(key, { value });
  }

  del(key: string): void {
    this.entries.delete(key);
  }

  flushAll(): void {
    this.entries.clear();
  }
}
