import { STATUS_CODES } from 'node:http';
import { MessagingApiError } from '../../../src/client/api-error.js';
import type { SendOptions } from '../../../src/client/caller.js';
import { MessagingClient } from '../../../src/client/messaging-client.js';
import type { Call, Reply } from '../http/http-client.js';
import type { Fetch } from '../openapi/openapi-fetch.js';

/**
 * The request of a test: the ids of the path, the query without its position, and the body, in types that suit every
 * method.
 */
interface Asked {
  readonly ids: readonly string[];
  readonly cursor: string | undefined;
  readonly after: never;
  readonly query: never;
  readonly body: never;
  readonly options: SendOptions;
}

/** The client's method for each route that tests use. */
const ROUTES: readonly (readonly [string, RegExp, (client: MessagingClient, asked: Asked) => Promise<unknown>])[] = [
  ['POST', /^send\/sms$/, ({ sms }, { body, options }) => sms.send(body, options)],
  ['POST', /^sms\/quote$/, ({ sms }, { body }) => sms.quote(body)],
  ['GET', /^sms$/, ({ sms }, { cursor, query }) => sms.list(query).page(cursor)],
  ['PATCH', /^sms\/([^/]+)$/, ({ sms }, { ids: [id = ''], body }) => sms.reschedule(id, body)],
  ['GET', /^sms\/([^/]+)$/, ({ sms }, { ids: [id = ''] }) => sms.get(id)],
  [
    'GET',
    /^sms\/([^/]+)\/recipients$/,
    ({ sms }, { ids: [id = ''], cursor, query }) => sms.recipients(id, query).page(cursor),
  ],
  ['DELETE', /^sms\/([^/]+)$/, ({ sms }, { ids: [id = ''], query }) => sms.cancel(id, query)],
  ['POST', /^templates$/, ({ templates }, { body, options }) => templates.create(body, options)],
  ['GET', /^templates$/, ({ templates }, { cursor, query }) => templates.list(query).page(cursor)],
  ['GET', /^templates\/([^/]+)$/, ({ templates }, { ids: [name = ''] }) => templates.get(name)],
  ['PUT', /^templates\/([^/]+)$/, ({ templates }, { ids: [name = ''], body }) => templates.replace(name, body)],
  ['DELETE', /^templates\/([^/]+)$/, ({ templates }, { ids: [name = ''] }) => templates.remove(name)],
  ['POST', /^send\/otp$/, ({ otp }, { body, options }) => otp.send(body, options)],
  ['POST', /^verify\/otp$/, ({ otp }, { body }) => otp.verify(body)],
  ['GET', /^balance$/, (client) => client.balance()],
  ['POST', /^(\w+)\/web\/connect$/, (client, { ids: [channel], body }) => client.msgapp(channel).connect(body)],
  ['GET', /^(\w+)\/web\/status$/, (client, { ids: [channel], query }) => client.msgapp(channel).sessions(query)],
  ['DELETE', /^(\w+)\/web\/([^/]+)$/, (client, { ids: [channel, id = ''] }) => client.msgapp(channel).logout(id)],
  [
    'POST',
    /^(\w+)\/send\/text$/,
    (client, { ids: [channel], body, options }) => client.msgapp(channel).sendText(body, options),
  ],
  [
    'POST',
    /^(\w+)\/send\/media$/,
    (client, { ids: [channel], body, options }) => client.msgapp(channel).sendMedia(body, options),
  ],
  ['GET', /^events$/, ({ events }, { after, query }) => events.list(query).page(after)],
  ['POST', /^hooks$/, ({ hooks }, { body, options }) => hooks.create(body, options)],
  ['GET', /^hooks$/, ({ hooks }) => hooks.list()],
  ['GET', /^hooks\/([^/]+)$/, ({ hooks }, { ids: [id = ''] }) => hooks.get(id)],
  ['DELETE', /^hooks\/([^/]+)$/, ({ hooks }, { ids: [id = ''] }) => hooks.remove(id)],
  [
    'POST',
    /^hooks\/([^/]+)\/rotate$/,
    ({ hooks }, { ids: [id = ''], body, options }) => hooks.rotate(id, body, options),
  ],
  ['POST', /^hooks\/([^/]+)\/enable$/, ({ hooks }, { ids: [id = ''], options }) => hooks.enable(id, options)],
  ['POST', /^hooks\/([^/]+)\/disable$/, ({ hooks }, { ids: [id = ''], options }) => hooks.disable(id, options)],
  ['POST', /^hooks\/([^/]+)\/test$/, ({ hooks }, { ids: [id = ''], body, options }) => hooks.test(id, body, options)],
  ['GET', /^hooks\/([^/]+)\/calls$/, ({ hooks }, { ids: [id = ''] }) => hooks.calls(id)],
  ['GET', /^webhooks\/types$/, ({ events }) => events.types()],
  ['POST', /^webhooks$/, ({ webhooks }, { body, options }) => webhooks.create(body, options)],
  ['GET', /^webhooks$/, ({ webhooks }, { cursor, query }) => webhooks.list(query).page(cursor)],
  ['GET', /^webhooks\/([^/]+)$/, ({ webhooks }, { ids: [id = ''] }) => webhooks.get(id)],
  ['PATCH', /^webhooks\/([^/]+)$/, ({ webhooks }, { ids: [id = ''], body }) => webhooks.update(id, body)],
  ['DELETE', /^webhooks\/([^/]+)$/, ({ webhooks }, { ids: [id = ''] }) => webhooks.remove(id)],
  [
    'POST',
    /^webhooks\/([^/]+)\/rotate$/,
    ({ webhooks }, { ids: [id = ''], body, options }) => webhooks.rotate(id, body, options),
  ],
  [
    'POST',
    /^webhooks\/([^/]+)\/replay$/,
    ({ webhooks }, { ids: [id = ''], body, options }) => webhooks.replay(id, body, options),
  ],
  ['POST', /^webhooks\/([^/]+)\/test$/, ({ webhooks }, { ids: [id = ''], options }) => webhooks.test(id, options)],
  ['POST', /^webhooks\/([^/]+)\/enable$/, ({ webhooks }, { ids: [id = ''], options }) => webhooks.enable(id, options)],
  [
    'POST',
    /^webhooks\/([^/]+)\/disable$/,
    ({ webhooks }, { ids: [id = ''], options }) => webhooks.disable(id, options),
  ],
  [
    'GET',
    /^webhooks\/([^/]+)\/attempts$/,
    ({ webhooks }, { ids: [id = ''], cursor, query }) => webhooks.attempts(id, query).page(cursor),
  ],
  [
    'POST',
    /^webhooks\/([^/]+)\/attempts\/([1-9]\d*)\/retry$/,
    ({ webhooks }, { ids: [id = '', sequence], options }) => webhooks.retry(id, Number(sequence), options),
  ],
  [
    'GET',
    /^(\w+)\/messages$/,
    (client, { ids: [channel], cursor, query }) => client.msgapp(channel).messages(query).page(cursor),
  ],
  [
    'DELETE',
    /^(\w+)\/messages\/([^/]+)$/,
    (client, { ids: [channel, id = ''], query }) => client.msgapp(channel).cancel(id, query),
  ],
  [
    'POST',
    /^(\w+)\/received\/([^/]+)\/seen$/,
    (client, { ids: [channel, id = ''] }) => client.msgapp(channel).seen(id),
  ],
  [
    'POST',
    /^(\w+)\/received\/([^/]+)\/react$/,
    (client, { ids: [channel, id = ''], body }) => client.msgapp(channel).react(id, Object(body).emoji),
  ],
  ['GET', /^(\w+)\/messages\/([^/]+)$/, (client, { ids: [channel, id = ''] }) => client.msgapp(channel).message(id)],
];

