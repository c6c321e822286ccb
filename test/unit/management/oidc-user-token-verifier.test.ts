import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { JWTPayload } from 'jose';
import type { UserTokenVerifier } from '../../../src/accounts/users/user-token-verifier.js';
import type { OidcOptions } from '../../../src/management/oidc/oidc-options.js';
import { OidcUserTokenVerifier } from '../../../src/management/oidc/oidc-user-token-verifier.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import { closeProvidersAfterEach, OpenIdProvider } from '../../support/management/openid-provider.js';

closeProvidersAfterEach();

const AWA = { accountId: 'shop', subject: 'awa', role: 'sender' };
const CLAIMS = { account: 'shop', messaging_role: 'sender' };
const DISCOVERY = '/.well-known/openid-configuration';

async function start(options: Partial<OidcOptions> = {}) {
  const clock = new FakeClock();
  const provider = await OpenIdProvider.open(clock);
  const claims = { account: 'account', role: 'messaging_role' };
  const verifier = made(
    { issuer: provider.issuer, audience: 'messaging', claims, allow: 'loopback', ...options },
    clock,
  );
  return { clock, provider, verifier };
}

function optionsOf({ issuer }: OpenIdProvider): OidcOptions {
  const claims = { account: 'account', role: 'messaging_role' };
  return { issuer, audience: 'messaging', claims, allow: 'loopback' };
}

/** The verifier as the module makes it. */
function made(options: OidcOptions, clock: FakeClock): UserTokenVerifier {
  const source = OidcUserTokenVerifier.forRoot(options);
  if (!('useFactory' in source)) throw new Error('It is made by a factory.');
  return Reflect.apply(source.useFactory, undefined, [clock]) as UserTokenVerifier;
}

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token with another header and a made-up signature. */
function forged(token: string, header: object, sign: (content: string) => string): string {
  const content = `${base64(header)}.${token.split('.')[1]}`;
  return `${content}.${sign(content)}`;
}

test('the claims of a token give the account, the subject and the role', async () => {
  const { provider, verifier } = await start();
  expect(await verifier.verify(await provider.token(CLAIMS))).toEqual(AWA);
  expect(await verifier.verify(await provider.token({ ...CLAIMS, aud: ['other', 'messaging'] }))).toEqual(AWA);
  expect(await verifier.verify(await provider.token({ messaging_role: 'support', account: 'shop' }))).toEqual({
    subject: 'awa',
    role: 'support',
  });
  expect(verifier.operators).toBe(false);
});

test('claims may be functions, and without a role the user has none', async () => {
  const groups = {
    role: (claims: object) => Reflect.get(claims, 'groups')?.at(1),
    account: () => 'shop',
    subject: 'email',
  };
  const { provider, verifier } = await start({ claims: groups, operators: true });
  const token = await provider.token({ groups: ['x', 'admin'], email: 'awa@example.com' });
  expect(await verifier.verify(token)).toEqual({ accountId: 'shop', subject: 'awa@example.com', role: 'admin' });
  expect(verifier.operators).toBe(true);
  const plain = await start({ claims: { account: 'account' } });
  expect(await plain.verifier.verify(await plain.provider.token({ messaging_role: 'admin' }))).toBeUndefined();
  expect(await plain.verifier.verify(await plain.provider.token({ account: 'shop' }))).toEqual({ accountId: 'shop' });
});

test('other claims are refused', async () => {
  const { provider, verifier } = await start();
  const seconds = Math.floor(new FakeClock().now() / 1000);
  for (const wrong of [
    { aud: 'other' },
    { aud: undefined },
    { iss: `${provider.issuer}/` },
    { iss: undefined },
    { exp: seconds - 61 },
    { exp: undefined },
    { nbf: seconds + 61 },
    { sub: undefined },
    { sub: '' },
    { sub: 'x'.repeat(129) },
    { account: undefined },
    { account: 5 },
    { account: '' },
    { messaging_role: 'root' },
    { messaging_role: undefined },
    { messaging_role: ['admin'] },
    { messaging_role: 'ADMIN' },
  ]) {
    const token = await provider.token({ ...CLAIMS, ...wrong } as JWTPayload);
    expect([wrong, await verifier.verify(token)]).toEqual([wrong, undefined]);
  }
  for (const near of [{ exp: seconds - 59 }, { nbf: seconds + 59 }]) {
    expect(await verifier.verify(await provider.token({ ...CLAIMS, ...near }))).toEqual(AWA);
  }
});

