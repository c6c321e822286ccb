import type {
  Abstract,
  DynamicModule,
  InjectionToken,
  ModuleMetadata,
  OptionalFactoryDependency,
  Provider,
  Type,
} from '@nestjs/common';
import { UserTokenVerifier } from '../accounts/user-token-verifier.js';
import { Clock } from '../common/clock.js';
import { MessagingOptionsError } from '../common/errors.js';
import { IdGenerator } from '../common/ids.js';
import { formatValue } from '../common/options.js';
import { MediaFetcher } from '../media/media-fetcher.js';
import { MsgappTransport } from '../msgapp/msgapp-transport.js';
import { REPEAT_POLICIES } from '../outbox/delivery-result.js';
import { WorkerNotifier } from '../outbox/worker-notifier.js';
import { SmsTransport } from '../sms/sms-transport.js';
import { MessagingStorage } from '../storage/messaging-storage.js';

/** How a host puts something of its own in the place of a port: a class, a value, a factory, or a module that exports it. */
export type PortSource<T extends object> =
  | Type<T>
  | { readonly useValue: T }
  | {
      readonly imports?: ModuleMetadata['imports'] | undefined;
      readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
      readonly useFactory: (...injected: never[]) => T | Promise<T>;
    }
  | DynamicModule;

/** What a module needs so that `token` is what the source says. */
export interface PortParts {
  readonly imports: NonNullable<ModuleMetadata['imports']>;
  readonly providers: Provider[];
  /** What passes the port on: the token, or the module that has it (Nest exports no token that comes from elsewhere). */
  readonly exports: NonNullable<ModuleMetadata['exports']>;
}

/** @throws MessagingOptionsError naming the option when the source is none */
export function providePort<T extends object>(option: string, token: Abstract<T>, source: PortSource<T>): PortParts {
  if (typeof source === 'function' && source.prototype !== undefined) {
    // A module's class stands for the module, as it does among imports.
    if (isModule(source)) return { imports: [source], providers: [], exports: [source] };
    return {
      imports: [],
      providers: [{ provide: token, useClass: lookedAt(option, token, source) }],
      exports: [token],
    };
  }
  if (typeof source === 'object' && source !== null) {
    if ('module' in source) return { imports: [source], providers: [], exports: [source] };
    if ('useValue' in source) {
      const useValue = portOf(option, token, source.useValue);
      return { imports: [], providers: [{ provide: token, useValue }], exports: [token] };
    }
    if ('useFactory' in source && typeof source.useFactory === 'function') {
      const { useFactory, inject = [], imports = [] } = source;
      const checked = async (...injected: unknown[]): Promise<T> =>
        portOf(option, token, await invokeFactory(useFactory, injected));
      return { imports, providers: [{ provide: token, useFactory: checked, inject }], exports: [token] };
    }
  }
  throw new MessagingOptionsError(
    `Option ${option} must be a class, { useValue }, { useFactory, inject } or a module that exports ${token.name}.`,
  );
}

function isModule(source: object): boolean {
  return ['imports', 'providers', 'exports'].some((part) => Reflect.hasMetadata(part, source));
}

/** What is no such port would only be noticed when it is first used. */
function portOf<T extends object>(option: string, token: Abstract<T>, port: T): T {
  const fault = portFault(token, port);
  if (fault === undefined) return port;
  throw wrongPort(option, token, fault);
}

/** The class with a look at each instance: what it is can be known when Nest has made it, its fields among it. */
function lookedAt<T extends object>(option: string, token: Abstract<T>, source: Type<T>): Type<object> {
  const fault = classFault(token, source);
  if (fault !== undefined) throw wrongPort(option, token, fault);
  const Source: Type<object> = source;
  class LookedAt extends Source {
    constructor(...injected: unknown[]) {
      super(...injected);
      portOf<object>(option, token, this);
    }
  }
  // Nest finds what the source injects by way of inheritance; nobody else has to know.
  Object.defineProperty(LookedAt, 'name', { value: source.name });
  Object.defineProperty(LookedAt.prototype, 'constructor', { value: source });
  return LookedAt;
}

