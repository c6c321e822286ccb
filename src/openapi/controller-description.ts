import type { Abstract, Type } from '@nestjs/common';
import type { AccountSettings } from '../accounts/account-options.js';
import type { ErrorCode } from '../common/errors.js';
import type { TextValues } from '../common/text/catalogue.js';
import type { HttpSettings } from '../http/http-options.js';
import type { Json, Schema, Schemas } from '../schemas/schema.js';
import type { Content, Tag } from './openapi-document.js';

/** The settings of the host, so that a description can name its limits, texts and signatures. */
export interface Surroundings {
  readonly http: HttpSettings;
  readonly accounts: AccountSettings;
  /** Whether the host verifies user tokens. */
  readonly userTokens: boolean;
  /** A provider of the application, for instance a capability's settings. */
  get<T>(token: Abstract<T>): T;
}

/** An error of a route. The code decides on the status and the text. */
export interface RouteError {
  readonly code: ErrorCode;
  /** The placeholders of the text; those that are missing have a common example. */
  readonly values?: TextValues;
  /** An example of the error's `Retry-After` in seconds, if it has that header. */
  readonly retryAfter?: number | undefined;
}

export type ErrorDescription = ErrorCode | RouteError;

/**
 * Describes the fields of a DTO beyond its decorators: the meaning of each field, or further keywords of its schema.
 */
export interface FieldsDescription {
  readonly dto: Type<object>;
  readonly fields: Readonly<Record<string, string | Schema>>;
  /**
   * Fields that the document marks as required, although they are optional in the DTO: the service itself refuses a
   * request without them.
   */
  readonly required?: readonly string[];
}

/** Describes the fields of a DTO. A description that misses a field does not compile. */
export function fieldsOf<D extends object>(
  dto: Type<D>,
  fields: Readonly<Record<keyof D & string, string | Schema>>,
): FieldsDescription {
  return { dto, fields };
}

/** A body that is validated as a DTO. Its schema and the errors of its fields are derived from the DTO's decorators. */
export interface DtoBody extends FieldsDescription {
  /** Name of the schema. */
  readonly name: string;
  readonly description: string;
  readonly examples: Readonly<Record<string, Json>>;
}

/** A JSON object whose schema has the description and an example. */
interface JsonAnswer {
  /** Name of the schema. */
  readonly schema: string;
  /**
   * Examples by label, each as the fields that differ from the example of the schema. Default: one example without
   * differences.
   */
  readonly examples?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

/** One handler. The request gate, the API key guard, an Idempotency-Key and the DTOs add their own errors. */
export interface RouteDescription {
  /** Unique over all our routes. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: FieldsDescription;
  readonly body?: DtoBody | { readonly required: boolean; readonly content: Content };
  /** Whether the route accepts an Idempotency-Key. */
  readonly idempotent?: true;
  /** The response to a success; the headers of `@Header()` are added. */
  readonly answer: JsonAnswer | { readonly description: string; readonly content?: Content };
  /** Answers with another status that are not errors of ours. */
  readonly furtherAnswers?: Readonly<Record<number, JsonAnswer>>;
  readonly errors?: readonly ErrorDescription[];
}

/** One controller. */
export interface ControllerParts<Handler extends string> {
  readonly tag: Tag;
  /** The parameters of all paths, by name. They are strings unless they have a `schema`. */
  readonly parameters?: Readonly<
    Record<string, { readonly description: string; readonly schema?: Schema; readonly example?: Json }>
  >;
  /** Errors that every route can answer. */
  readonly errors?: readonly ErrorDescription[];
  /** Named schemas that the routes refer to. */
  readonly schemas?: Schemas;
  readonly routes: Readonly<Record<Handler, RouteDescription>>;
}

/** A controller with its description. */
export interface ControllerDescription {
  /** The class before it was mounted. */
  readonly controller: Type<object>;
  describe(surroundings: Surroundings): ControllerParts<string>;
}

/** The public methods of a controller. */
type HandlerOf<C> = Extract<
  { [K in keyof C]: C[K] extends (...given: never[]) => unknown ? K : never }[keyof C],
  string
>;

/** Describes a controller. A description that misses a handler does not compile. */
export function describeController<C extends object>(
  controller: Type<C>,
  describe: (surroundings: Surroundings) => ControllerParts<HandlerOf<C>>,
): ControllerDescription {
  return { controller, describe };
}
