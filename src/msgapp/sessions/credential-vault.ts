import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Batcher } from '../../common/concurrency/batcher.js';
import { MessagingOptionsError } from '../../common/errors.js';
import type { IdGenerator } from '../../common/ids.js';
import { faultCode, LogLine, nameOf } from '../../common/log.js';
import { MsgappSettings } from '../msgapp-options.js';
import { CredentialCipher, type CredentialKeys, CredentialsUnreadableError } from './credential-cipher.js';
import type { CredentialChange, SessionCredentials } from './session-credentials.js';
import { type SessionLease } from './session-records.js';
import { SessionStore } from './session-store.js';

/** Stores the credentials of sessions. */
export abstract class SessionVault {
  /** Returns a session's credentials, which are accessible while the lease is valid. */
  abstract open(lease: SessionLease): SessionCredentials;

  /** Returns a session's credentials for reading, which needs no lease. */
  reader(sessionId: string): Pick<SessionCredentials, 'read'> {
    return this.open({ sessionId, epoch: 0 });
  }

  /** Encrypts a text of a session that is stored outside its credentials. A vault without keys returns the text unchanged. */
  seal(_sessionId: string, _kind: string, _id: string, text: string): string {
    return text;
  }

  /**
   * Decrypts what `seal` returned.
   * @throws CredentialsUnreadableError
   */
  unseal(_sessionId: string, _kind: string, _id: string, sealed: string): string {
    return sealed;
  }

  /** Returns whether a session's credentials can be read here. Always true for a vault without keys. */
  async canRead(_sessionId: string): Promise<boolean> {
    return true;
  }
}

/** Stores credentials in the database, encrypted with a key that is not in the database. */
export class CredentialVault extends SessionVault {
  constructor(
    private readonly store: SessionStore,
    private readonly keys: CredentialKeys,
    private readonly random: Pick<IdGenerator, 'bytes'>,
  ) {
    super();
  }

  /** If there are older keys, also starts to re-encrypt their values in the background. */
  override open(lease: SessionLease): SessionCredentials {
    if (this.keys.byId.size > 1) void this.reseal(lease);
    return new LeasedCredentials(this.store, lease, this.cipher(lease));
  }

  override reader(sessionId: string): Pick<SessionCredentials, 'read'> {
    const lease = { sessionId, epoch: 0 };
    return new LeasedCredentials(this.store, lease, this.cipher(lease));
  }

  override seal(sessionId: string, kind: string, id: string, text: string): string {
    return this.cipher({ sessionId }).seal(kind, id, text);
  }

  override unseal(sessionId: string, kind: string, id: string, sealed: string): string {
    return this.cipher({ sessionId }).open(kind, id, sealed);
  }

  /** Decides by one value, preferably a value that an older key has encrypted. */
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
      const fields = { code: faultCode(error), sessionId: lease.sessionId };
      log.warn(new LogLine(`Session ${lease.sessionId} still has credentials under an older key: ${name}.`, fields));
    }
  }

  private cipher({ sessionId }: Pick<SessionLease, 'sessionId'>): CredentialCipher {
    return new CredentialCipher(this.keys, sessionId, this.random);
  }
}

/**
 * The encrypted credentials of a session, accessible while its lease is valid. Writes keep the order in which they were
 * requested, whatever connection requests them. Writes that wait for a running write share the next transaction.
 */
class LeasedCredentials implements SessionCredentials {
  private readonly writes = new Batcher<readonly CredentialChange[], void>({
    perform: async (batch) => {
      if (!(await this.store.writeCredentials(this.lease, batch.flat())))
        throw new SessionLostError(this.lease.sessionId);
      return batch.map(() => undefined);
    },
    isolatesFailures: false,
  });

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
    return this.writes.add(changes.map((change) => this.sealed(change)));
  }

  private sealed({ kind, id, value }: CredentialChange): CredentialChange {
    return { kind, id, value: value === undefined ? undefined : this.cipher.seal(kind, id, value) };
  }
}

/** How many values a transaction re-encrypts. The transport's own writes wait while it runs. */
const AT_A_TIME = 200;

/**
 * Re-encrypts with the newest key the credentials that older keys had encrypted, so that the older keys can be removed. The
 * session continues meanwhile. If its transport has rewritten a value since, the value stays as it is.
 *
 * @returns the number of re-encrypted values
 * @throws CredentialsUnreadableError if a value cannot be decrypted. The values before it are done
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
      kind,
      id,
      was: value,
      value: cipher.seal(kind, id, cipher.open(kind, id, value)),
    }));
    // Another process has taken the session and does the rest.
    if (old.length === 0 || !(await store.replaceCredentials(lease, changes))) return count;
    count += old.length;
  }
}

/** Another process owns the session, or the session has ended. Its credentials must no longer be written. */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError';

  constructor(readonly sessionId: string) {
    super('The session is no longer ours.');
  }
}

/** How many linked sessions are checked. */
const SAMPLE = 20;

/**
 * Refuses to start with the wrong key. A session that cannot be decrypted ends after a few tries and its credentials are deleted.
 * So without this check, one deployment mistake could unlink every number.
 */
@Injectable()
export class CredentialCheck implements OnApplicationBootstrap {
  constructor(
    private readonly store: SessionStore,
    private readonly vault: SessionVault,
    private readonly settings: MsgappSettings,
  ) {}

  /** @throws MessagingOptionsError if the credentials of none of the checked sessions can be read */
  async onApplicationBootstrap(): Promise<void> {
    const { channel } = this.settings;
    // This includes leased sessions, because every lease has ended by that time.
    const sessions = await this.store.free(channel, Number.MAX_SAFE_INTEGER, SAMPLE);
    const linked = sessions.filter(({ status }) => status !== 'created');
    for (const { id } of linked) if (await this.vault.canRead(id)) return;
    if (linked.length === 0) return;
    throw new MessagingOptionsError(
      `Option msgapp.credentialsKey has no key that decrypts the credentials of the linked numbers of channel ${channel}. Add the key with which they were linked at the end of the option. To give the numbers up and link them again, empty the table messaging_session_credential.`,
    );
  }
}
