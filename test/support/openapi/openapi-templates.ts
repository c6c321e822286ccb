import { HOST } from '../../../src/accounts/audit/audit-entry.js';
import { MAX_TEMPLATES } from '../../../src/sms/templates/template.api.js';
import { TemplateStore } from '../../../src/sms/templates/template-store.js';
import { DOORS, play, playCrowd, playLate, type Stage, type Step } from './openapi-scenario.js';

const TEMPLATES = '/api/v1/templates';
const ONE = `${TEMPLATES}/parcel-arrived`;
const TEXT = { content: 'Bonjour {name}', signature: 'INFOS' };

type Asked = Step & { readonly method: string };

/** The routes in an order in which each of them succeeds. */
const ROUTES: readonly Asked[] = [
  { method: 'POST', path: TEMPLATES, status: 200, body: { name: 'parcel-arrived', ...TEXT } },
  { method: 'GET', path: TEMPLATES, status: 200 },
  { method: 'GET', path: ONE, status: 200 },
  { method: 'PUT', path: ONE, status: 200, body: TEXT },
  { method: 'DELETE', path: ONE, status: 200 },
];

const WRONG_TEXTS: readonly object[] = [
  {},
  { content: ' ' },
  { content: 1 },
  { content: 'a\0' },
  { content: 'Bonjour {' },
  { content: 'a'.repeat(153 * 255 + 1) },
  { ...TEXT, signature: 1 },
  { ...TEXT, signature: 'a name that is too long' },
];

/** Requests the templates until every described answer has come. */
export async function playTemplates(stage: Stage): Promise<void> {
  for (const { method, path } of ROUTES) for (const step of DOORS(path)) await play(stage, method, step);
  for (const step of ROUTES) await ask(stage, step);
  for (const text of WRONG_TEXTS) {
    await ask(stage, { method: 'POST', path: TEMPLATES, status: 400, body: { name: 'a', ...text } });
    await ask(stage, { method: 'PUT', path: ONE, status: 400, body: text });
  }
  for (const name of [undefined, 1, 'Not A Name']) {
    await ask(stage, { method: 'POST', path: TEMPLATES, status: 400, body: { ...TEXT, name } });
  }
  for (const query of ['limit=0', 'cursor=a&cursor=b', 'cursor=nonsense!']) {
    await ask(stage, { method: 'GET', path: `${TEMPLATES}?${query}`, status: 400 });
  }
  for (const step of ROUTES.slice(2)) await ask(stage, { ...step, status: 404 });
  await playLimit(stage);
  await playCrowd(stage, ROUTES);
  const headers = { authorization: `Bearer ${stage.app.key}` };
  for (const step of ROUTES) await ask(stage, { ...step, headers });
  for (const step of ROUTES) await playTroubles(stage, step);
}

/** A name may be used once, and an account has at most {@link MAX_TEMPLATES}. */
async function playLimit(stage: Stage): Promise<void> {
  const [create] = ROUTES;
  if (create) await ask(stage, create);
  if (create) await ask(stage, { ...create, status: 409 });
  const store = stage.storage.store(TemplateStore);
  const { accountId } = stage.app;
  for (let count = 1; count < MAX_TEMPLATES; count++) {
    const template = { accountId, name: `t${count}`, content: 'Bonjour', signature: undefined };
    await store.create({ ...template, createdAt: 0, updatedAt: 0 }, HOST);
  }
  await ask(stage, { method: 'POST', path: TEMPLATES, status: 409, body: { name: 'one-more', ...TEXT } });
  for (let count = 1; count < MAX_TEMPLATES; count++) await store.remove({ accountId, name: `t${count}` }, 0, HOST);
  await ask(stage, { method: 'DELETE', path: ONE, status: 200 });
}

function ask(stage: Stage, { method, ...step }: Asked): Promise<Response> {
  return play(stage, method, step);
}

async function playTroubles(stage: Stage, step: Asked): Promise<void> {
  const { storage, clock } = stage;
  // The key must be looked up anew.
  clock.advance(10_000);
  storage.beUnavailable();
  await ask(stage, { ...step, status: 503 });
  storage.breakDown();
  await ask(stage, { ...step, status: 500 });
  storage.recover();
  clock.advance(10_000);
  await playLate(stage, () => ask(stage, { ...step, status: 504 }));
}
