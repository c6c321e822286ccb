import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { MessagingOptionsError } from '../../common/errors.js';
import type { IdGenerator } from '../../common/ids.js';
import { nameOf } from '../../common/log.js';
import { MsgappSettings } from '../msgapp-settings.js';
import { CredentialCipher, type CredentialKeys, CredentialsUnreadableError } from './credential-cipher.js';
import type { CredentialChange, SessionCredentials } from './session-credentials.js';
import { type SessionLease, SessionStore } from './session-store.js';

/** Keeps what transports must keep of sessions. */
export abstract class SessionVault {
  /** What a session keeps, for as long as the lease is good. */
  abstract open(lease: SessionLease): SessionCredentials;

  /** Whether what is kept of a session can be read here; a vault without keys of its own always can. */
  async canRead(_sessionId: string): Promise<boolean> {
    return true;
  }
}

/** Keeps what transports must keep of sessions in the database, encrypted with a key from outside of it. */
export class CredentialVault extends SessionVault {
  constructor(
    private readonly store: SessionStore,
    private readonly keys: CredentialKeys,
    private readonly random: Pick<IdGenerator, 'bytes'>,
  ) {
    super();
  }

  /** Where there are older keys, what the session keeps under them is encrypted anew behind its back. */
  override open(lease: SessionLease): SessionCredentials {
    if (this.keys.byId.size > 1) void this.reseal(lease);
    return new LeasedCredentials(this.store, lease, this.cipher(lease));
  }

  /** Told from one value, of an older key if there is one. */
  override async canRead(sessionId: string): Promise<boolean> {
    const cipher = this.cipher({ sessionId });
    const [older] = await this.store.otherCredentials(sessionId, cipher.newest, 1);
    try {
      if (older) cipher.open(older.kind, older.id, older.value);
      return true;
    } catch (error) {
      if (error instanceof CredentialsUnreadableError) return false;
      throw error;
    }
  }

  private async reseal(lease: SessionLease): Promise<void> {
    const log = new Logger('Msgapp');
    try {
      const count = await resealCredentials(this.store, lease, this.cipher(lease));
      if (count > 0)
        log.log(`Session ${lease.sessionId}: all credentials are under the newest key, ${count} are new there.`);
    } catch (error) {
      const name = nameOf(error);
      log.warn(`Session ${lease.sessionId} still has credentials under an older key: ${name}.`);
    }
  }

  private cipher({ sessionId }: Pick<SessionLease, 'sessionId'>): CredentialCipher {
    return new CredentialCipher(this.keys, sessionId, this.random);
  }
}

interface Waiting {
  readonly changes: readonly CredentialChange[];
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * What is kept of a session, encrypted, for as long as its lease is good. Writes happen in the order in which they were
 * asked for, whatever connection each takes; those that wait for one under way share the next transaction.
 */
class LeasedCredentials implements SessionCredentials {
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

/** So many values share a transaction, and hold up those of the session's transport as long. */
const AT_A_TIME = 200;

/**
 * Encrypts with the newest key what a session keeps under older ones, so that these can be retired. The session goes on
 * meanwhile: a value that its transport has written since is left alone.
 *
 * @returns how many values that was
 * @throws CredentialsUnreadableError when one cannot be decrypted; those before it are done
 */
export async function resealCredentials(
  store: SessionStore,
  lease: SessionLease,
  cipher: CredentialCipher,
): Promise<number> {
  let count = 0;
  for (;;) {
    const old = await store.otherCredentials(lease.sessionId, cipher.newest, AT_A_TIME);
    const changes = old.map(({ kind, id, value }) => ({
      ...{ kind, id, was: value },
      value: cipher.seal(kind, id, cipher.open(kind, id, value)),
    }));
    // Lost to another process: that one does the rest.
    if (old.length === 0 || !(await store.replaceCredentials(lease, changes))) return count;
    count += old.length;
  }
}

/** Somebody else owns the session now, or it is over: nothing may be written for it any more. */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError';

  constructor(readonly sessionId: string) {
    super('The session is no longer ours.');
  }
}

/** So many linked sessions are looked at. */
const SAMPLE = 20;

/**
 * Refuses to start with the wrong key. Sessions that cannot be opened end after a few tries, and then what is kept of them
 * is gone: one mistake in a deployment would have every number linked again.
 */
@Injectable()
export class CredentialCheck implements OnApplicationBootstrap {
  constructor(
    private readonly store: SessionStore,
    private readonly vault: SessionVault,
    private readonly settings: MsgappSettings,
  ) {}

  /** @throws MessagingOptionsError when nothing is readable of what linked sessions keep */
  async onApplicationBootstrap(): Promise<void> {
    const { channel } = this.settings;
    // Whoever holds them: past that time nobody does.
    const sessions = await this.store.free(channel, Number.MAX_SAFE_INTEGER, SAMPLE);
    const linked = sessions.filter(({ status }) => status !== 'created');
    for (const { id } of linked) if (await this.vault.canRead(id)) return;
    if (linked.length === 0) return;
    throw new MessagingOptionsError(
      `Option msgapp.credentialsKey holds no key that opens what is kept of the linked numbers of channel ${channel}. Put the one they were linked with behind it; to give them up and link them again, empty the table messaging_session_credential.`,
    );
  }
}
