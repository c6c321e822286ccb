/** A route as Fastify passes it to `onRoute` hooks. */
interface FastifyRoute {
  readonly method: string | readonly string[];
  readonly url: string;
}

/** The part of a Fastify instance that is used here. */
export interface FastifyApp {
  readonly initialConfig?: {
    readonly ignoreTrailingSlash?: boolean;
    readonly routerOptions?: { readonly ignoreTrailingSlash?: boolean };
  };
  addHook(name: 'onRoute', hook: (this: FastifyApp, route: FastifyRoute) => void): unknown;
  route(route: FastifyRoute): unknown;
}

/**
 * Makes Fastify serve the page even with a slash at the end of its address. Fastify treats this as another path, and Nest cannot
 * register it, because Nest removes such slashes. So a hook copies the route with its guards.
 *
 * @param page returns the path of the page. It is called while routes are registered
 */
export function acceptTrailingSlash(app: FastifyApp, page: () => string): void {
  const { ignoreTrailingSlash, routerOptions } = app.initialConfig ?? {};
  if (ignoreTrailingSlash || routerOptions?.ignoreTrailingSlash) return;
  app.addHook('onRoute', function (route) {
    if ([route.method].flat().includes('GET') && route.url === page()) this.route({ ...route, url: `${route.url}/` });
  });
}
