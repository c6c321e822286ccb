import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { requestContextOf } from '../request-context.js';
import { type EdgeRoute, pathOf, type RoutePaths } from '../route-table.js';
import type { BodyTest } from './expect-continue.js';
import type { RequestGate } from './request-gate.js';

type Done = (error?: unknown) => void;

/** The part of Fastify's request that is used here; `headers` may be set and then override those of `raw`. */
interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly ip: string;
  headers: IncomingHttpHeaders | undefined;
  body: unknown;
}

/** The part of Fastify's reply that is used here. */
interface FastifyReply {
  readonly raw: ServerResponse;
  send: (payload?: unknown) => FastifyReply;
  code(status: number): FastifyReply;
  headers(headers: Readonly<Record<string, string>>): FastifyReply;
  type(contentType: string): FastifyReply;
  getHeaders(): OutgoingHttpHeaders;
  hijack(): FastifyReply;
}

/** A route as Fastify passes it to `onRoute` hooks, which may extend it. */
interface FastifyRoute {
  readonly method: string | readonly string[];
  readonly url: string;
  onRequest?: unknown;
  preParsing?: unknown;
  preValidation?: unknown;
  errorHandler?: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;
}

/** The part of Fastify's instance that is used here. */
export interface FastifyApp {
  addHook(name: 'onRoute', hook: (route: FastifyRoute) => void): unknown;
}

/** Overrides the headers of a request whose body has been received, so that Fastify does not look for one. */
const NO_BODY: IncomingHttpHeaders = {
  'content-type': undefined,
  'content-length': undefined,
  'transfer-encoding': undefined,
};

/**
 * Adds the edge to each of our routes at its registration; the host's routes and parsers are not changed. Returns the test
 * whether the edge receives the body of a request.
 */
export function installOnFastify(app: FastifyApp, gate: RequestGate, table: () => RoutePaths): BodyTest {
  /** The host's paths: Fastify prefers a path without parameters to one of ours with parameters. */
  const hosts = new Set<string>();
  app.addHook('onRoute', (route) => {
    const [ours] = [route.method].flat().flatMap((method) => table().registered(method, route.url) ?? []);
    if (ours !== undefined) addEdge(route, ours, gate);
    else for (const method of [route.method].flat()) hosts.add(`${method} ${route.url}`);
  });
  return ({ method = '', url = '' }) =>
    !hosts.has(`${method} ${pathOf(url)}`) && (table().find(method, url)?.intake ?? false);
}

function addEdge(route: FastifyRoute, ours: EdgeRoute, gate: RequestGate): void {
  route.errorHandler = (error, _request, reply) => {
    const { body, headers } = gate.answerTo(error);
    reply.code(body.statusCode).headers(headers).type('application/json; charset=utf-8').send(body);
  };
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    if (gate.begin(request.raw, reply.raw, () => takeOver(reply), ours, request) !== undefined) done();
  };
  route.onRequest = appended(route.onRequest, onRequest);
  if (!ours.intake) return;
  const preParsing = (request: FastifyRequest, _reply: FastifyReply, payload: Readable, done: Done): void => {
    const context = requestContextOf(request.raw);
    if (context === undefined) {
      done();
      return;
    }
    gate.admit(context, ours, payload, (body) => {
      request.body = body;
      request.headers = NO_BODY;
      done();
    });
  };
  const preValidation = (request: FastifyRequest, _reply: FastifyReply, done: Done): void => {
    request.headers = undefined;
    done();
  };
  route.preParsing = appended(route.preParsing, preParsing);
  route.preValidation = appended(route.preValidation, preValidation);
}

/** Detaches the response from Fastify; what a handler sends later is dropped. */
function takeOver(reply: FastifyReply): OutgoingHttpHeaders {
  const headers = reply.getHeaders();
  reply.hijack();
  reply.send = () => reply;
  return headers;
}

function appended(hooks: unknown, hook: unknown): unknown[] {
  return [hooks ?? [], hook].flat();
}