function wrongPort(option: string, token: Abstract<object>, fault: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option ${option} must give ${portName(token)}; ${fault}.`);
}

/** What is wrong with a member of a port, as the end of a sentence; undefined: nothing. */
type Check = (port: object, name: string) => string | undefined;

const method: Check = (port, name) =>
  typeof Reflect.get(port, name) === 'function' ? undefined : `it has no method ${name}`;
/** It is there, which is asked without a look at it: a storage that has not started shows no store. */
const member: Check = (port, name) => (name in port ? undefined : `it has no ${name}`);
const text: Check = (port, name) => {
  const value: unknown = Reflect.get(port, name);
  return typeof value === 'string' && value !== '' ? undefined : `its ${name} must be a text`;
};
const repeat: Check = (port, name) => {
  const value: unknown = Reflect.get(port, name);
  if (REPEAT_POLICIES.some((policy) => policy === value)) return undefined;
  return `its ${name} must be "idempotent", "at-least-once" or "at-most-once"; got ${formatValue(value)}`;
};
const objectIfAny: Check = (port, name) => {
  const value: unknown = Reflect.get(port, name) ?? {};
  return typeof value === 'object' ? undefined : `its ${name} must be an object`;
};
const mapIfAny: Check = (port, name) => {
  const value: unknown = Reflect.get(port, name) ?? new Map();
  return value instanceof Map ? undefined : `its ${name} must be a Map`;
};

interface Shape {
  readonly port: Abstract<object>;
  readonly members: Readonly<Record<string, Check>>;
}

/** Every member of a port: one that is added there has to be added here. */
function shape<T extends object>(port: Abstract<T>, members: Readonly<Record<keyof T & string, Check>>): Shape {
  return { port, members };
}

const SHAPES: readonly Shape[] = [
  shape(MessagingStorage, {
    ...{ outbox: member, ledger: member, accounts: member, phones: member, policies: member, parts: member },
    ...{ sessions: member, media: member, optOuts: member, start: method, stop: method },
  }),
  shape(SmsTransport, {
    ...{ name: text, repeat, timing: objectIfAny, callbacks: mapIfAny, start: method, submit: method, stop: method },
  }),
  shape(MsgappTransport, {
    ...{ name: text, repeat, timing: objectIfAny, pacing: objectIfAny, sessions: objectIfAny },
    ...{ start: method, open: method, stop: method },
  }),
  shape(UserTokenVerifier, { verify: method }),
  shape(MediaFetcher, { fetch: method }),
  shape(Clock, { now: method, after: method, elapsed: method }),
  shape(IdGenerator, { next: method, bytes: method, random: method }),
  shape(WorkerNotifier, { notify: method, listen: method }),
];

/** What is wrong with what a host gives for a port, as the end of a sentence; undefined: nothing. */
function portFault(token: Abstract<object>, port: unknown): string | undefined {
  if (typeof port !== 'object' || port === null)
    return `got ${typeof port === 'string' ? 'a string' : formatValue(port)}`;
  const own = shapeOf(token);
  const other = otherPort(own, port);
  if (other !== undefined) return `${port.constructor.name} ${other}`;
  for (const [name, check] of Object.entries(own?.members ?? {})) {
    const fault = check(port, name);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The same of a class before it is made: what another port wants injected may be what this one is wanted for. */
function classFault(token: Abstract<object>, source: Abstract<object>): string | undefined {
  const other = otherPort(shapeOf(token), source.prototype);
  return other === undefined ? undefined : `${source.name} ${other}`;
}

/** The port's name with its article. */
function portName(token: Abstract<object>): string {
  const { name } = shapeOf(token)?.port ?? token;
  return `${name.startsWith('I') ? 'an' : 'a'} ${name}`;
}

function otherPort(own: Shape | undefined, port: object): string | undefined {
  const is = SHAPES.find((each) => port instanceof each.port);
  return is === undefined || is === own ? undefined : `is a ${is.port.name}`;
}

/** Of the port, or of one that a token stands for: each route has a token of its own. */
function shapeOf(token: Abstract<object>): Shape | undefined {
  return SHAPES.find(({ port }) => token === port || token.prototype instanceof port);
}

/** Calls a factory of the host with what Nest has injected for it; of which types only the host knows. */
export function invokeFactory<V>(useFactory: (...injected: never[]) => V, injected: readonly unknown[]): V {
  return Reflect.apply(useFactory, undefined, injected as never[]);
}
