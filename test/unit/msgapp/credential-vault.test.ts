import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { UuidGenerator } from '../../../src/common/ids.js';
import { SECOND_MS } from '../../../src/common/time.js';
import {
  CredentialCipher,
  CredentialsUnreadableError,
  resolveCredentialKeys,
} from '../../../src/msgapp/sessions/credential-cipher.js';
import { CredentialVault, resealCredentials, SessionLostError } from '../../../src/msgapp/sessions/credential-vault.js';
import type { CredentialChange } from '../../../src/msgapp/sessions/session-credentials.js';
import type { SessionLease } from '../../../src/msgapp/sessions/session-records.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { aSession, range, START, sessionId } from '../../contract/storage/fixtures.js';
import { eventually } from '../../support/common/eventually.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

const OLD = 'a fixture for tests, 0123456789 old';
const NEW = 'a fixture for tests, 0123456789 new';

const opened = closeAfterEach();

const vaultOf = (store: SessionStore, secrets: string | readonly string[] = OLD) =>
  new CredentialVault(store, resolveCredentialKeys(secrets), new UuidGenerator());
const change = (id: string, value: string | undefined, kind = 'k'): CredentialChange => ({ kind, id, value });

async function world() {
  const storage = await SqliteMemory.open();
  const { database } = storage;
  const sessions = storage.store(SessionStore);
  const lease = await sessions.create(aSession(1));
  return { database, sessions, lease, credentials: vaultOf(sessions).open(lease) };
}

/** A store whose writes wait until they are let through, one by one. */
class GatedSessionStore extends SessionStore {
  readonly waiting: (() => void)[] = [];
  readonly sizes: number[] = [];

  override async writeCredentials(lease: SessionLease, changes: readonly CredentialChange[]): Promise<boolean> {
    this.sizes.push(changes.length);
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    return super.writeCredentials(lease, changes);
  }
}

