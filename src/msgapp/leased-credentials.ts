import type { CredentialCipher } from './credential-cipher.js';
import type { CredentialChange, SessionCredentials } from './session-credentials.js';
import { SessionLostError } from './session-lost-error.js';
import type { SessionLease, SessionStore } from './session-store.js';

interface Waiting {
  readonly changes: readonly CredentialChange[];
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * What is kept of a session, encrypted, for as long as its lease is good. Writes happen in the order in which they were
 * asked for, whatever connection each takes; those that wait for one under way share the next transaction.
 */
export class LeasedCredentials implements SessionCredentials {
  private waiting: Waiting[] = [];
  private writing = false;

  constructor(
    private readonly store: SessionStore,
    private readonly lease: SessionLease,
    private readonly cipher: CredentialCipher,
  ) {}

  async read(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const sealed = await this.store.credentials(this.lease.sessionId, kind, ids);
    return new Map([...sealed].map(([id, text]) => [id, this.cipher.open(kind, id, text)]));
  }

  write(changes: readonly CredentialChange[]): Promise<void> {
    return new Promise((done, fail) => {
      this.waiting.push({ changes: changes.map((change) => this.sealed(change)), done, fail });
      if (!this.writing) void this.writeWaiting();
    });
  }

  private async writeWaiting(): Promise<void> {
    this.writing = true;
    while (this.waiting.length > 0) {
      const together = this.waiting.splice(0);
      try {
        const ours = await this.store.writeCredentials(
          this.lease,
          together.flatMap(({ changes }) => changes),
        );
        if (!ours) throw new SessionLostError(this.lease.sessionId);
        for (const { done } of together) done();
      } catch (error) {
        for (const { fail } of together) fail(error);
      }
    }
    this.writing = false;
  }

  private sealed({ kind, id, value }: CredentialChange): CredentialChange {
    return { kind, id, value: value === undefined ? undefined : this.cipher.seal(kind, id, value) };
  }
}
