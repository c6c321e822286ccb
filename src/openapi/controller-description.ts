import type { Abstract, Type } from '@nestjs/common';
import type { AccountSettings } from '../accounts/account-options.js';
import type { TextValues } from '../common/catalogue.js';
import type { ErrorCode } from '../common/errors.js';
import type { HttpSettings } from '../http/http-settings.js';
import type { Content, Headers, Parameter, Schema, Tag } from './openapi-document.js';

/** What the host has set, so that limits, texts and names in the description are its own. */
export interface Surroundings {
  readonly http: HttpSettings;
  readonly accounts: AccountSettings;
  /** Whether the host has a verifier of user tokens. */
  readonly userTokens: boolean;
  /** A provider of the application, for instance a capability's settings. */
  get<T>(token: Abstract<T>): T;
}

/** One refusal that a route can give; its status and text are those of the code. */
export interface RouteError {
  readonly code: ErrorCode;
  /** What the text of the example names. */
  readonly values?: TextValues;
  /** The example of its `Retry-After`, in seconds, if it has that header. */
  readonly retryAfter?: number;
}

/** What one handler does. What the edge, the guard and an Idempotency-Key add is not to be written here. */
export interface RouteDescription {
  /** Unique over all our routes. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Of the path and the query. */
  readonly parameters?: readonly Parameter[];
  readonly body?: { readonly content: Content; readonly required: boolean };
  /** Whether it takes an Idempotency-Key. */
  readonly idempotent?: true;
  /** The success. */
  readonly answer: { readonly description: string; readonly headers?: Headers; readonly content?: Content };
  /** In the order in which they are checked. */
  readonly errors: readonly RouteError[];
}

/** What one controller does. */
export interface ControllerParts<Handler extends string> {
  readonly tag: Tag;
  /** Named schemas that the routes refer to. */
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly routes: Readonly<Record<Handler, RouteDescription>>;
}

/** A controller of ours with its description. */
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

/** Describes a controller; one whose handlers are not all described does not compile. */
export function describeController<C extends object>(
  controller: Type<C>,
  describe: (surroundings: Surroundings) => ControllerParts<HandlerOf<C>>,
): ControllerDescription {
  return { controller, describe };
}
