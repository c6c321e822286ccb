import type { AuthenticationCreds, SignalDataSet, SignalDataTypeMap, SignalKeyStore } from 'baileys';
import type { CredentialChange, SessionCredentials } from '../../msgapp/sessions/session-credentials.js';
import type { Baileys } from './baileys-library.js';

/** The kind and id of the account's own credentials. Baileys names the other kinds. */
const CREDS = 'creds';

/**
 * A session's credentials in Baileys' form, stored in ours. Changes are written at once: the keys of one step in one write, and
 * the account's own credentials as a whole. If several writes wait, the last state wins.
 */
export class BaileysCredentials {
  /** Baileys changes this object in place. */
  readonly creds: AuthenticationCreds;
  readonly keys: SignalKeyStore;
  private changed = false;
  private saving: Promise<void> | undefined;
  private writes: Promise<unknown> = Promise.resolve();

  /**
   * @param onWriteError called when a write fails. Then close the connection, because the session could not be resumed without
   * the data
   */
  static async load(library: Baileys, store: SessionCredentials, onWriteError: (error: unknown) => void) {
    const text = (await store.read(CREDS, [CREDS])).get(CREDS);
    const creds = text === undefined ? library.initAuthCreds() : JSON.parse(text, library.BufferJSON.reviver);
    return new BaileysCredentials(library, store, creds, onWriteError);
  }

  private constructor(
    private readonly library: Baileys,
    private readonly store: SessionCredentials,
    creds: AuthenticationCreds,
    private readonly onWriteError: (error: unknown) => void,
  ) {
    this.creds = creds;
    this.keys = {
      get: (type, ids) => this.readKeys(type, ids),
      set: (data) => this.write(this.changesOf(data)),
    };
  }

  /** The linked number, E.164 digits without the plus sign. Undefined before the scan. */
  get number(): string | undefined {
    return this.library.jidDecode(this.creds.me?.id)?.user;
  }

  /** Stores the account's own credentials. All calls during a write lead to one further write. */
  save(): void {
    this.changed = true;
    this.saving ??= this.saveChanges().finally(() => {
      this.saving = undefined;
    });
  }

  /** Resolves when all writes have ended. Never rejects; `onWriteError` reports errors. */
  async saved(): Promise<void> {
    await this.saving;
    await this.writes;
  }

  private async saveChanges(): Promise<void> {
    while (this.changed) {
      this.changed = false;
      const change = { kind: CREDS, id: CREDS, value: this.textOf(this.creds) };
      await this.write([change]).catch(() => undefined);
    }
  }

  private async readKeys<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
    const found: { [id: string]: SignalDataTypeMap[T] } = {};
    for (const [id, text] of await this.store.read(type, ids)) {
      const value = JSON.parse(text, this.library.BufferJSON.reviver);
      found[id] =
        type === 'app-state-sync-key' ? this.library.proto.Message.AppStateSyncKeyData.fromObject(value) : value;
    }
    return found;
  }

  private changesOf(data: SignalDataSet): CredentialChange[] {
    return Object.entries(data).flatMap(([kind, values]) =>
      Object.entries(values ?? {}).map(([id, value]) => ({
        kind,
        id,
        value: value === null || value === undefined ? undefined : this.textOf(value),
      })),
    );
  }

  private write(changes: readonly CredentialChange[]): Promise<void> {
    if (changes.length === 0) return Promise.resolve();
    const writing = this.store.write(changes);
    // The value is dropped, because it would reference the values of all previous writes.
    this.writes = Promise.allSettled([this.writes, writing.catch(this.onWriteError)]).then(() => undefined);
    return writing;
  }

  private textOf(value: unknown): string {
    return JSON.stringify(value, this.library.BufferJSON.replacer);
  }
}
