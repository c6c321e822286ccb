import type { Permission } from '../accounts/keys/permissions.js';

/** One of our routes, as registered with the platform. */
export interface EdgeRoute {
  /** `GET`, `POST`, … */
  readonly method: string;
  /** The full path with the host's prefix and parameters as `:name`; it starts with a slash and does not end with one. */
  readonly path: string;
  /** Whether the edge receives its requests; if not, it only formats errors. */
  readonly intake: boolean;
  /** Whether an API key is required; without one, little of the body is read. */
  readonly authenticated: boolean;
  /** The permission that its callers need; undefined if no key is required. */
  readonly permission: Permission | undefined;
  /** Whether the request is answered with 504 at its deadline. */
  readonly deadline: boolean;
  /** Whether a shutdown refuses requests that are in the handler, instead of waiting for them. */
  readonly waits: boolean;
  /** Whether the route also answers during a shutdown. */
  readonly whileClosing: boolean;
  /** The largest size in bytes of a body that is passed on unparsed. Undefined: the body is JSON. */
  readonly rawBody: number | undefined;
  /** The media type whose bodies are passed on as a stream, of any size. Undefined: none. */
  readonly streamed: string | undefined;
}

/** How paths are compared; Express's application settings of the same names. */
interface PathRules {
  readonly caseSensitive: boolean;
  /** Whether a trailing slash makes a different path. */
  readonly strict: boolean;
}

/** Finds our route for a request, by the rules of Express; all other requests belong to the host. */
export class RoutePaths {
  private readonly rules: PathRules;
  private readonly byRegisteredPath = new Map<string, EdgeRoute>();
  private readonly fixed = new Map<string, EdgeRoute>();
  private readonly patterns: { readonly route: EdgeRoute; readonly pattern: RegExp }[] = [];

  constructor(routes: readonly EdgeRoute[], rules: PathRules) {
    this.rules = rules;
    for (const route of routes) {
      this.byRegisteredPath.set(`${route.method} ${route.path}`, route);
      if (/[:*{]/.test(route.path)) this.patterns.push({ route, pattern: patternOf(route.path, rules) });
      else this.fixed.set(`${route.method} ${this.fold(route.path)}`, route);
    }
  }

  /** The route registered with exactly this method and path. */
  registered(method: string, path: string): EdgeRoute | undefined {
    return this.byRegisteredPath.get(`${served(method)} ${path}`);
  }

  /**
   * The route of a request.
   * @param target the request target of RFC 9112 section 3.2, with its query
   */
  find(method: string, target: string): EdgeRoute | undefined {
    const path = pathOf(target);
    const verb = served(method);
    const trimmed = !this.rules.strict && path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    const fixed = this.fixed.get(`${verb} ${this.fold(trimmed)}`);
    if (fixed !== undefined) return fixed;
    return this.patterns.find(({ route, pattern }) => route.method === verb && pattern.test(path))?.route;
  }

  private fold(path: string): string {
    return this.rules.caseSensitive ? path : path.toLowerCase();
  }
}

/** GET routes answer HEAD. */
function served(method: string): string {
  return method === 'HEAD' ? 'GET' : method;
}

/** The path of a request target: without the query, and without scheme and host in the absolute form (proxies). */
export function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/';
  const end = local.search(/[?#]/);
  return end === -1 ? local : local.slice(0, end);
}

/** A path of Express 5 (path-to-regexp 8) as a regular expression: `:name`, `*name` and `{optional}`. */
function patternOf(path: string, { caseSensitive, strict }: PathRules): RegExp {
  const source = path.replace(/[:*]\w+|[{}]|[.+?^$()|[\]\\]/g, (token) => {
    if (token.startsWith(':')) return '[^/]+?';
    if (token.length > 1) return '.+';
    if (token === '{') return '(?:';
    return token === '}' ? ')?' : `\\${token}`;
  });
  return new RegExp(`^${source}${strict ? '' : '/?'}$`, caseSensitive ? '' : 'i');
}
