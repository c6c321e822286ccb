import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { makeApiKey } from '../../../src/accounts/keys/api-key.js';
import type { Answer, CredentialHeaders } from '../../../src/accounts/keys/authenticator.js';
import { UserTokenVerifier } from '../../../src/accounts/users/user-token-verifier.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { aKey } from '../../contract/storage/accounts/accounts.js';
import { CountingAccountStore } from './counting-account-store.js';
import { instance, jwt } from './instance.js';

class CountingVerifier extends UserTokenVerifier {
  readonly asked: string[] = [];
  constructor(private readonly accountId: string | undefined) {
    super();
  }
  override async verify(token: string) {
    this.asked.push(token);
    return this.accountId === undefined ? undefined : { accountId: this.accountId };
  }
}

const REFUSED: Answer = { kind: 'refused', code: 'error.unauthorized' };

let clock: FakeClock;
let store: CountingAccountStore;
let valid: { key: string; id: string };
let second: { key: string; id: string };
let dead: Record<'unknown' | 'revoked' | 'expired', string>;
let forged: string;

beforeEach(async () => {
  clock = new FakeClock();
  store = await CountingAccountStore.open();
  const { accounts } = instance(clock, store);
  const elsewhere = instance(clock, await CountingAccountStore.open()).accounts;
  await accounts.createAccount({ id: 'a', name: 'A' });
  await accounts.createAccount({ id: 'b', name: 'B' });
  await elsewhere.createAccount({ id: 'a', name: 'A' });
  valid = await accounts.issueKey('a');
  second = await accounts.issueKey('b');
  const revoked = await accounts.issueKey('a');
  const expired = await accounts.issueKey('a');
  await accounts.revokeKey(revoked.id);
  await accounts.rotateKey(expired.id, { graceMs: 0 });
  dead = { unknown: (await elsewhere.issueKey('a')).key, revoked: revoked.key, expired: expired.key };
  // The right id with another key's secret, and the checksum that fits them.
  forged = forge(valid.id);
  store.keyLookups = 0;
});

