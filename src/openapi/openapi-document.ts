/** A value of JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [field: string]: Json };

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

/** A schema object of OpenAPI 3.0, with the keywords that our descriptions use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly description?: string;
  readonly nullable?: true;
  readonly format?: 'date-time' | 'binary' | 'uri';
  readonly pattern?: string;
  readonly enum?: readonly Json[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: true;
  readonly properties?: Schemas;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | Schema;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly default?: Json;
  readonly example?: Json;
}

/** Schemas by name: the fields of an object, or the named schemas of a document. */
export type Schemas = Readonly<Record<string, Schema>>;

/** Bodies by media type. */
export type Content = Readonly<Record<string, { readonly schema: Schema; readonly examples?: object }>>;