test('only an asymmetric signature of the provider is accepted', async () => {
  const { provider, verifier } = await start();
  const token = await provider.token(CLAIMS);
  expect(await verifier.verify(token)).toEqual(AWA);
  const [header, , signature] = token.split('.');
  const raised = base64({ iss: provider.issuer, aud: 'messaging', sub: 'awa', exp: 9e9, messaging_role: 'operator' });
  const publicKey = await provider.publicText();
  const hmac = (key: string) => (content: string) => createHmac('sha256', key).update(content).digest('base64url');
  const other = await OpenIdProvider.open(new FakeClock());
  for (const wrong of [
    `${header}.${raised}.${signature}`,
    `${token}A`,
    `${header}.${raised}.`,
    'a.b.c',
    `${header}..${signature}`,
    ...['none', 'None', 'NONE'].map((alg) => forged(token, { alg, kid: 'k1' }, () => '')),
    ...[publicKey, publicKey.trim(), ''].map((key) => forged(token, { alg: 'HS256', kid: 'k1' }, hmac(key || 'x'))),
    await other.token({ ...CLAIMS, iss: provider.issuer }),
  ]) {
    expect(await verifier.verify(wrong)).toBeUndefined();
  }
});

test('an algorithm that was not named is refused', async () => {
  const { provider, verifier } = await start({ algorithms: ['RS256'] });
  expect(await verifier.verify(await provider.token(CLAIMS))).toBeUndefined();
  await provider.add('k2', 'RS256');
  const fresh = made({ ...optionsOf(provider), algorithms: ['RS256'] }, new FakeClock());
  expect(await fresh.verify(await provider.token(CLAIMS, { kid: 'k2' }))).toEqual(AWA);
});

test('the provider is asked once for all tokens, and not for tokens that are not its own', async () => {
  const { provider, verifier } = await start();
  await verifier.verify(await provider.token({ iss: 'https://other.example.com' }));
  await verifier.verify('a.b.c');
  expect(provider.asked.size).toBe(0);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => provider.token(CLAIMS)));
  for (const user of await Promise.all(tokens.map((token) => verifier.verify(token)))) expect(user).toEqual(AWA);
  expect(Object.fromEntries(provider.asked)).toEqual({ [DISCOVERY]: 1, '/keys': 1 });
});

test('a new key is found, an old one is dropped, and invented ones do not cause a request each time', async () => {
  const { provider, verifier, clock } = await start();
  const old = await provider.token({ ...CLAIMS, exp: 9e9 });
  expect(await verifier.verify(old)).toEqual(AWA);
  await provider.add('k2', 'EdDSA');
  provider.remove('k1');
  const token = await provider.token({ ...CLAIMS, exp: 9e9 }, { kid: 'k2' });
  expect(await verifier.verify(token)).toBeUndefined();
  expect(provider.asked.get('/keys')).toBe(1);
  clock.advance(30_000);
  expect(await verifier.verify(token)).toEqual(AWA);
  expect(provider.asked.get('/keys')).toBe(2);
  for (let each = 0; each < 10; each++) expect(await verifier.verify(old)).toBeUndefined();
  expect(provider.asked.get('/keys')).toBe(2);
});

test('keys are refreshed after ten minutes, and used for an hour if the provider is unavailable', async () => {
  const { provider, verifier, clock } = await start();
  const token = await provider.token({ ...CLAIMS, exp: 9e9 });
  expect(await verifier.verify(token)).toEqual(AWA);
  clock.advance(599_999);
  await verifier.verify(token);
  expect(provider.asked.get('/keys')).toBe(1);
  provider.instead.set(DISCOVERY, { status: 503, body: '' });
  clock.advance(2_999_999);
  expect(await verifier.verify(token)).toEqual(AWA);
  clock.advance(30_000);
  await expect(verifier.verify(token)).rejects.toThrow('The provider has answered 503.');
  const asked = provider.asked.get(DISCOVERY);
  await expect(verifier.verify(token)).rejects.toThrow('The provider has answered 503.');
  expect(provider.asked.get(DISCOVERY)).toBe(asked);
  provider.instead.clear();
  clock.advance(60_000);
  expect(await verifier.verify(token)).toEqual(AWA);
});

test('a provider that hangs is asked again after 30 s, then less and less often up to every 5 minutes, and known keys stay valid', async () => {
  const { provider, verifier, clock } = await start();
  const token = await provider.token({ ...CLAIMS, exp: 9e9 });
  expect(await verifier.verify(token)).toEqual(AWA);
  provider.instead.set(DISCOVERY, { hangs: true });
  clock.advance(600_000);
  for (const restMs of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
    const asked = provider.asked.get(DISCOVERY) ?? 0;
    const answer = verifier.verify(token);
    await eventually(() => provider.asked.get(DISCOVERY) === asked + 1);
    clock.advance(5_000);
    expect(await answer).toEqual(AWA);
    clock.advance(restMs - 1);
    // The clock stands still, so an answer now comes at once.
    expect(await verifier.verify(token)).toEqual(AWA);
    expect(provider.asked.get(DISCOVERY)).toBe(asked + 1);
    clock.advance(1);
  }
  provider.instead.clear();
  expect(await verifier.verify(token)).toEqual(AWA);
  provider.instead.set(DISCOVERY, { hangs: true });
  clock.advance(3_600_000);
  const answer = expect(verifier.verify(token)).rejects.toThrow('The OpenID provider does not answer.');
  await eventually(() => provider.asked.get(DISCOVERY) === 9);
  clock.advance(5_000);
  await answer;
  clock.advance(29_999);
  await expect(verifier.verify(token)).rejects.toThrow('The OpenID provider does not answer.');
  expect(provider.asked.get(DISCOVERY)).toBe(9);
});