/** A well-formed key of that id whose secret is not the stored one. */
function forge(id: string): string {
  const bytes = [...id].map((char) => '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(char));
  return makeApiKey({
    next: () => '',
    random: () => 0,
    bytes: (size) => Buffer.from(size === bytes.length ? bytes : Array(size).fill(7)),
  }).key;
}

/** The answer to an unrestricted key. */
function callerVia(via: 'key' | 'legacy-bearer', { id }: { id: string } = valid, accountId = 'a') {
  const key = { id, name: undefined, scopes: undefined, dailyUnits: undefined, family: id };
  const known = expect.objectContaining({ accountId, key });
  return { kind: 'caller', caller: { accountId, via, keyId: id, key }, known };
}

/** Asks a new instance, which has nothing in its memory. */
async function ask(headers: CredentialHeaders, verifier?: CountingVerifier, legacyBearer = true) {
  const { authenticator } = instance(clock, store, { legacyBearer, ...(verifier && { verifier }) });
  const before = store.keyLookups;
  const answer = await authenticator.authenticate(headers);
  return { answer, lookups: store.keyLookups - before };
}

type Row = 'absent' | 'valid' | 'dead' | 'malformed' | 'jwt';
type Column = 'absent' | 'valid key' | 'dead key' | 'jwt' | 'garbage';
const ROWS: readonly Row[] = ['absent', 'valid', 'dead', 'malformed', 'jwt'];
const COLUMNS: readonly Column[] = ['absent', 'valid key', 'dead key', 'jwt', 'garbage'];

function xApiKeys(row: Row): readonly (string | string[] | undefined)[] {
  const { key } = valid;
  switch (row) {
    case 'absent':
      return [undefined];
    case 'valid':
      return [key];
    case 'dead':
      return [...Object.values(dead), forged];
    case 'malformed':
      return ['', ' ', `${key}, ${key}`, [key], [key, key], `${key}x`, key.slice(0, -1), 'secret', `Bearer ${key}`];
    case 'jwt':
      return [jwt(), jwt({ alg: 'none' })];
  }
}

function authorizations(column: Column): readonly (string | undefined)[] {
  switch (column) {
    case 'absent':
      return [undefined];
    case 'valid key':
      return [`Bearer ${second.key}`, `bearer   ${second.key}`, `BEARER ${second.key}`];
    case 'dead key':
      return [...Object.values(dead), forged].map((key) => `Bearer ${key}`);
    case 'jwt':
      return [`Bearer ${jwt()}`, `bEaReR ${jwt({ alg: 'none' })}`];
    case 'garbage':
      return [
        '',
        'Bearer',
        'Bearer ',
        second.key,
        jwt(),
        `Bearer${second.key}`,
        `Bearer ${second.key} ${second.key}`,
        `Bearer ${second.key}x`,
        'Bearer opaque-token',
        'Bearer a..b',
        `Basic ${Buffer.from(`user:${second.key}`).toString('base64')}`,
        `Basic ${second.key}`,
        `Digest ${jwt()}`,
      ];
  }
}

describe('the contract’s table of precedence', () => {
  const cells = ROWS.flatMap((row) => COLUMNS.map((column) => ({ row, column })));

  describe.each(cells)('X-Api-Key $row, Authorization $column', ({ row, column }) => {
    const looksUp = row === 'valid' || row === 'dead' || (row === 'absent' && /key/.test(column));

    function expected(verifier: CountingVerifier | undefined) {
      if (row === 'valid') return callerVia('key');
      if (row !== 'absent') return REFUSED;
      if (column === 'valid key') return callerVia('legacy-bearer', second, 'b');
      if (column === 'jwt' && verifier) return { kind: 'caller', caller: { accountId: 'u', via: 'user-token' } };
      return REFUSED;
    }

    test.each(['without', 'with'])('%s a user-token verifier', async (mode) => {
      let asked = 0;
      for (const xApiKey of xApiKeys(row)) {
        for (const authorization of authorizations(column)) {
          const headers: CredentialHeaders = {
            ...(xApiKey !== undefined && { 'x-api-key': xApiKey }),
            ...(authorization !== undefined && { authorization }),
          };
          const verifier = mode === 'with' ? new CountingVerifier('u') : undefined;
          const { answer, lookups } = await ask(headers, verifier);
          expect({ headers, answer, lookups }).toEqual({
            headers,
            answer: expected(verifier),
            lookups: looksUp ? 1 : 0,
          });
          asked += verifier?.asked.length ?? 0;
        }
      }
      expect(asked).toBe(mode === 'with' && row === 'absent' && column === 'jwt' ? 2 : 0);
    });
  });
});

/** What a client may put into `X-User-Token`. */
function userTokens(kind: 'jwt' | 'garbage'): readonly (string | string[] | undefined)[] {
  if (kind === 'jwt') return [jwt(), jwt({ alg: 'none' })];
  const wrong = [valid.key, second.key, `Bearer ${jwt()}`, `${jwt()}, ${jwt()}`, [jwt()], [jwt(), jwt()]];
  return [undefined, '', ' ', 'opaque-token', 'a..b', ...Object.values(dead), ...wrong];
}

describe('X-User-Token, for pages behind a proxy that removes Authorization', () => {
  const cells = ROWS.flatMap((row) =>
    COLUMNS.flatMap((column) => (['jwt', 'garbage'] as const).map((kind) => ({ row, column, kind }))),
  );

  test.each(cells)('$kind, with X-Api-Key $row and Authorization $column', async ({ row, column, kind }) => {
    for (const xApiKey of xApiKeys(row)) {
      for (const authorization of authorizations(column)) {
        for (const token of userTokens(kind)) {
          const headers: CredentialHeaders = {
            ...(xApiKey !== undefined && { 'x-api-key': xApiKey }),
            ...(authorization !== undefined && { authorization }),
            'x-user-token': token,
          };
          const verifier = new CountingVerifier('u');
          const { answer, lookups } = await ask(headers, verifier);
          const isUser = row === 'absent' && kind === 'jwt';
          const user = { kind: 'caller', caller: { accountId: 'u', via: 'user-token' } };
          expect({ headers, answer, lookups, asked: verifier.asked }).toEqual({
            headers,
            answer: row === 'valid' ? callerVia('key') : isUser ? user : REFUSED,
            lookups: row === 'valid' || row === 'dead' ? 1 : 0,
            asked: isUser ? [token] : [],
          });
        }
      }
    }
  });

  test('is refused if no verifier of user tokens is configured', async () => {
    expect(await ask({ 'x-user-token': jwt() })).toEqual({ answer: REFUSED, lookups: 0 });
  });
});

describe('Authenticator', () => {
  test('an X-Api-Key header without a value still takes precedence', async () => {
    const headers = { 'x-api-key': undefined, authorization: `Bearer ${valid.key}` };
    expect(await ask(headers)).toEqual({ answer: REFUSED, lookups: 0 });
  });

  test('refuses a user token that the verifier does not accept', async () => {
    const verifier = new CountingVerifier(undefined);
    expect(await ask({ authorization: `Bearer ${jwt()}` }, verifier)).toEqual({ answer: REFUSED, lookups: 0 });
    expect(verifier.asked).toEqual([jwt()]);
  });

  test('with legacyBearer off, a key in Authorization is refused without a look-up, and the error names the right header', async () => {
    for (const key of [valid.key, ...Object.values(dead)]) {
      expect(await ask({ authorization: `Bearer ${key}` }, undefined, false)).toEqual({
        answer: { kind: 'refused', code: 'error.use_x_api_key' },
        lookups: 0,
      });
    }
    expect((await ask({ authorization: `Bearer ${jwt()}` }, undefined, false)).answer).toEqual(REFUSED);
    expect((await ask({ authorization: 'Bearer x' }, undefined, false)).answer).toEqual(REFUSED);
    expect((await ask({}, undefined, false)).answer).toEqual(REFUSED);
    expect((await ask({ 'x-api-key': valid.key }, undefined, false)).answer).toEqual(callerVia('key'));
  });

  test('answers what it knows at once, without a promise', async () => {
    const { authenticator } = instance(clock, store);
    for (const headers of [{ 'x-api-key': valid.key }, { 'x-api-key': dead.unknown }, { 'x-api-key': dead.revoked }]) {
      const first = authenticator.authenticate(headers);
      expect(first).toBeInstanceOf(Promise);
      const then = authenticator.authenticate(headers);
      expect(then).toBeInstanceOf(Promise);
      await first;
      expect(authenticator.authenticate(headers)).toEqual(await first);
    }
    expect(authenticator.authenticate({})).toEqual(REFUSED);
  });

  test('a key in memory ends at its time', async () => {
    const { authenticator, accounts } = instance(clock, store);
    await accounts.rotateKey(valid.id, { graceMs: 1_000 });
    expect(await authenticator.authenticate({ 'x-api-key': valid.key })).toEqual(callerVia('key'));
    clock.advance(999);
    expect(authenticator.authenticate({ 'x-api-key': valid.key })).toEqual(callerVia('key'));
    clock.advance(1);
    expect(authenticator.authenticate({ 'x-api-key': valid.key })).toEqual(REFUSED);
  });

  test('a malformed hash in the store never matches', async () => {
    const { id, key } = await instance(clock, store).accounts.issueKey('a');
    const damaged = await CountingAccountStore.open();
    await damaged.addKey(aKey(id, { accountId: 'a', hash: 'zz' }));
    expect(await instance(clock, damaged).authenticator.authenticate({ 'x-api-key': key })).toEqual(REFUSED);
  });

  test('agrees with a simple model on 10 000 pairs of headers', async () => {
    const pool = () => [
      valid.key,
      second.key,
      ...Object.values(dead),
      forged,
      jwt(),
      jwt({ alg: 'none' }),
      'a..b',
      'x',
      '',
    ];
    const credential = fc.oneof(
      fc.nat().map((n) => pool()[n % pool().length] ?? ''),
      fc.string(),
      fc.nat().map((n) => valid.key.slice(0, n % valid.key.length)),
    );
    const authorization = fc.oneof(
      credential,
      fc
        .tuple(fc.constantFrom('Bearer', 'bearer', 'BEARER', 'Basic', ''), fc.constantFrom(' ', '  ', ''), credential)
        .map((parts) => parts.join('')),
    );
    const verifier = new CountingVerifier('u');
    const { authenticator } = instance(clock, store, { verifier });
    const live = new Map([
      [valid.key, 'a'],
      [second.key, 'b'],
    ]);
    const tokens = new Set([jwt(), jwt({ alg: 'none' })]);
    const ours = new Set([...live.keys(), ...Object.values(dead), forged]);

    const model = (x: string | undefined, auth: string | undefined): string => {
      if (x !== undefined) return live.has(x) ? `${live.get(x)} key` : 'refused';
      const [scheme, ...rest] = auth?.split(' ') ?? [];
      const token = rest.filter((part) => part !== '').join(' ');
      if (scheme?.toLowerCase() !== 'bearer' || rest.at(-1) === '') return 'refused';
      if (live.has(token)) return `${live.get(token)} legacy-bearer`;
      return tokens.has(token) ? 'u user-token' : 'refused';
    };

    await fc.assert(
      fc.asyncProperty(
        fc.option(credential, { nil: undefined }),
        fc.option(authorization, { nil: undefined }),
        async (x, auth) => {
          const answer = await authenticator.authenticate({
            ...(x !== undefined && { 'x-api-key': x }),
            ...(auth !== undefined && { authorization: auth }),
          });
          const said = answer.kind === 'caller' ? `${answer.caller.accountId} ${answer.caller.via}` : 'refused';
          expect(said).toBe(model(x, auth));
        },
      ),
      { numRuns: 10_000 },
    );
    expect(verifier.asked.every((token) => tokens.has(token))).toBe(true);
    // Only well-formed keys were looked up, each of them once.
    expect(store.keyLookups).toBeLessThanOrEqual(ours.size - 1);
    expect(store.keyLookups).toBeGreaterThan(0);
  });
});
