import { expect, test } from '@jest/globals';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { METHODS } from '../../support/client/operations.js';
import { throughClient } from '../../support/client/through-client.js';
import { CallingSandbox } from '../../support/mounting/calling-transport.js';
import { OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { CallingMsgapp } from '../../support/msgapp/calling-msgapp.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';
import { playEvents } from '../../support/openapi/openapi-events.js';
import type { Fetch } from '../../support/openapi/openapi-fetch.js';
import { serveDocument } from '../../support/openapi/openapi-host.js';
import { playCap, playLimits } from '../../support/openapi/openapi-limits.js';
import { playMsgapp } from '../../support/openapi/openapi-msgapp.js';
import { rawFetch } from '../../support/openapi/openapi-raw-fetch.js';
import { type Described, operationsOf, pathFor } from '../../support/openapi/openapi-reader.js';
import { IN_FLIGHT, MAX_BYTES, MAX_RECIPIENTS, playScenario, UNITS } from '../../support/openapi/openapi-scenario.js';
import { playTemplates } from '../../support/openapi/openapi-templates.js';
import { TroubledStorage } from '../../support/openapi/openapi-troubles.js';
import { playWebhooks } from '../../support/openapi/openapi-webhooks.js';
import { PEPPER } from '../../support/otp/otp-app.js';

/** Errors of requests that a client never makes. */
const NOT_BY_A_CLIENT = [
  'malformed_json',
  'body_not_object',
  'body_too_large',
  'unsupported_media_type',
  'request_invalid',
  'idempotency_key_malformed',
];

/** Streams and files, which have tests of their own. */
const STREAMS = ['watchMsgappCode', 'getMsgappCodeImage', 'getReceivedMsgappMedia', 'streamEvents'];

test('each operation returns its documented answer through the client, and throws each of its errors with its code', async () => {
  const storage = new TroubledStorage();
  const clock = new FakeClock();
  const app = await startMessaging(
    'express',
    {
      storage: { useValue: storage },
      clock: { useValue: clock },
      limits: { bodyBytes: MAX_BYTES, inFlight: IN_FLIGHT },
      sms: { ...OPTIONS.sms, maxRecipients: MAX_RECIPIENTS, transport: CallingSandbox },
      msgapp: { ...MSGAPP, transport: CallingMsgapp, sessions: { leaseMs: 600_000, scanMs: 3_600_000 } },
      webhooks: { pepper: PEPPER },
      media: { allow: 'loopback' },
    },
    { imports: [SandboxModule.forRoot()], units: UNITS, configure: serveDocument },
  );
  try {
    const document: Described = JSON.parse(await (await fetch(`${app.url}/docs-json`)).text());
    const seen = new Set<string>();
    const through: Fetch = async (input, init = {}) => {
      const { 'content-type': type, ...headers } = Object.fromEntries(new Headers(init.headers));
      // The client sends an empty object if these have no body.
      const none = /\/(rotate|replay)$/.test(String(input)) ? {} : undefined;
      const body = (type === 'application/json' ? parsed(init.body) : init.body) ?? none;
      const asked = { method: init.method ?? 'GET', headers, ...(body != null && { body }) };
      const reply = await throughClient(String(input), asked, rawFetch);
      if (reply === undefined) return rawFetch(input, init);
      const operation = document.paths[pathFor(document, new URL(input).pathname) ?? '']?.[asked.method.toLowerCase()];
      const word = reply.headers.get('x-error-code');
      seen.add(`${operation?.operationId} ${reply.status}${word === null ? '' : ` ${word}`}`);
      return new Response(JSON.stringify(reply.body), reply);
    };
    const stage = { fetch: through, app, storage, clock };
    await playScenario(stage);
    const sms = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
    await playCap(stage, [{ method: 'POST', path: '/api/v1/send/sms', status: 429, body: sms }]);
    await playMsgapp(stage);
    await playEvents(stage);
    await playWebhooks(stage);
    await playTemplates(stage);
    await playLimits(stage, document);

    const promised = [...operationsOf(document).values()]
      .filter(({ operationId = '' }) => Object.hasOwn(METHODS, operationId) && !STREAMS.includes(operationId))
      .flatMap(({ operationId, requestBody, responses }) =>
        Object.entries(responses).flatMap(([status, { headers = {} }]) => {
          const words: readonly string[] = Object(headers['X-Error-Code']?.schema).enum ?? [''];
          return (
            words
              .filter((word) => !NOT_BY_A_CLIENT.includes(word))
              // In a query, the fault is a parameter that is given twice.
              .filter((word) => requestBody !== undefined || word !== 'field_not_string')
              // An operation without a body has only one such case.
              .filter((word) => requestBody !== undefined || word !== 'idempotency_mismatch')
              .map((word) => `${operationId} ${status} ${word}`.trimEnd())
          );
        }),
      );
    expect([...seen].sort()).toEqual(promised.sort());
  } finally {
    await app.close();
  }
});

function parsed(body: unknown): unknown {
  try {
    return typeof body === 'string' ? JSON.parse(body) : body;
  } catch {
    return body;
  }
}
