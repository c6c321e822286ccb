/** A value of JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [field: string]: Json };

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

declare const TYPE: unique symbol;

/** A schema with the type of its values, which `TypeOf` returns. At run time it is a plain schema. */
export interface SchemaOf<T> extends Schema {
  /** Exists only for the compiler. */
  readonly [TYPE]: T;
}

/** The fields of an object by name, each with a schema whose type is known. */
export type Fields = Readonly<Record<string, SchemaOf<unknown>>>;

/** The schema of an object with the fields `F`, of which `Optional` may be missing. */
export interface ObjectSchema<F extends Fields, Optional extends keyof F = never>
  extends SchemaOf<ObjectOf<F, Optional>> {
  readonly properties: F;
}

type ObjectOf<F extends Fields, Optional extends keyof F> = {
  readonly [K in keyof F as Exclude<K, Optional>]: TypeOf<F[K]>;
} & { readonly [K in Optional]?: TypeOf<F[K]> };

/**
 * The type of the values that a schema describes. From the field of a value, an editor can go to the field of the
 * schema, which has the description.
 *
 * ```ts
 * export const Balance = object('The balance of an account.', { balance: count('Units left.') });
 * export interface Balance extends TypeOf<typeof Balance> {} // { readonly balance: number }
 * ```
 */
export type TypeOf<S extends SchemaOf<unknown>> = S[typeof TYPE];

/** Declares the type of the values of a schema. The compiler cannot check it. */
export function schemaOf<T>(schema: Schema): SchemaOf<T> {
  return schema as SchemaOf<T>;
}
