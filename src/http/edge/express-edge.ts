import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { requestContextOf } from '../request-context.js';
import { type EdgeRoute, pathOf, type RoutePaths } from '../route-table.js';
import type { BodyTest } from './expect-continue.js';
import type { RequestGate } from './request-gate.js';

type Next = (error?: unknown) => void;

/** The part of Express's request that is set here. */
interface ExpressRequest extends IncomingMessage {
  readonly ip?: string;
  body?: unknown;
}

type Middleware = (req: ExpressRequest, res: ServerResponse, next: Next) => void;
type ErrorMiddleware = (error: unknown, req: ExpressRequest, res: ServerResponse, next: Next) => void;

/** One entry of Express's router; `route` is undefined for a middleware. */
interface ExpressLayer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean | undefined>> };
  match(path: string): boolean;
}

/** The part of Express's application that is used here. */
export interface ExpressApp {
  use(middleware: Middleware | ErrorMiddleware): unknown;
  enabled(setting: string): boolean;
  readonly router: { readonly stack: readonly ExpressLayer[] };
}

/**
 * Mounts the edge before everything that is mounted later, so that the host's parsers never see the body of a request to our
 * routes. Returns the test whether the edge receives the body of a request.
 */
export function installOnExpress(app: ExpressApp, gate: RequestGate, table: () => RoutePaths): BodyTest {
  app.use(function messagingEdge(req: ExpressRequest, res: ServerResponse, next: Next): void {
    const route = ourRoute(app, table(), req);
    if (route === undefined) {
      next();
      return;
    }
    const context = gate.begin(req, res, nothingHeld, route, req);
    if (context === undefined) return;
    if (!route.intake) {
      next();
      return;
    }
    gate.admit(context, route, req, (body) => {
      req.body = body;
      next();
    });
  });
  return (req) => ourRoute(app, table(), req)?.intake ?? false;
}

/** Answers errors of the host's middleware, or of Express, on our routes in our shape. Must be called last. */
export function installErrorsOnExpress(app: ExpressApp, gate: RequestGate): void {
  app.use(function messagingErrors(error: unknown, req: ExpressRequest, _res: ServerResponse, next: Next): void {
    const context = requestContextOf(req);
    if (context === undefined) next(error);
    else gate.refuse(context, error);
  });
}

/** Express has no headers besides those of the response. */
function nothingHeld(): OutgoingHttpHeaders {
  return {};
}

/** Our route for a request. Express takes the first route that matches, which may be a route of the host. */
function ourRoute(
  app: ExpressApp,
  table: RoutePaths,
  { method = '', url = '' }: IncomingMessage,
): EdgeRoute | undefined {
  const ours = table.find(method, url);
  if (ours === undefined || !ours.path.includes(':')) return ours;
  const verb = ours.method.toLowerCase();
  const path = pathOf(url);
  const first = app.router.stack.find((layer) => layer.route?.methods[verb] && matches(layer, path));
  return first?.route?.path === ours.path ? ours : undefined;
}

/** A layer throws for a parameter that it cannot decode; that layer then reports the error. */
function matches(layer: ExpressLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return true;
  }
}
