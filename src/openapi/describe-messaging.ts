import { isDeepStrictEqual } from 'node:util';
import type { INestApplicationContext } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { AccountSettings } from '../accounts/account-options.js';
import { Authenticator } from '../accounts/keys/authenticator.js';
import { HttpSettings } from '../http/http-options.js';
import { type MountedRoute, mountedRoutes } from '../http/mounted-routes.js';
import { SCHEMAS } from '../schemas/builders.js';
import type { Surroundings } from './controller-description.js';
import { descriptionOf } from './described-controllers.js';
import { errorSchema } from './errors.js';
import type { OpenApiDocument, Tag } from './openapi-document.js';
import { bodySchemas, operationOf } from './operation.js';

/**
 * Adds a full description of our mounted routes to the host's OpenAPI document. It replaces the descriptions that
 * `SwaggerModule.createDocument` derived for them. Everything else stays as it is. Paths, limits, texts and accepted
 * credentials are those of this application. The given document is not changed.
 *
 * ```ts
 * const document = SwaggerModule.createDocument(app, new DocumentBuilder().setTitle('…').build());
 * SwaggerModule.setup('docs', app, describeMessaging(app, document));
 * ```
 *
 * @param app with its global prefix and versioning already set
 * @param document OpenAPI 3.0 or 3.1
 */
export function describeMessaging<D extends OpenApiDocument>(app: INestApplicationContext, document: D): D {
  const controllers = describedControllers(app);
  if (controllers.length === 0) return document;

  const surroundings: Surroundings = {
    http: app.get(HttpSettings, { strict: false }),
    accounts: app.get(AccountSettings, { strict: false }),
    userTokens: app.get(Authenticator, { strict: false }).verifiesUserTokens,
    get: (token) => app.get(token, { strict: false }),
  };
  const parts = controllers
    .map(({ handlers, description }) => ({ handlers, ...description.describe(surroundings) }))
    // They are sorted, because the order in which the host imports our modules must not change the document.
    .sort((one, other) => one.tag.name.localeCompare(other.tag.name, 'en'));
  const { schemas: theirSchemas = {}, securitySchemes: theirSchemes = {} } = document.components ?? {};
  const nullable = document.openapi.startsWith('3.0');
  const schemas: Readonly<Record<string, object>> = Object.assign(
    { Error: errorSchema },
    ...parts.flatMap((part) => [part.schemas, bodySchemas(part, surroundings)]),
  );
  const unchanged: Readonly<Record<string, unknown>> = Object(adapt(schemas, { nullable, renamed: new Map() }));
  const dialect: Dialect = { nullable, renamed: renamedFor(unchanged, theirSchemas) };
  const ourSchemes = securitySchemes(surroundings);
  const schemes = renameKeys(ourSchemes, renamedFor(ourSchemes, theirSchemes));

  const operations = parts.flatMap((part) =>
    part.handlers.flatMap((handler): Operation[] => {
      const route = part.routes[handler.name];
      if (route === undefined) return [];
      const operation = operationOf(handler, route, part, { surroundings, schemes: Object.keys(schemes) });
      return [{ handler, operationId: route.operationId, operation: Object(adapt(operation, dialect)) }];
    }),
  );
  return {
    ...document,
    paths: withOperations(document.paths, operations),
    components: {
      ...document.components,
      schemas: { ...theirSchemas, ...renameKeys(Object(adapt(schemas, dialect)), dialect.renamed) },
      securitySchemes: { ...theirSchemes, ...schemes },
    },
    tags: withTags(
      document.tags ?? [],
      parts.map(({ tag }) => tag),
    ),
  };
}

/** The descriptions of the mounted controllers, each with its handlers. */
function describedControllers(app: INestApplicationContext) {
  const mounted = mountedRoutes(app.get(ModulesContainer), app.get(ApplicationConfig));
  const descriptions = new Set(mounted.flatMap(({ controller }) => descriptionOf(controller) ?? []));
  return [...descriptions].map((description) => ({
    description,
    handlers: mounted.filter(({ controller }) => descriptionOf(controller) === description),
  }));
}