describe('credentials of a session', () => {
  test('can be read once written, and not once deleted', async () => {
    const { credentials } = await world();
    await credentials.write([change('a', '1'), change('b', '2'), change('a', '3', 'other')]);
    await credentials.write([change('a', undefined), change('c', 'é😀')]);
    expect(await credentials.read('k', ['a', 'b', 'c', 'x'])).toEqual(new Map(Object.entries({ b: '2', c: 'é😀' })));
    expect(await credentials.read('other', ['a'])).toEqual(new Map([['a', '3']]));
  });

  test('can be 816 at once', async () => {
    const { credentials } = await world();
    const ids = range(816).map(String);
    await credentials.write(ids.map((id) => change(id, `key ${id}`)));
    expect(await credentials.read('k', ids)).toEqual(new Map(ids.map((id) => [id, `key ${id}`])));
  });

  test('are no longer written after the session is lost, and each write says so', async () => {
    const { sessions, lease, credentials } = await world();
    await credentials.write([change('a', '1')]);
    const taken = await sessions.lease(lease.sessionId, 'p2', START + 30 * SECOND_MS, START + 60 * SECOND_MS);
    for (const changes of [[change('a', '2')], [change('a', undefined)], []]) {
      await expect(credentials.write(changes)).rejects.toThrow(SessionLostError);
    }
    expect(taken && (await vaultOf(sessions).open(taken).read('k', ['a']))).toEqual(new Map([['a', '1']]));
  });

  test('are written in their order even if nobody waits; pending writes share a transaction', async () => {
    const store = new GatedSessionStore((await SqliteMemory.open()).db);
    const credentials = vaultOf(store).open(await store.create(aSession(1)));
    const writes = ['1', '2', '3', '4'].map((value) => credentials.write([change('a', value), change(value, value)]));
    expect(store.sizes).toEqual([2]);
    store.waiting.shift()?.();
    await writes[0];
    await new Promise(setImmediate);
    expect(store.sizes).toEqual([2, 6]);
    expect((await credentials.read('k', ['a'])).get('a')).toBe('1');
    store.waiting.shift()?.();
    await Promise.all(writes);
    const later = credentials.write([change('a', '5')]);
    expect(store.sizes).toEqual([2, 6, 1]);
    store.waiting.shift()?.();
    await later;
    expect((await credentials.read('k', ['a', '2', '4'])).get('a')).toBe('5');
  });

  test('fail for every caller whose write was part of a failed transaction, and the next write is tried again', async () => {
    const { sessions, lease } = await world();
    const write = sessions.writeCredentials.bind(sessions);
    let down = true;
    sessions.writeCredentials = async (...args) => {
      if (down) throw new Error('down');
      return write(...args);
    };
    const credentials = vaultOf(sessions).open(lease);
    const writes = range(3).map((index) => credentials.write([change(`${index}`, 'v')]));
    const results = await Promise.allSettled(writes);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    down = false;
    await credentials.write([change('a', '1')]);
    expect(await credentials.read('k', ['a', '0'])).toEqual(new Map([['a', '1']]));
  });

  test('do not open if two rows change places', async () => {
    const { sessions, database, lease, credentials } = await world();
    const other = await sessions.create(aSession(2));
    await credentials.write([change('a', '1'), change('b', '2'), change('a', '3', 'other')]);
    await vaultOf(sessions)
      .open(other)
      .write([change('a', '4')]);
    const kept = `SELECT content FROM messaging_session_credential WHERE session_id IN (?, ?)
      ORDER BY session_id <> ?, kind <> 'k', name <> 'a'`;
    const ids = [lease.sessionId, other.sessionId, lease.sessionId];
    const sealed = database.prepare(kept).pluck().all(ids);
    expect(sealed).toHaveLength(4);
    for (const [index, text] of sealed.entries()) {
      database
        .prepare(
          "UPDATE messaging_session_credential SET content = ? WHERE session_id = ? AND kind = 'k' AND name = 'a'",
        )
        .run(text, lease.sessionId);
      const read = credentials.read('k', ['a']);
      if (index === 0) await expect(read).resolves.toEqual(new Map([['a', '1']]));
      else await expect(read).rejects.toMatchObject({ why: 'damaged' });
    }
  });

  test('are sealed with the newest secret when written, and stay readable under older ones', async () => {
    const { sessions, lease, credentials } = await world();
    await credentials.write([change('a', '1'), change('b', '2')]);
    // Finds nothing that could be encrypted anew.
    sessions.otherCredentials = async () => [];
    const rotated = vaultOf(sessions, [NEW, OLD]).open(lease);
    expect(await rotated.read('k', ['a', 'b'])).toEqual(new Map(Object.entries({ a: '1', b: '2' })));
    await rotated.write([change('a', '1')]);
    const fresh = vaultOf(sessions, NEW).open(lease);
    expect(await fresh.read('k', ['a'])).toEqual(new Map([['a', '1']]));
    await expect(fresh.read('k', ['b'])).rejects.toMatchObject({ why: 'unknown_key' });
  });
});

