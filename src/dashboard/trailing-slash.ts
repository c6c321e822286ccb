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
 * Makes Fastify serve the page with a slash at the end of its address, too. Fastify treats that as another path. Nest cannot
 * register it, because Nest removes such slashes, so a hook copies the route with its guards.
 *
 * @param page returns the path of the page; called while routes are registered
 */
export function acceptTrailingSlash(app: FastifyApp, page: () => string): void {
  const { ignoreTrailingSlash, routerOptions } = app.initialConfig ?? {};
  if (ignoreTrailingSlash || routerOptions?.ignoreTrailingSlash) return;
  app.addHook('onRoute', function (route) {
    if ([route.method].flat().includes('GET') && route.url === page()) this.route({ ...route, url: `${route.url}/` });
  });
}
