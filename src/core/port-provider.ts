import type {
  Abstract,
  DynamicModule,
  InjectionToken,
  ModuleMetadata,
  OptionalFactoryDependency,
  Provider,
  Type,
} from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import { invokeFactory } from './invoke-factory.js';
import { classFault, portFault, portName } from './port-shapes.js';

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
