import type { CredentialChange, SessionCredentials } from '../../../../src/msgapp/sessions/session-credentials.js';

/** Credentials of one session, without a database. */
export class MemoryCredentials implements SessionCredentials {
  readonly values = new Map<string, string>();
  /** How many changes each write had. */
  readonly writes: number[] = [];
  /** If it is set, every write fails with it. */
  failure: Error | undefined;
  /** Each write waits for it. */
  gate: Promise<void> = Promise.resolve();

  async read(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const id of ids) {
      const value = this.values.get(`${kind}/${id}`);
      if (value !== undefined) found.set(id, value);
    }
    return found;
  }

  async write(changes: readonly CredentialChange[]): Promise<void> {
    await this.gate;
    if (this.failure) throw this.failure;
    this.writes.push(changes.length);
    for (const { kind, id, value } of changes) {
      if (value === undefined) this.values.delete(`${kind}/${id}`);
      else this.values.set(`${kind}/${id}`, value);
    }
  }

  /** How many values of a kind there are. */
  count(kind: string): number {
    return [...this.values.keys()].filter((key) => key.startsWith(`${kind}/`)).length;
  }
}