/** The credentials that the host accepts; each is enough by itself. */
function securitySchemes({ accounts: { legacyBearer }, userTokens }: Surroundings): Readonly<Record<string, object>> {
  const bearer = { type: 'http', scheme: 'bearer' };
  const sunset = legacyBearer === false ? undefined : legacyBearer.sunset;
  const end = sunset === undefined ? '' : ` It ends on ${new Date(sunset).toUTCString()}.`;
  return {
    ApiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Api-Key',
      description:
        'The API key, `msgk_<id>_<secret>_<checksum>`. If the request has this header, no other credential is read.',
    },
    ...(legacyBearer !== false && {
      LegacyBearer: {
        ...bearer,
        description: `**Deprecated**: send the API key in \`X-Api-Key\`.${end} An API key in \`Authorization: Bearer\` is still accepted; its answers have a \`Deprecation\` header.`,
        // OpenAPI has no keyword for a deprecated scheme before 3.2.
        'x-deprecated': true,
      },
    }),
    ...(userTokens && {
      UserToken: {
        ...bearer,
        bearerFormat: 'JWT',
        description: 'A user token that the application itself has issued. It is never read as an API key.',
      },
      UserTokenHeader: {
        type: 'apiKey',
        in: 'header',
        name: 'X-User-Token',
        description:
          'The same user token, for pages behind a proxy that takes `Authorization` for itself. If the request has this header and no `X-Api-Key`, `Authorization` is not read.',
      },
    }),
  };
}

/** How our parts are written in a document. */
interface Dialect {
  /** OpenAPI 3.0 has a keyword `nullable`, later versions a type `null`. */
  readonly nullable: boolean;
  /** The names of our schemas that the host uses for others, with our new names. */
  readonly renamed: ReadonlyMap<string, string>;
}

function adapt(part: unknown, dialect: Dialect): unknown {
  if (Array.isArray(part)) return part.map((entry) => adapt(entry, dialect));
  if (typeof part !== 'object' || part === null) return part;
  const adapted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(part)) {
    if (name === '$ref' && typeof value === 'string') {
      const schema = value.slice(SCHEMAS.length);
      adapted.$ref = `${SCHEMAS}${dialect.renamed.get(schema) ?? schema}`;
    } else if (name === 'nullable' && !dialect.nullable) {
      // A schema without a type accepts null anyway.
      if (adapted.type !== undefined) adapted.type = [...[adapted.type].flat(), 'null'];
    } else adapted[name] = adapt(value, dialect);
  }
  return adapted;
}

/**
 * New names for our schemas whose names the host uses for something else. If the host's schema is equal, it is ours,
 * from an earlier call.
 */
function renamedFor(ours: Readonly<Record<string, unknown>>, taken: object): Map<string, string> {
  const theirs = new Map<string, unknown>(Object.entries(taken));
  const lost = Object.entries(ours).filter(([name, value]) => {
    return theirs.has(name) && !isDeepStrictEqual(theirs.get(name), value);
  });
  return new Map(lost.map(([name]) => [name, `Messaging${name}`]));
}

function renameKeys<T>(named: Readonly<Record<string, T>>, renamed: ReadonlyMap<string, string>): Record<string, T> {
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [renamed.get(name) ?? name, value]));
}

function withTags(theirs: readonly Tag[], ours: readonly Tag[]): readonly Tag[] {
  const added = new Map(ours.map((tag) => [tag.name, tag]));
  for (const { name } of theirs) added.delete(name);
  return [...theirs, ...added.values()];
}

interface Operation {
  readonly handler: MountedRoute;
  readonly operationId: string;
  readonly operation: object;
}

/** The host's paths with our operations in place of those that were derived for the same handlers. */
function withOperations(paths: object, ours: readonly Operation[]): object {
  const items = new Map<string, Record<string, object>>(
    Object.entries(paths).map(([path, item]) => [path, { ...item }]),
  );
  const placed = ours.map((each) => {
    const { path, unprefixedPath, method } = each.handler;
    const verb = method.toLowerCase();
    const [full, short] = [template(path), template(unprefixedPath)];
    // A document that was made with `ignoreGlobalPrefix` has the path without the prefix.
    const place = items.get(full)?.[verb] === undefined && items.get(short)?.[verb] !== undefined ? short : full;
    return { ...each, verb, place };
  });
  for (const { place, verb } of placed) delete items.get(place)?.[verb];
  const taken = new Set([...items.values()].flatMap(Object.values).map((operation) => Object(operation).operationId));
  for (const { place, verb, operation, operationId } of placed) {
    let unique = operationId;
    for (let copy = 2; taken.has(unique); copy++) unique = `${operationId}_${copy}`;
    taken.add(unique);
    items.set(place, { ...items.get(place), [verb]: { ...operation, operationId: unique } });
  }
  return Object.fromEntries([...items].filter(([, item]) => Object.keys(item).length > 0));
}

/** A path with `{name}` for `:name`. */
function template(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}
