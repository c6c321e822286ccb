import { type PhoneMessage, PhoneStore } from '../../sandbox/phone-store.js';
import type { MemoryTables } from './memory-tables.js';

/** What the sandbox's phones received, in memory. */
export class MemoryPhoneStore extends PhoneStore {
  constructor(protected readonly tables: MemoryTables) {
    super();
  }

  override async receive(messages: readonly PhoneMessage[]): Promise<void> {
    for (const message of messages) {
      const key = JSON.stringify([message.messageId, message.channel, message.to]);
      if (!this.tables.phones.has(key)) this.tables.phones.set(key, message);
    }
  }

  override async messages(number: string): Promise<readonly PhoneMessage[]> {
    const received = [...this.tables.phones.values()].filter(({ to }) => to === number);
    return received.sort((a, b) => a.receivedAt - b.receivedAt);
  }

  override async latest(limit: number): Promise<readonly PhoneMessage[]> {
    const received = [...this.tables.phones.values()].reverse();
    return received.sort((a, b) => b.receivedAt - a.receivedAt).slice(0, limit);
  }
}