describe('an older secret', () => {
  const cipherOf = (secrets: string | readonly string[]) =>
    new CredentialCipher(resolveCredentialKeys(secrets), sessionId(1), new UuidGenerator());

  /** A session with 816 values under the old secret. */
  async function old() {
    const { sessions, database, lease, credentials } = await world();
    const ids = range(816).map(String);
    await credentials.write(ids.map((id) => change(id, `key ${id}`, `kind ${Number(id) % 3}`)));
    const readBy = async (secrets: string | readonly string[]) => {
      const fresh = vaultOf(sessions, secrets).open(lease);
      const kinds = await Promise.all(range(3).map((kind) => fresh.read(`kind ${kind}`, ids)));
      return Object.fromEntries(kinds.flatMap((kind) => [...kind]));
    };
    return { sessions, database, lease, readBy, values: Object.fromEntries(ids.map((id) => [id, `key ${id}`])) };
  }

  test('is no longer needed for a session that was opened with the new one in front', async () => {
    const { sessions, lease, readBy, values } = await old();
    vaultOf(sessions, [NEW, OLD]).open(lease);
    const { newest } = cipherOf(NEW);
    const left = () => sessions.otherCredentials(lease.sessionId, newest, 1);
    await eventually(left, ({ length }) => length === 0);
    expect(await readBy(NEW)).toEqual(values);
    await expect(readBy(OLD)).rejects.toThrow(CredentialsUnreadableError);
    expect(await resealCredentials(sessions, lease, cipherOf([NEW, OLD]))).toBe(0);
  });

  test('stays in use while it is alone, or still in front', async () => {
    const { sessions, lease, readBy, values } = await old();
    for (const secrets of [OLD, [OLD, NEW]])
      expect(await resealCredentials(sessions, lease, cipherOf(secrets))).toBe(0);
    expect(await readBy(OLD)).toEqual(values);
  });

  test('is replaced in batches, so that others are not delayed', async () => {
    const { sessions, lease } = await old();
    const sizes: number[] = [];
    const replace = sessions.replaceCredentials.bind(sessions);
    sessions.replaceCredentials = (by, changes) => {
      sizes.push(changes.length);
      return replace(by, changes);
    };
    expect(await resealCredentials(sessions, lease, cipherOf([NEW, OLD]))).toBe(816);
    expect(sizes).toEqual([200, 200, 200, 200, 16]);
  });

  test('leaves a value unchanged that the transport writes or deletes meanwhile', async () => {
    const { sessions, lease, readBy, values } = await old();
    const transport = vaultOf(sessions, [NEW, OLD]).open(lease);
    const find = sessions.otherCredentials.bind(sessions);
    sessions.otherCredentials = async (...args) => {
      sessions.otherCredentials = find;
      const found = await find(...args);
      await transport.write([change('0', 'newer', 'kind 0'), change('1', undefined, 'kind 1')]);
      return found;
    };
    await resealCredentials(sessions, lease, cipherOf([NEW, OLD]));
    const { '1': _, ...others } = values;
    expect(await readBy(NEW)).toEqual({ ...others, '0': 'newer' });
  });

  test('is left to the next process if this one has lost the session', async () => {
    const { sessions, lease, readBy, values } = await old();
    await sessions.seize(lease.sessionId, 'p2', START + 60 * SECOND_MS);
    expect(await resealCredentials(sessions, lease, cipherOf([NEW, OLD]))).toBe(0);
    expect(await readBy(OLD)).toEqual(values);
  });

  test('stays if a value cannot be decrypted, and nothing is lost', async () => {
    const { sessions, database, lease, readBy } = await old();
    const one = "messaging_session_credential WHERE kind = 'kind 0' AND name = '300'";
    database.exec(`UPDATE ${one.replace(' WHERE', " SET content = 'v1.damaged' WHERE")}`);
    await expect(resealCredentials(sessions, lease, cipherOf([NEW, OLD]))).rejects.toThrow(CredentialsUnreadableError);
    database.exec(`DELETE FROM ${one}`);
    expect(Object.keys(await readBy([NEW, OLD]))).toHaveLength(815);
  });
});

describe('the database file', () => {
  const SECRET = 'a-private-key-that-nobody-may-see-0123456789';
  const forms = () => {
    const bytes = Buffer.from(SECRET);
    const inside = (encoding: 'base64' | 'hex') => bytes.toString(encoding).replace(/=+$/, '').slice(0, -2);
    return [SECRET, inside('base64'), inside('hex'), bytes.toString('utf16le'), bytes.swap16().toString('utf16le')];
  };

  /** Whether any form of the secret is in the file, its journal or its journal's index. */
  function isSeen(file: SqliteFile): boolean {
    const folder = dirname(file.path);
    const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    expect(bytes.length).toBeGreaterThan(1);
    return bytes.some((content) => forms().some((form) => content.includes(form)));
  }

  test('contains nothing readable, and neither does its journal', async () => {
    const file = opened(new SqliteFile());
    const storage = file.storage().useValue;
    await storage.start();
    const lease = await storage.store(SessionStore).create(aSession(1));
    const credentials = vaultOf(storage.store(SessionStore)).open(lease);
    for (const value of [SECRET, `{"key":"${SECRET}"}`, SECRET.repeat(9000)]) {
      await credentials.write([change('a', value), change('b', value)]);
    }
    expect((await credentials.read('k', ['b'])).get('b')).toHaveLength(SECRET.length * 9000);
    expect(isSeen(file)).toBe(false);
    // The same data written in plain form, so the search would have found it.
    await storage.store(SessionStore).writeCredentials({ ...lease, sessionId: sessionId(1) }, [change('c', SECRET)]);
    expect(isSeen(file)).toBe(true);
    await storage.stop();
  });
});
