import type { INestApplication } from '@nestjs/common';

/** One entry of Express's router. */
interface ExpressLayer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
}

/**
 * Collects the routes of the platform's own router, written as in OpenAPI: `GET /sms/{smsID}`. Call it before the
 * application listens; the result is complete afterwards.
 */
export function watchRoutes(app: INestApplication): () => string[] {
  const instance = app.getHttpAdapter().getInstance();
  if (app.getHttpAdapter().getType() === 'express') {
    return () => {
      const layers: readonly ExpressLayer[] = instance.router.stack;
      return layers.flatMap(({ route }) => {
        const [method, ...further] = Object.keys(route?.methods ?? {});
        // A handler for every method is Nest's own: it passes on requests that the global prefix leaves out.
        return route === undefined || method === undefined || further.length > 0 ? [] : written(method, route.path);
      });
    };
  }
  const routes: string[] = [];
  instance.addHook('onRoute', ({ method, url }: { method: string | string[]; url: string }) => {
    routes.push(...[method].flat().map((verb) => written(verb, url)));
  });
  return () => routes.filter((route) => !route.startsWith('HEAD '));
}

function written(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replace(/:(\w+)/g, '{$1}')}`;
}
