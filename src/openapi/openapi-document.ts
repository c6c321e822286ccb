import type { Schema } from '../schemas/schema.js';

/** The parts of an OpenAPI document that `describeMessaging` reads; the document of `@nestjs/swagger` fits. */
export interface OpenApiDocument {
  /** The version of the specification, for instance `3.0.0`. */
  readonly openapi: string;
  readonly paths: object;
  readonly components?: { readonly schemas?: object; readonly securitySchemes?: object };
  readonly tags?: readonly Tag[];
}

/** A group of operations. */
export interface Tag {
  readonly name: string;
  readonly description?: string;
}

/** Bodies by media type. */
export type Content = Readonly<Record<string, { readonly schema: Schema; readonly examples?: object }>>;
