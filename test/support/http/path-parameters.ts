import { expect, test } from '@jest/globals';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { mountedRoutes } from '../../../src/http/mounted-routes.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { startKeys } from '../accounts/key-app.js';
import { OPEN, PERMISSION_TABLE, type RouteRule, ruleName } from '../accounts/permission-table.js';
import { asUser } from '../accounts/users.js';
import { describeOnBothAdapters } from './http-apps.js';
import { call } from './http-client.js';

/**
 * Values that name nothing: characters that a database refuses or folds, other scripts, other syntaxes. Encoded for a
 * path.
 */
const HOSTILE: Readonly<Record<string, string>> = {
  NUL: '%00',
  'a NUL inside': 'a%00b',
  'an emoji': '%F0%9F%98%80',
  'another script': '%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82',
  'a combining mark': 'e%CC%81',
  'a line break': 'a%0D%0Ab',
  'an escape': '%1B%5B2J',
  'a slash': '..%2F..%2Fx',
  'a quote': '%27%20OR%20%271%27%3D%271',
  'a percent sign': '%25',
  'a trailing blank': 'x%20',
  // Fastify refuses longer ones itself, with a 414.
  'a long text': 'x'.repeat(100),
};

/** Bodies without which a route refuses the request before it looks anything up. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /manage/accounts/:id': { name: 'Name' },
  'PUT /templates/:id': { content: 'Bonjour' },
  'POST /msgapp/received/:id/react': { emoji: '👍' },
  'POST /hooks/:id/test': { number: '22670000001' },
  'POST /campaigns/:id/recipients': { to: [{ number: '22670000001' }] },
  'POST /campaigns/:id/test': { number: '22670000001' },
  'POST /manage/accounts/:id/topups': { units: 1, reference: 'r' },
  'POST /manage/accounts/:id/adjustments': { units: 1, reference: 'r' },
};

/** A caller who may use the route. */
function headersFor(rule: RouteRule, key: string, accountId: string): Readonly<Record<string, string>> {
  if (rule.key !== 'none') return { 'x-api-key': key };
  return asUser(rule.user ? { accountId, subject: 'ann', role: 'admin' } : { subject: 'olga', role: 'operator' });
}

/** On every route, an unknown value in the path is a 404, whatever characters it contains. */
export function describePathParameters(name: string, storageOf: () => Partial<MessagingOptions>): void {
  describeOnBothAdapters(`values in paths on ${name}`, (adapter) => {
    test('a value that cannot exist is a 404 on every route', async () => {
      const { app, url, client, accountId } = await startKeys(adapter, storageOf());
      const made = await call(`${client.url}/webhooks`, {
        method: 'POST',
        headers: { 'x-api-key': client.key },
        body: { url: 'https://93.184.216.34/hook' },
      });
      const { id: endpoint } = made.body as { id: string };
      const wrong: string[] = [];
      let asked = 0;
      for (const route of mountedRoutes(app.get(ModulesContainer), app.get(ApplicationConfig))) {
        const rule = PERMISSION_TABLE[ruleName(route)];
        if (!route.path.includes(':') || rule === undefined) continue;
        const { method, path } = route;
        const headers = rule === OPEN ? {} : headersFor(rule, client.key, accountId);
        const body = BODIES[ruleName(route)] ?? {};
        const parameters = [...path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => parameter);
        for (const hostile of parameters) {
          const valid = { id: path.includes('/webhooks/') ? endpoint : accountId, name: 'SHOP', sequence: '1' };
          for (const [value, encoded] of Object.entries(HOSTILE)) {
            const all: Readonly<Record<string, string>> = { ...valid, [hostile]: encoded };
            const target = `${url}${path.replaceAll(/:(\w+)/g, (_, parameter) => all[parameter] ?? 'x')}`;
            const reply = await call(target, { method, headers, ...(method === 'GET' ? {} : { body }) });
            asked++;
            const got = `${reply.status} ${JSON.stringify(reply.body)}`;
            if (reply.status !== 404) wrong.push(`${method} ${path}, ${hostile} is ${value}: ${got}`);
          }
        }
      }
      expect(wrong).toEqual([]);
      expect(asked).toBeGreaterThan(300);
    }, 240_000);
  });
}
