import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyTest } from './expect-continue.js';
import { requestContextOf } from './request-context.js';
import type { RequestGate } from './request-gate.js';
import { type EdgeRoute, pathOf, type RoutePaths } from './route-table.js';

type Next = (error?: unknown) => void;

/** Express's request, as far as we set it. */
interface ExpressRequest extends IncomingMessage {
  body?: unknown;
}

type Middleware = (req: ExpressRequest, res: ServerResponse, next: Next) => void;
type ErrorMiddleware = (error: unknown, req: ExpressRequest, res: ServerResponse, next: Next) => void;

/** One entry of Express's router; `route` is undefined for a middleware. */
interface ExpressLayer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean | undefined>> };
  match(path: string): boolean;
}

/** Express's application, as far as we use it. */
export interface ExpressApp {
  use(middleware: Middleware | ErrorMiddleware): unknown;
  enabled(setting: string): boolean;
  readonly router: { readonly stack: readonly ExpressLayer[] };
}

/**
 * Puts the edge in front of everything that is mounted later: the host's parsers never see a body of ours. The answer tells
 * whether the edge will take in the body of a request.
 */
export function installOnExpress(app: ExpressApp, gate: RequestGate, table: () => RoutePaths): BodyTest {
  app.use(function messagingEdge(req: ExpressRequest, res: ServerResponse, next: Next): void {
    const route = ourRoute(app, table(), req);
    if (route === undefined) {
      next();
      return;
    }
    const context = gate.begin({ req, res, takeOver: () => ({}) }, route);
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

/** Gives our shape to what a host's middleware, or Express itself, reports on one of our routes. To be called last. */
export function installErrorsOnExpress(app: ExpressApp, gate: RequestGate): void {
  app.use(function messagingErrors(error: unknown, req: ExpressRequest, _res: ServerResponse, next: Next): void {
    const context = requestContextOf(req);
    if (context === undefined) next(error);
    else gate.refuse(context, error);
  });
}

/** The route of ours that Express will take. It takes the first that matches, so a route of the host may come first. */
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

/** A layer throws for a parameter that cannot be decoded; it is the one that will report it. */
function matches(layer: ExpressLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return true;
  }
}
