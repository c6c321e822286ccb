import { CODE_SEGMENTS } from '../../../src/hooks/login-hook.api.js';
import { MAX_LOGIN_HOOKS } from '../../../src/hooks/login-hook.js';
import type { MessagingApp } from '../mounting/messaging-app.js';
import type { Fetch } from './openapi-fetch.js';

const NUMBER = '+22670000001';

/**
 * Requests the routes of log-in hooks, in success and with every fault of a caller.
 * @param fetch compares each answer with the document
 * @returns the requests whose status was not the expected one
 */
export async function playHooks(fetch: Fetch, app: MessagingApp): Promise<readonly string[]> {
  const wrong: string[] = [];
  const ask = async (
    expected: number,
    method: string,
    path: string,
    body?: unknown,
    own: Readonly<Record<string, string>> = { 'x-api-key': app.key },
  ): Promise<{ readonly id: string; readonly secret: string }> => {
    const headers = { ...own, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(`${app.url}/api/v1/hooks${path}`, init);
    const text = await answer.text();
    if (answer.status !== expected) wrong.push(`${method} ${path} → ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  const definition = { kind: 'generic', signature: 'INFOS', mapping: { number: '/to', text: '/text', id: '/id' } };
  const { id, secret } = await ask(200, 'POST', '', definition);
  const { id: app2, secret: bearer } = await ask(200, 'POST', '', { kind: 'logto', signature: 'INFOS', name: 'Shop' });

  for (const fault of [
    { kind: 'auth0' },
    { name: 'a'.repeat(65) },
    { secret: 'short' },
    { limits: 1 },
    { limits: { max_segments: 11 } },
    { limits: { daily_units: 0 } },
    { mapping: 1 },
    { mapping: undefined },
    { proof: { kind: 'ed25519' } },
  ]) {
    await ask(400, 'POST', '', { ...definition, ...fault });
  }
  await ask(400, 'POST', '', { ...definition, channel: 'fax' });
  await ask(400, 'POST', '', { ...definition, signature: 'UNKNOWN' });
  await ask(401, 'POST', '', definition, {});

  const call = (expected: number, body: object, authorization = secret, hook = id) =>
    ask(expected, 'POST', `/${hook}`, body, { authorization });
  await call(200, { to: NUMBER, text: 'Code 1234', id: '1' });
  await call(200, { to: NUMBER, text: 'Code 1234', id: '1' });
  await call(200, { to: NUMBER, type: 'SignIn', payload: { code: '1234' } }, `Bearer ${bearer}`, app2);
  await call(401, { to: NUMBER, text: 'Code 1234', id: '2' }, 'another secret');
  await call(400, { to: NUMBER, text: 'Code 1234' });
  await call(400, { to: '12', text: 'Code 1234', id: '3' });
  await call(400, { to: NUMBER, text: 'a'.repeat(153 * (CODE_SEGMENTS + 1)), id: '4' });
  for (const nth of ['5', '6', '7', '8']) await call(200, { to: NUMBER, text: 'Code 1234', id: nth });
  await call(429, { to: NUMBER, text: 'Code 1234', id: '9' });

  await ask(200, 'POST', `/${id}/test`, { number: '22670000002' });
  await ask(400, 'POST', `/${id}/test`, { number: '12' });
  await ask(429, 'POST', `/${id}/test`, { number: NUMBER });
  await ask(200, 'GET', `/${id}/calls`);
  await ask(200, 'GET', '');
  await ask(200, 'GET', `/${id}`);
  await ask(200, 'POST', `/${id}/disable`);
  await call(403, { to: NUMBER, text: 'Code 1234', id: '10' });
  await ask(403, 'POST', `/${id}/test`, { number: '22670000003' });
  await ask(200, 'POST', `/${id}/enable`);
  await ask(200, 'POST', `/${id}/rotate`, {});
  await ask(400, 'POST', `/${id}/rotate`, { secret: 'short' });
  await ask(400, 'POST', `/${id}/rotate`, { keep_hours: 169 });

  for (let made = 2; made < MAX_LOGIN_HOOKS; made++) await ask(200, 'POST', '', definition);
  await ask(409, 'POST', '', definition);
  await ask(200, 'DELETE', `/${id}`);
  await ask(404, 'DELETE', `/${id}`);
  for (const what of ['rotate', 'enable', 'disable', 'test']) {
    const body = what === 'rotate' ? {} : what === 'test' ? { number: '22670000002' } : undefined;
    await ask(404, 'POST', `/${id}/${what}`, body);
  }
  await ask(404, 'GET', `/${id}`);
  await ask(404, 'GET', `/${id}/calls`);
  await call(404, { to: NUMBER, text: 'Code 1234', id: '11' });
  return wrong;
}
