/** What JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [field: string]: Json };

/** An OpenAPI document as far as it is touched here; whatever made it fits, `@nestjs/swagger` for instance. */
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

/** A schema object of OpenAPI 3.0, as far as it is used here. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: 'string' | 'integer' | 'boolean' | 'array' | 'object';
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
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly allOf?: readonly Schema[];
  readonly default?: Json;
  readonly example?: Json;
}

/** One named example. */
export interface Example {
  readonly summary?: string;
  readonly value: Json;
}

export type Examples = Readonly<Record<string, Example>>;

/** A body by its media type. */
export type Content = Readonly<Record<string, { readonly schema: Schema; readonly examples?: Examples }>>;

/** A header of an answer. */
export interface Header {
  readonly description: string;
  /** Whether the answer always has it. */
  readonly required?: boolean;
  readonly schema: Schema;
}

export type Headers = Readonly<Record<string, Header>>;

/** What a caller writes outside the body. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: Json;
}

/** One answer of an operation. */
export interface Response {
  readonly description: string;
  readonly headers?: Headers;
  readonly content?: Content;
}

/** One method of one path. */
export interface Operation {
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}