/** Without a body the client would send an empty object. */
const NEEDS_BODY = /\/(rotate|replay)$/;

/** The client gives these no body. */
const WITHOUT_BODY = /\/(disable|enable|retry|test)$/;

/** How many calls each method has made. */
export const callsThroughClient = new Map<string, number>();

/**
 * Makes a test's request with the client, once, without repeats. Undefined for a request that a client would not make:
 * another route, a body that is not an object, a query parameter given twice, headers of one's own.
 */
export async function throughClient(
  url: string,
  { method = 'GET', headers = {}, body }: Call,
  send: Fetch = fetch,
): Promise<Reply | undefined> {
  const { origin, pathname, searchParams } = new URL(url);
  const [, base = '', path = ''] = /^(\/api\/v1)\/(.+)$/.exec(pathname) ?? [];
  const [, pattern, make] = ROUTES.find(([verb, route]) => verb === method && route.test(path)) ?? [];
  const { 'x-api-key': apiKey, 'idempotency-key': idempotencyKey, ...others } = headers;
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body) && !(body instanceof Uint8Array);
  const visible = [apiKey, idempotencyKey].every((each) => each === undefined || /^[!-~]+$/.test(each));
  const { cursor, after, ...query } = Object.fromEntries(searchParams);
  const fits =
    (isObject || (body === undefined && !NEEDS_BODY.test(path))) &&
    !(isObject && (method === 'GET' || (WITHOUT_BODY.test(path) && Object.keys(body).length > 0))) &&
    Object.keys(others).length === 0 &&
    new Set(searchParams.keys()).size === searchParams.size;
  if (!pattern || !make || !fits || !visible || apiKey === undefined) return undefined;

  let answer: Response | undefined;
  const client = new MessagingClient({
    baseUrl: `${origin}${base}`,
    apiKey,
    retries: 0,
    fetch: async (to, init) => {
      answer = await send(to, init);
      return answer;
    },
  });
  const ids = (pattern.exec(path) ?? []).slice(1).map(decodeURIComponent);
  callsThroughClient.set(pattern.source, (callsThroughClient.get(pattern.source) ?? 0) + 1);
  try {
    const result = await make(client, {
      ids,
      cursor,
      after: after as never,
      query: query as never,
      body: body as never,
      options: { idempotencyKey },
    });
    return { status: answer?.status ?? 0, headers: answer?.headers ?? new Headers(), body: result };
  } catch (error) {
    if (!(error instanceof MessagingApiError) || error.status === 0) throw error;
    const { status, message, code } = error;
    if (!answer || (answer.headers.get('x-error-code') ?? 'unknown') !== code)
      throw new Error(`${path}: the error has the code ${code}.`);
    const shown = { statusCode: status, message, error: STATUS_CODES[status] };
    return { status, headers: answer.headers, body: shown };
  }
}