test('a token that names no key is tried with each', async () => {
  const { provider, verifier } = await start();
  await provider.add('k2', 'ES256');
  const named = { kid: 'k2', named: false };
  expect(await verifier.verify(await provider.token(CLAIMS, named))).toEqual(AWA);
  expect(await verifier.verify(await provider.token({ ...CLAIMS, aud: 'other' }, named))).toBeUndefined();
});

test.each([
  [
    'another issuer',
    DISCOVERY,
    { body: '{"issuer":"https://evil.example.com","jwks_uri":"https://evil.example.com/"}' },
  ],
  ['no JSON', DISCOVERY, { body: '<html>' }],
  ['a list', DISCOVERY, { body: '[]' }],
  ['keys over HTTP elsewhere', DISCOVERY, { body: '{"issuer":"ISSUER","jwks_uri":"http://keys.example.com/"}' }],
  ['no keys', '/keys', { body: '{"keys":5}' }],
  ['a redirection', '/keys', { status: 302, body: '', location: 'https://evil.example.com/' }],
  ['a large document', '/keys', { body: `{"keys":[],"x":"${'x'.repeat(300_000)}"}` }],
  ['an error', '/keys', { status: 500, body: '' }],
])('if a provider answers %s, that is an error, and no token is accepted or refused', async (_, path, answer) => {
  const { provider, verifier } = await start();
  provider.instead.set(path, { ...answer, body: answer.body.replace('ISSUER', provider.issuer) });
  await expect(verifier.verify(await provider.token(CLAIMS))).rejects.toThrow();
});

test.each([{ continues: true }, { packed: true }, { continues: true, packed: true }])(
  'an unusual but valid answer of a provider is understood: %j',
  async (unusual) => {
    const { provider, verifier } = await start();
    for (const path of [DISCOVERY, '/keys']) provider.instead.set(path, unusual);
    expect(await verifier.verify(await provider.token(CLAIMS))).toEqual(AWA);
  },
);

test('a compressed document that is too large when unpacked is an error', async () => {
  const { provider, verifier } = await start();
  provider.instead.set('/keys', { packed: true, body: `{"keys":[],"x":"${'x'.repeat(300_000)}"}` });
  await expect(verifier.verify(await provider.token(CLAIMS))).rejects.toThrow('or is too large.');
});

test('an unreachable provider is an error, and a slow one is given five seconds', async () => {
  const { provider, verifier, clock } = await start();
  const token = await provider.token(CLAIMS);
  provider.instead.set(DISCOVERY, { hangs: true });
  const answer = expect(verifier.verify(token)).rejects.toThrow('The OpenID provider does not answer.');
  await eventually(() => provider.asked.get(DISCOVERY) === 1);
  clock.advance(5000);
  await answer;
  await provider.close();
  clock.advance(30_000);
  await expect(verifier.verify(token)).rejects.toThrow('The OpenID provider does not answer.');
});

test.each([
  [{ issuer: 'http://login.example.com' }, 'Option issuer of OpenID must be an https address.'],
  [{ issuer: 'http://127.0.0.1:8080' }, 'Option issuer of OpenID must be an https address.'],
  [{ issuer: 'login' }, 'Option issuer of OpenID must be an address.'],
  [{ audience: '' }, 'Option audience of OpenID must be a text.'],
  [{ claims: { role: 5 } }, 'Option claims.role of OpenID must be the name of a claim, or a function.'],
  [
    { claims: { roles: 'x' } },
    'Option claims.roles of OpenID is not known; the known options are account, role, subject.',
  ],
  [{ algorithms: ['HS256'] }, /^Option algorithms\[0\] of OpenID must be "RS256" or /],
  [{ algorithms: ['none'] }, /^Option algorithms\[0\] of OpenID must be "RS256" or /],
  [{ operators: 'yes' }, 'Option operators of OpenID must be true or false.'],
])('a wrong option is refused: %o', (wrong, sentence) => {
  const right = { issuer: 'https://login.example.com', audience: 'messaging', claims: { role: 'role' } };
  expect(() => OidcUserTokenVerifier.forRoot({ ...right, ...wrong } as never)).toThrow(sentence);
});
