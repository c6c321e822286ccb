import type { INestApplicationContext } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { adapt, type SchemaDialect } from './adapt.js';
import { ALL_CONTROLLERS } from './all-controllers.js';
import type { ControllerDescription } from './controller-description.js';
import { type MountedHandler, mountedHandlers } from './mounted-handlers.js';
import { renamedFor } from './names.js';
import type { OpenApiDocument, Schema, Tag } from './openapi-document.js';
import { PathsEditor } from './paths-editor.js';
import { errorSchema } from './schemas.js';
import { securitySchemes } from './security.js';
import { surroundingsOf } from './surroundings.js';

/**
 * The host's OpenAPI document with our mounted routes in full: what `SwaggerModule.createDocument` found out about them by
 * itself is replaced, everything else stays as it is. Paths, limits, texts and accepted credentials are those of this
 * application. The document that is given is not changed.
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
  const mounted = mountedHandlers(app.get(ModulesContainer), app.get(ApplicationConfig), (controller) =>
    ALL_CONTROLLERS.some((description) => isMountOf(controller, description)),
  );
  if (mounted.length === 0) return document;

  const surroundings = surroundingsOf(app);
  const parts = ALL_CONTROLLERS.flatMap((description) => {
    const handlers = mounted.filter(({ controller }) => isMountOf(controller, description));
    return handlers.length > 0 ? [{ handlers, ...description.describe(surroundings) }] : [];
  });

  const { schemas: theirSchemas = {}, securitySchemes: theirSchemes = {} } = document.components ?? {};
  const nullable = document.openapi.startsWith('3.0');
  const plain: SchemaDialect = { nullable, renamed: new Map() };
  const schemas: Record<string, Schema> = Object.assign({ Error: errorSchema }, ...parts.map((part) => part.schemas));
  const dialect: SchemaDialect = { nullable, renamed: renamedFor(asRecord(adapt(schemas, plain)), theirSchemas) };
  const schemes = securitySchemes(surroundings);
  const renamedSchemes = renamedFor(schemes, theirSchemes);

  const paths = new PathsEditor(document.paths, mounted, {
    surroundings,
    dialect,
    schemes: Object.keys(schemes).map((name) => renamedSchemes.get(name) ?? name),
  });
  for (const { handlers, routes, tag } of parts) {
    for (const handler of handlers) paths.put(handler, routes[handler.name], tag.name);
  }

  return {
    ...document,
    paths: paths.result(),
    components: {
      ...document.components,
      schemas: { ...theirSchemas, ...renameKeys(asRecord(adapt(schemas, dialect)), dialect.renamed) },
      securitySchemes: { ...theirSchemes, ...renameKeys(schemes, renamedSchemes) },
    },
    tags: withTags(
      document.tags ?? [],
      parts.map(({ tag }) => tag),
    ),
  };
}

/** Whether a class is the description's controller, or one that was mounted from it. */
function isMountOf(controller: MountedHandler['controller'], { controller: base }: ControllerDescription): boolean {
  return controller === base || controller.prototype instanceof base;
}

function renameKeys(named: Readonly<Record<string, unknown>>, renamed: ReadonlyMap<string, string>) {
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [renamed.get(name) ?? name, value]));
}

function asRecord(value: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value ?? {}));
}

function withTags(theirs: readonly Tag[], ours: readonly Tag[]): readonly Tag[] {
  return [...theirs, ...ours.filter(({ name }) => !theirs.some((tag) => tag.name === name))];
}
